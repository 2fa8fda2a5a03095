"""Recall: the few messages that matter now."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal, get_args

from cortext import _native
from cortext.engine import convert
from cortext.engine.knobs import Knobs
from cortext.engine.named_times import named_times
from cortext.engine.types import Hit, Recall, Timings
from cortext.errors import InputError

__all__ = ["STAGES", "Recalling", "Stage"]

Stage = Literal[
    "dense",
    "lexical",
    "late",
    "context",
    "speaker",
    "date",
    "question",
    "supersession",
    "cut",
]
STAGES: tuple[Stage, ...] = get_args(Stage)


class Recalling:
    """An engine as who looks for something sees it."""

    _handle: _native.EngineHandle
    _knobs: Knobs

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        session: str | Sequence[str] | None = None,
        roles: str | Sequence[str] | None = None,
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        reference_time: datetime | int | None = None,
        as_of: datetime | int | None = None,
        budget_tokens: int | None = None,
        budget_bytes: int | None = None,
        attach: bool = True,
        collapse: bool = True,
        wait_ms: int = 200,
        include_superseded: bool = True,
        explain: bool = False,
        stages: Sequence[Stage] = STAGES,
        standing_limit: int = 8,
        for_session: str | None = None,
    ) -> Recall:
        """The messages that matter for a query, best first.

        query: a question or any text; its punctuation means nothing.  Of a very long one the
            64 rarest of its first 256 different words count, and for the meaning its first 8
            chunks (with the bundled model, some 1,800 tokens).
        limit: at most so many hits, 1 to 10,000, by default what `Knobs.focus` stands for, 10 at
            .45; the list ends where the evidence ends, so there may be fewer.  A score ranks
            within this recall; whether anything answers the query is what `Recall.confidence` says.
        session, roles, since, until: as in `messages`; they restrict the search itself, not its
            result, and what is attached to a hit passes them too.  What stands around a message
            of its session, before `until`, may still be why it is found: with roles="user" the
            assistant's question leads to the answer.
        reference_time: what "yesterday" in the query counts from; default: `as_of`, else now.
            Messages near a time that the query names are preferred, others are not cut off;
            see `cortext.dates` for what is understood.  A time in "after my trip" is that of the
            message which best matches "my trip", at the cost of a second search.
        as_of: answer as if it were then: messages that are later are hidden.
        budget_tokens: most tokens of all texts handed out, attached messages included, as the
            model of the store counts them, at least one for 8 bytes, without special tokens,
            roles or times.  It is no LLM's tokenizer: against the bundled model, OpenAI's o200k
            counts about as many for English, a fifth fewer for code, from 0.4 to 0.9 of them for
            most other languages, but 1.2 times as many for Thai.  Hits are taken in order; one
            that does not fit what is left is passed over for shorter ones behind it, and one that
            is larger than the whole budget is cut to its best passage (`Hit.excerpt`).
        budget_bytes: the same in bytes of UTF-8; of two budgets both hold.  `Recall.standing` is
            a list of its own, which no budget counts.
        attach: give a hit the message beside it that is needed to read it; see `Hit`.
        collapse: of messages that say the same word for word, but for case, punctuation or a
            greeting, show the newest only; see `Hit.duplicates`.  Speakers keep their own words,
            but a tool's copy of them collapses.
        wait_ms: longest wait for messages that are not embedded yet.  Of a backlog that would
            take more than twice as long, only the newest message is waited for; it is embedded
            next.  Those still waiting are found by their words only, and counted in
            Recall.pending.
        include_superseded: False leaves out messages that a newer one replaces, such as the old
            value of a setting; other hits take their places.  See Hit.
        explain: give each hit the scores of the stages.
        stages: leave some out to compare; "dense" or "lexical" must be among them.
        standing_limit: most of Recall.standing, 0 for none; of each session that `session` names
            the 96 newest at most.  `session` and `until` restrict it as they do the hits, `roles`
            and `since` do not: what the user once said holds until it is taken back.
        for_session: the session whose turn it is.  Its working memory takes the hits in and is
            given as `Recall.working`; default: `session` where that is one name.  It restricts
            nothing.

        Raises: InputError, StoreError and its kinds, ModelError.
        """
        if (
            not isinstance(stages, Collection)
            or isinstance(stages, str)
            or not all(stage in STAGES for stage in stages)
        ):
            raise InputError(f"stages is {stages!r}; it must be some of {', '.join(STAGES)}")
        until_ms = convert.to_optional_milliseconds(until, "until")
        as_of_ms = convert.to_optional_milliseconds(as_of, "as_of")
        reference_ms = convert.to_optional_milliseconds(reference_time, "reference_time")
        if as_of_ms is not None:
            until_ms = as_of_ms + 1 if until_ms is None else min(until_ms, as_of_ms + 1)
            reference_ms = as_of_ms if reference_ms is None else reference_ms
        sessions = convert.to_names(session, "session")
        if for_session is None and len(sessions) == 1:
            for_session = sessions[0]
        if limit is None:
            limit = self._knobs.values.recall_limit
        search = functools.partial(
            self._handle.recall,
            sessions=sessions,
            roles=convert.to_names(roles, "roles"),
            since_ms=convert.to_optional_milliseconds(since, "since"),
            until_ms=until_ms,
            collapse=False,
            attach=False,
            budget_tokens=convert.to_budget(None, "budget_tokens"),
            budget_bytes=convert.to_budget(None, "budget_bytes"),
            standing=0,
        )
        used = set(stages)
        found = search(
            query,
            limit=convert.to_int(limit, "limit", "from 1 to 10,000"),
            wait_ms=convert.to_int(wait_ms, "wait_ms", "of milliseconds from 0"),
            stages=used,
            dates=named_times(query, reference_ms, search) if "date" in used else (),
            collapse=bool(collapse),
            attach=bool(attach),
            budget_tokens=convert.to_budget(budget_tokens, "budget_tokens"),
            budget_bytes=convert.to_budget(budget_bytes, "budget_bytes"),
            standing=convert.to_int(standing_limit, "standing_limit", "from 0 to 10,000"),
            include_superseded=bool(include_superseded),
            asking=for_session,
        )
        hits: list[Hit] = [convert.to_hit(row, explain=explain) for row in found.rows]
        ids = {hit.id for hit in hits}
        wait, encode, dense, lexical, late, fetch, total = (ns / 1e6 for ns in found.timings_ns)
        return Recall(
            hits=tuple(hits),
            confidence=found.confidence,
            pending=found.pending,
            timings=Timings(
                wait=wait,
                encode=encode,
                dense=dense,
                lexical=lexical,
                late=late,
                fetch=fetch,
                total=total,
            ),
            standing=tuple(convert.to_standing(row, ids) for row in found.standing),
            working=tuple(convert.to_active(row) for row in found.working),
        )
