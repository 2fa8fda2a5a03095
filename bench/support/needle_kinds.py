"""What the needles are: texts an agent's tools print, and how one is asked for later.

Every maker draws one text, a question only that text answers, and the key that makes it so.  The
look-alikes come from the same makers: the same words around another key.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["BLOCKS", "KINDS", "LINES", "Maker", "Needle"]


class Needle(NamedTuple):
    """One text to find; no other message has its key."""

    text: str
    question: str
    key: str


SERVICES = (
    "billing", "checkout", "gateway", "indexer", "ledger", "mailer", "notifier", "pricing",
    "scheduler", "search", "sessions", "shipping", "uploader", "warehouse",
)  # fmt: skip
PEOPLE = ("Ravi", "Ines", "Tomasz", "Aiko", "Lena", "Marcus", "Noor", "Oskar", "Petra", "Yusuf")
ACTIONS = {
    "parse": "parser", "load": "loader", "merge": "merger", "encode": "encoder",
    "validate": "validator", "render": "renderer", "resolve": "resolver", "format": "formatter",
    "fetch": "fetcher", "build": "builder", "compress": "compressor", "filter": "filter",
    "import": "importer", "export": "exporter", "split": "splitter", "route": "router",
    "watch": "watcher", "convert": "converter", "track": "tracker", "group": "grouper",
}  # fmt: skip
OWNERS = (
    "account", "address", "batch", "cache", "cart", "channel", "client", "contract", "customer",
    "device", "http", "image", "invoice", "job", "lease", "mail", "market", "order", "payment",
    "peer", "queue", "replica", "retry", "route", "session", "shard", "snapshot", "stock", "tenant",
    "token", "upload", "user", "vendor", "webhook",
)  # fmt: skip
THINGS = (
    "backlog", "balance", "banner", "budget", "buffer", "checksum", "cursor", "delay", "digest",
    "discount", "entry", "filter", "header", "history", "label", "limit", "manifest", "marker",
    "offset", "payload", "policy", "quota", "record", "region", "request", "response", "schema",
    "score", "status", "threshold", "timeout", "timestamp", "window",
)  # fmt: skip
UNITS = ("ms", "kb", "count", "percent")
FAULTS = (
    "the connection pool was empty", "a clock was two minutes ahead", "the disk was full",
    "the certificate had expired", "the lock was held by a dead worker",
    "the response was cut off", "the config had a tab in it", "the upstream closed the socket",
    "an index was missing", "the cache key had no tenant in it", "the migration ran twice",
    "the queue was paused", "a header was sent twice", "the locale had no decimal point",
)  # fmt: skip
CHANGES = (
    "fix the off-by-one in the pager", "retry the upload once", "drop the unused import",
    "cache the tenant lookup", "raise the pool size", "close the cursor on error",
    "log the request id", "sort the results before paging", "move the lock out of the loop",
    "quote the column names", "skip empty batches", "read the timeout from the config",
)  # fmt: skip
FOLDERS = ("api", "core", "jobs", "lib", "handlers", "models", "routes", "storage", "tasks", "util")
PHRASE = (
    "amber", "anchor", "basil", "candle", "cedar", "copper", "cricket", "ember", "falcon", "fennel",
    "harbor", "hazel", "ivory", "juniper", "lantern", "lemon", "marble", "meadow", "nickel",
    "orchid", "pebble", "pepper", "raven", "saddle", "timber", "velvet", "walnut", "willow",
)  # fmt: skip


def _hex(dice: random.Random, digits: int) -> str:
    return f"{dice.getrandbits(4 * digits):0{digits}x}"


def _uuid(dice: random.Random) -> str:
    variant = dice.choice("89ab")
    rest = f"4{_hex(dice, 3)}-{variant}{_hex(dice, 3)}-{_hex(dice, 12)}"
    return f"{_hex(dice, 8)}-{_hex(dice, 4)}-{rest}"


def _version(dice: random.Random) -> str:
    return f"{dice.randrange(8)}.{dice.randrange(40)}.{dice.randrange(30)}"


def _name(dice: random.Random) -> tuple[str, str, str]:
    return dice.choice(list(ACTIONS)), dice.choice(OWNERS), dice.choice(THINGS)


def _camel(first: str, *others: str) -> str:
    return first + "".join(other.title() for other in others)


def _written(dice: random.Random, *parts: str) -> str:
    """A name in one of the ways there are."""
    return dice.choice((_camel(*parts), "_".join(parts), "-".join(parts)))


def _file(dice: random.Random, ending: str) -> str:
    service, folder = dice.choice(SERVICES), dice.choice(FOLDERS)
    return f"{service}/{folder}/{dice.choice(OWNERS)}_{dice.choice(THINGS)}.{ending}"


def _stamp(dice: random.Random) -> str:
    """A time of 2026, as logs write it."""
    date = f"2026-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
    clock = f"{dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}"
    return f"{date}T{clock}.{dice.randrange(1000):03}Z"


def job(dice: random.Random) -> Needle:
    name = f"{dice.choice(('build', 'deploy', 'e2e', 'nightly', 'lint'))}-{_hex(dice, 4)}"
    code, minutes = dice.choice((1, 2, 126, 137, 139, 143)), dice.randrange(2, 90)
    text = dice.choice(
        (
            f"Job {name} finished with exit code {code} after {minutes} minutes.",
            f"{name}: exit code {code}, {minutes} min, runner {dice.choice(SERVICES)}-ci",
        )
    )
    return Needle(text, f"what was the exit code of job {name}?", name)


def git_hash(dice: random.Random) -> Needle:
    short = _hex(dice, 7)
    text = f"{short} ({dice.choice(PEOPLE)}) {dice.choice(SERVICES)}: {dice.choice(CHANGES)}"
    return Needle(text, f"what did commit {short} change?", short)


def hash_prefix(dice: random.Random) -> Needle:
    """The whole hash is written down, its first eight digits are asked for."""
    full = _hex(dice, 40)
    text = (
        f"commit {full}\nAuthor: {dice.choice(PEOPLE)}\n\n"
        f"    {dice.choice(SERVICES)}: {dice.choice(CHANGES)}"
    )
    return Needle(text, f"who wrote commit {full[:8]}?", full[:8])


def uuid(dice: random.Random) -> Needle:
    name = _uuid(dice)
    text = f"Request {name} to {dice.choice(SERVICES)} failed because {dice.choice(FAULTS)}."
    return Needle(text, f"why did request {name} fail?", name)


def error_code(dice: random.Random) -> Needle:
    code = dice.choice(
        (
            f"E{dice.randrange(10_000):04}",
            f"0x8007{_hex(dice, 4)}",
            f"ERR_{dice.choice(('CONN_REFUSED', 'TLS_ALERT', 'BAD_FRAME'))}_{dice.randrange(999)}",
            f"ORA-{dice.randrange(100_000):05}",
            f"SQLSTATE {dice.randrange(10, 99)}P{dice.randrange(1000):03}",
        )
    )
    service, fault = dice.choice(SERVICES), dice.choice(FAULTS)
    text = f"The {service} service stopped with {code}; in the end {fault}."
    asked = dice.choice(("where did we see {}?", "what was the reason for {}?"))
    return Needle(text, asked.format(code), code)


def unix_path(dice: random.Random) -> Needle:
    path = (
        f"/{dice.choice(('srv', 'opt', 'var/lib', 'home/deploy'))}/{_file(dice, 'conf')}."
        f"{dice.randrange(1000)}"
    )
    text = f"Found it: {path} still sets the old value, because {dice.choice(FAULTS)}."
    return Needle(text, f"what was the matter with {path}?", path)


def windows_path(dice: random.Random) -> Needle:
    path = f"{dice.choice('CDE')}:\\{_file(dice, 'ini')}".replace("/", "\\")
    path = path.replace(".ini", f"{dice.randrange(1000)}.ini")
    text = f"Access to the path '{path}' is denied for the {dice.choice(SERVICES)} account."
    return Needle(text, f"which account has no access to {path}?", path)


def version(dice: random.Random) -> Needle:
    package = f"{dice.choice(OWNERS)}-{dice.choice(('kit', 'client', 'utils', 'core'))}"
    number = _version(dice)
    text = f"Do not take {package} {number}: with it {dice.choice(FAULTS)}. Pinned one below."
    return Needle(text, f"what is wrong with {package} {number}?", f"{package} {number}")


def url(dice: random.Random) -> Needle:
    query = f"{dice.choice(OWNERS)}={dice.randrange(100_000)}&page={dice.randrange(1, 60)}"
    link = f"https://{dice.choice(SERVICES)}.example.com/v{dice.randrange(1, 4)}/list?{query}"
    text = f"GET {link} took {dice.randrange(2000, 30_000)} ms and returned {_hex(dice, 5)} rows"
    return Needle(text, f"how long did GET {link} take?", link)


def address(dice: random.Random) -> Needle:
    host = f"10.{dice.randrange(16)}.{dice.randrange(64)}.{dice.randrange(256)}"
    port = dice.choice((22, 443, 5432, 6379, 8080, 8443, 9092))
    text = f"{dice.choice(SERVICES)} could not reach {host}:{port}: {dice.choice(FAULTS)}"
    return Needle(text, f"who could not reach {host}:{port}?", f"{host}:{port}")


def ticket(dice: random.Random) -> Needle:
    number = f"{dice.choice(('OPS', 'PAY', 'WEB', 'DATA', 'SEC'))}-{dice.randrange(100, 10_000)}"
    text = f"{number} ({dice.choice(PEOPLE)}): in {dice.choice(SERVICES)}, {dice.choice(FAULTS)}"
    return Needle(text, dice.choice(("what is {} about?", "who has {}?")).format(number), number)


def code(dice: random.Random) -> Needle:
    """A function in a file, asked for by its whole name."""
    parts = _name(dice)
    name = _written(dice, *parts)
    return Needle(_definition(dice, name, parts), f"which file defines {name}?", name)


def _definition(dice: random.Random, name: str, parts: tuple[str, str, str]) -> str:
    other = _camel("do", *_name(dice))  # no name that is asked for starts so
    if "-" in name:
        return f"; {_file(dice, 'lisp')}\n(defun {name} (input)\n  (when input ({other} input)))"
    if "_" in name:
        body = f"    if not {parts[1]}:\n        return None\n    return {other}({parts[1]})"
        return f"# {_file(dice, 'py')}\ndef {name}({parts[1]}):\n{body}"
    return (
        f"// {_file(dice, 'ts')}\nexport function {name}({parts[1]}: string) {{\n"
        f"  return {other}({parts[1]});\n}}"
    )


def code_by_parts(dice: random.Random) -> Needle:
    """The same, asked for by the words its name is made of."""
    parts = action, owner, thing = _name(dice)
    name = _written(dice, *parts)
    asked = dice.choice(
        (
            f"which file has the {owner} {thing} {ACTIONS[action]}?",
            f"where do we {action} the {owner} {thing}?",
            f"{owner} {thing} {ACTIONS[action]}",
        )
    )
    return Needle(_definition(dice, name, parts), asked, name)


def setting(dice: random.Random) -> Needle:
    parts = dice.choice(OWNERS), dice.choice(THINGS), dice.choice(UNITS)
    name = "_".join((dice.choice(("max", "min", "default")), *parts))
    value, place = dice.randrange(2, 9000), _file(dice, "env")
    if dice.random() < 0.5:
        name = name.upper()
    return Needle(f"{place}: {name}={value}", f"what is {name} set to?", name)


def setting_by_parts(dice: random.Random) -> Needle:
    owner, thing, unit = dice.choice(OWNERS), dice.choice(THINGS), dice.choice(UNITS)
    service, value = dice.choice(SERVICES), dice.randrange(2, 9000)
    name = _written(dice, service, owner, thing, unit)
    text = f"Set {name} to {value}, {dice.choice(PEOPLE)} asked for it."
    return Needle(text, f"what is the {owner} {thing} of {service} in {unit}?", name)


def phrase(dice: random.Random) -> Needle:
    one, two, three, four = dice.sample(PHRASE, 4)
    said = f"{one} {two} before {three} {four}"
    text = f'{dice.choice(PEOPLE)} called it "{said}" in the retro, nobody knew why.'
    return Needle(text, f'who said "{said}"?', said)


def log_line(dice: random.Random) -> Needle:
    lease, held = f"shard-{dice.randrange(10_000)}", dice.randrange(1000, 60_000)
    service = dice.choice(SERVICES)
    text = (
        f"{_stamp(dice)} {dice.choice(('WARN', 'ERROR'))} {service}[{dice.randrange(300, 9999)}] "
        f"lease for {lease} lost after {held} ms"
    )
    return Needle(text, f"when did {service} lose the lease for {lease}?", lease)


def sql(dice: random.Random) -> Needle:
    table = f"{dice.choice(OWNERS)}_{dice.choice(THINGS)}_{dice.choice(('log', 'archive', 'view'))}"
    column = f"{dice.choice(THINGS)}_{dice.choice(('at', 'id', 'by'))}"
    text = (
        f"SELECT {dice.choice(OWNERS)}_id, count(*) FROM {table}\n"
        f"WHERE {column} IS NULL GROUP BY 1 HAVING count(*) > {dice.randrange(2, 900)};"
    )
    asked = f"which query reads {table} where {column} is null?"
    return Needle(text, asked, f"{table}\nWHERE {column}")


def json_key(dice: random.Random) -> Needle:
    key = _camel(dice.choice(("enable", "allow", "require", "shadow")), *_name(dice)[1:])
    key += dice.choice(("V2", "Beta", "Fallback", "Strict"))
    others = {_camel("do", *_name(dice)): dice.randrange(100) for _ in range(3)}
    text = json.dumps({dice.choice(SERVICES): {**others, key: dice.random() < 0.5}}, indent=1)
    return Needle(text, f"what is {key} set to?", key)


def stack_trace(dice: random.Random) -> Needle:
    error = "".join(part.title() for part in _name(dice)[1:]) + dice.choice(
        ("Error", "Missing", "Mismatch", "Overflow")
    )
    error = dice.choice(SERVICES).title() + error
    frames = "\n".join(
        f'  File "{_file(dice, "py")}", line {dice.randrange(9, 900)}, in '
        + "_".join(("do", *_name(dice)))
        for _ in range(dice.randrange(2, 5))
    )
    text = f"Traceback (most recent call last):\n{frames}\n{error}: {dice.choice(FAULTS)}"
    return Needle(text, f"where was {error} raised?", error)


Maker = Callable[[random.Random], Needle]
LINES = (log_line, job, git_hash, url, setting)  # what long outputs consist of
BLOCKS = (code, json_key, sql)
KINDS: dict[str, tuple[Maker, int]] = {  # name -> maker, how many are asked for
    "job": (job, 15),
    "git hash": (git_hash, 15),
    "git hash by its start": (hash_prefix, 10),
    "UUID": (uuid, 15),
    "error code": (error_code, 20),
    "unix path": (unix_path, 15),
    "windows path": (windows_path, 15),
    "version": (version, 15),
    "URL": (url, 15),
    "address": (address, 15),
    "ticket": (ticket, 15),
    "name": (code, 15),
    "name by parts": (code_by_parts, 20),
    "setting": (setting, 15),
    "setting by parts": (setting_by_parts, 10),
    "phrase": (phrase, 15),
    "log line": (log_line, 15),
    "SQL": (sql, 15),
    "JSON key": (json_key, 15),
    "stack trace": (stack_trace, 15),
}
