"""Eviction: which questions and answers have had their time, so that the janitor can let go of them.

    ended       an answer that can never be served again; its question stays and is counted on
    forgotten   a question without an answer that nobody has asked for long, or that there is no room for
    let go      an answer for which there is no room: coldest tier first, and in it what was asked longest ago

What is pinned stays, and so does a computed core answer, because the daemon computes it again. A question whose answer
was turned down is not forgotten for its age.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..store.answers import Answer
from ..store.contract import Store, Transaction
from .freshness import Freshness
from .policy import Policy, without_answer

PAGE = 500
ENDED, FORGOTTEN, LET_GO = "ended", "forgotten", "let go"
NO_ROOM = "there is no room"


@dataclass(frozen=True, slots=True)
class Leaving:
    """A question as it stood when it was looked at, what is to become of it, and why, without a word of it."""

    answer: Answer
    what: str
    why: str

    def go(self, changes: Transaction) -> bool:
        """Do it, if it still stands like that: somebody may have asked again meanwhile."""
        seen = self.answer
        current = changes.answer(seen.question_hash, seen.user, seen.project)
        if current is None or _stands(current) != _stands(seen):
            return False
        if self.what == FORGOTTEN:
            changes.drop_answer(current.id)
        else:
            changes.put_answer(without_answer(current))
        return True


def _stands(answer: Answer) -> tuple[object, ...]:
    return answer.id, answer.version, answer.asked, answer.last_asked_at, answer.pinned, answer.answer


@dataclass(frozen=True, slots=True)
class Eviction:
    """What is to leave the cache of a tenant."""

    store: Store
    tenant: str
    policy: Policy
    freshness: Freshness
    now: Callable[[], datetime]

    def leaving(self) -> Iterator[tuple[int, Sequence[Leaving]]]:
        """What is to go, a page at a time, and how many were looked at. What was given before may be gone by then."""
        # Counted first: whether what is told here is done meanwhile or not, the rest follows from it.
        questions, answers = self.store.answers_kept(self.tenant)
        gone: dict[str, bool] = {}  # what goes, and whether it had an answer
        after = ""
        while batch := self.store.all_answers(self.tenant, after, PAGE):
            after = batch[-1].id
            # In the order of the journal, so that it is read once.
            found = [one for answer in sorted(batch, key=lambda answer: answer.seq) if (one := self._over(answer))]
            gone |= {one.answer.id: one.answer.answer is not None for one in found}
            questions -= sum(one.what == FORGOTTEN for one in found)
            answers -= sum(one.answer.answer is not None for one in found)
            yield len(batch), found
        _, over = self.policy.too_many(questions, answers, False)
        out = [self._out(answer) for answer in self._coldest(True, over, gone)]
        yield from self._pages(out)
        # Their questions are counted on without an answer, and need room as such.
        questions -= sum(one.what == FORGOTTEN for one in out)
        bare, _ = self.policy.too_many(questions, answers - len(out), False)
        gone |= {one.answer.id: True for one in out}
        yield from self._pages([Leaving(answer, FORGOTTEN, NO_ROOM) for answer in self._coldest(False, bare, gone)])

    def _coldest(self, kept: bool, count: int, gone: Mapping[str, bool]) -> list[Answer]:
        """Those that go first for want of room, besides those that go anyway, which may be gone by now or not."""
        if not count:
            return []
        page = self.store.answer_page(self.tenant, kept=kept, evictable=True, limit=count + len(gone))
        return [answer for answer in page if answer.id not in gone][:count]

    @staticmethod
    def _pages(some: Sequence[Leaving]) -> Iterator[tuple[int, Sequence[Leaving]]]:
        for start in range(0, len(some), PAGE):
            yield 0, some[start : start + PAGE]

    def _over(self, answer: Answer) -> Leaving | None:
        if answer.pinned:
            return None
        if answer.answer is None:
            return Leaving(answer, FORGOTTEN, idle) if (idle := self._idle(answer)) else None
        if answer.tier == "core" and answer.kind != "given":
            return None
        why = self.freshness.over(answer)
        return self._end(answer, why) if why else None

    def _out(self, answer: Answer) -> Leaving:
        idle = self._idle(answer)
        return Leaving(answer, FORGOTTEN if idle else LET_GO, idle or NO_ROOM)

    def _end(self, answer: Answer, why: str) -> Leaving:
        """Without its answer, a question that nobody asked for long is of no use either."""
        idle = self._idle(answer)
        return Leaving(answer, FORGOTTEN if idle else ENDED, f"{why}; {idle}" if idle else why)

    def _idle(self, answer: Answer) -> str:
        """For how long nobody has asked, where that is too long."""
        days = (self.now() - answer.last_asked_at) // timedelta(days=1)
        wanted = self.policy.forget_days
        return f"not asked for {days} days" if wanted and days >= wanted and not answer.retired else ""
