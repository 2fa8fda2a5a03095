"""What a figure needs beside it: commit, versions, machine.  No paths and no host names."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
import subprocess
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

import cortext

__all__ = ["describe", "file_system", "machine", "machine_kind", "machine_line"]

ROOT = Path(__file__).resolve().parents[2]
CHANGES_LISTED = 20
FLAGS = (
    "avx2 fma f16c avx512f avx512bw avx512vl avx512_vnni avx512_vpopcntdq avx512_bf16 avx_vnni "
    "amx_tile amx_int8 hypervisor asimd asimddp i8mm sve"
)


def describe() -> dict[str, Any]:
    """Everything about this run that is not its own configuration."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
        "load_at_start": [round(value, 2) for value in os.getloadavg()],
    }


def commit() -> dict[str, Any]:
    """The commit of this checkout, what differs from it, and whether the package is of it.

    `package_matches` compares the Python files of the installed package, which may be another build
    than the checkout; it cannot see into the compiled core.
    """
    changes = _git("status", "--porcelain", "--untracked-files=all")
    names = None if changes is None else [line[3:] for line in changes.splitlines()]
    return {
        "id": _git("rev-parse", "HEAD"),
        "dirty": None if names is None else bool(names),
        "changed": names and names[:CHANGES_LISTED],
        "package_matches": _package_matches(),
    }


def versions() -> dict[str, str]:
    """Versions of what the figures depend on."""
    found = {
        "cortext": cortext.__version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }
    wanted = {"llama-cpp-python", "numpy", "hnswlib"}
    for package in metadata.distributions():
        name = package.name.lower().replace("_", "-")
        if name in wanted:
            found[name] = package.version
    return found


def machine() -> dict[str, Any]:
    """CPU, memory, kernel, distribution."""
    info = _cpuinfo()
    flags = set(info.get("flags", info.get("Features", "")).split())
    return {
        "cpu": info.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": _usable_cores(),
        "flags": [flag for flag in FLAGS.split() if flag in flags],
        "governor": _read(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        "memory_gb": round(_memory_bytes() / 1e9, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "os": _distribution(),
    }


def machine_line(about: dict[str, Any]) -> str:
    """The machine in one line, for a person."""
    return f"{about['cpu']}, {about['cores']} cores, {about['os']}, {about['kernel']}"


def machine_kind(about: dict[str, Any]) -> str:
    """A file-name part for machines that are alike: CPU and cores."""
    name = re.sub(r"\((r|tm)\)|\b(processor|cpu)\b|@.*", "", about["cpu"].lower())
    return re.sub(r"[^a-z0-9]+", "-", f"{name} {about['cores']} cores").strip("-")


def file_system(folder: Path) -> str:
    """The type of the file system a folder is on; commits to memory would prove nothing."""
    target = folder.resolve()
    mounts = [
        part for part in psutil.disk_partitions(all=True) if target.is_relative_to(part.mountpoint)
    ]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else "unknown"


def _package_matches() -> bool:
    installed, checkout = Path(cortext.__file__).parent, ROOT / "cortext"
    files = sorted(path.relative_to(checkout) for path in checkout.rglob("*.py"))
    return all(
        (installed / file).is_file()
        and (installed / file).read_bytes() == (checkout / file).read_bytes()
        for file in files
    )


def _git(*arguments: str) -> str | None:
    """Git's answer; None where there is no commit or no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(ROOT), "--no-optional-locks", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.rstrip()


def _cpuinfo() -> dict[str, str]:
    """The first processor's fields where the system has /proc/cpuinfo."""
    text = (_read(Path("/proc/cpuinfo")) or "").split("\n\n")[0]
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _usable_cores() -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform(terse=True)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
