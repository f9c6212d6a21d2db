"""Whole lives: everything that changes knowledge, in any order, from two engines and another process, with restarts.

What must hold whatever happens: the journal alone gives the same state; looking back gives what was recorded then;
what was purged is in no file, not even in a question that repeats it; going back brings back what stood in its scope
and touches nothing outside; the janitor changes nothing that a person pinned or set right, and a second run nothing at
all; an older export changes nothing; no scope shows another's; what was rejected is not believed.

Each thing that is said has a word of its own, so that it can be looked for in the bytes.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import recollect
from conftest import Clock, Places
from other_process import Tell, another_process
from recollect import BadInput, Memory, Refused, Scope, times
from recollect.types import EVERYWHERE, Message
from recollect.upkeep.janitor.room import PERSONAL
from replay import entries_of, replayed, state_of

TENANT = "default"
LIVES, STEPS = (int(n) for n in os.environ.get("RECOLLECT_LIVES", "8x25").split("x"))  # more of them: 200x60
SCOPES = [EVERYWHERE, Scope(project="web"), Scope(project="api"), Scope(user="ana"), Scope(user="ana", project="web")]
scopes = st.sampled_from(SCOPES)
WORD = re.compile(r"zq\d+n\d+xv")
numbers = st.integers(0, 1)
picks = st.integers(0, 10**6)


class WholeLife(RuleBasedStateMachine):
    place: Places  # set by the test
    tell: Tell
    lives = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.life = next(self.lives)
        self.name, self.copy = f"life-{self.life}.db", f"copy-{self.life}.db"
        self.clock = Clock()
        self.folder = tempfile.TemporaryDirectory(prefix="recollect-life-")
        self.engines = [self.open(), self.open()]
        self.said: dict[str, set[str]] = {}  # the words of each memory, of all that it ever said
        self.words = itertools.count(1)
        self.gone: set[str] = set()  # words that were purged
        self.looked: list[tuple[Any, dict[str, dict[str, Any]]]] = []
        self.checkpoints: dict[str, tuple[Scope, dict[str, dict[str, Any]]]] = {}
        self.exports: list[Path] = []
        self.turns: list[Message] = []

    # -- small parts --------------------------------------------------------------------------------------------------

    def open(self) -> recollect.Engine:
        return recollect.open(self.place(self.name), embedder="hashing", actor="life", now=self.clock)

    def word(self) -> str:
        return f"zq{self.life:02d}n{next(self.words):05d}xv"

    def all(self, **options: Any) -> list[Memory]:
        found: list[Memory] = []
        cursor = None
        while True:
            page = self.engines[0].list(states=[], limit=1000, cursor=cursor, **options)
            found += page.memories
            if (cursor := page.cursor) is None:
                return found

    def some(self, pick: int, *states: str) -> Memory | None:
        fitting = [m for m in self.all() if not states or m.state in states]
        return fitting[pick % len(fitting)] if fitting else None

    def records(self) -> dict[str, dict[str, Any]]:
        return {m.id: m.record() for m in self.all()}

    def blanked(self) -> set[str]:
        return {e.target for e in entries_of(self.engines[0]._store, TENANT) if e.purged or e.operation == "restate"}

    # -- what happens -------------------------------------------------------------------------------------------------

    @rule(scope=scopes, number=numbers, kind=st.sampled_from(["fact", "rule", "decision"]))
    def remember(self, scope: Scope, number: int, kind: str) -> None:
        word = self.word()
        kept = self.engines[number].remember(f"The thing called {word} is here.", kind=kind, scope=scope, tags=[kind])
        self.said[kept.id] = {word}

    @rule(scope=scopes, number=numbers, over=st.booleans())
    def remember_for_the_janitor(self, scope: Scope, number: int, over: bool) -> None:
        """The same in other words, or something that is over soon: there is something to clean up."""
        word = self.word()
        ends: dict[str, Any] = {"expires_at": self.clock() + timedelta(days=1)} if over else {}
        for content in (
            f"The service {word} is deployed on port 8080.",
            f"Service {word} is deployed on the port 8080.",
        ):
            kept = self.engines[number].remember(content, scope=scope, **ends)
            self.said.setdefault(kept.id, set()).add(word)

    @rule(scope=scopes)
    def remember_elsewhere(self, scope: Scope) -> None:
        word = self.word()
        given = {"content": f"Another process says {word} too.", "scope": scope.as_dict()}
        told = {"place": self.place(self.name), "at": times.micros(self.clock()), "verb": "remember", "given": given}
        answer = self.tell(told)
        self.clock.moment = times.moment(answer["at"])
        self.said[answer["id"]] = {word}

    @rule(pick=picks, number=numbers)
    def say_again(self, pick: int, number: int) -> None:
        if known := self.some(pick):
            made = self.engines[number].remember(known.content, scope=known.scope, evidence="said again")
            if made.action == "created":
                self.said[made.id] = set(self.said.get(known.id, ()))

    @rule(pick=picks, number=numbers, move=st.booleans(), scope=scopes)
    def edit(self, pick: int, number: int, move: bool, scope: Scope) -> None:
        if known := self.some(pick, "active", "archived"):
            word = self.word()
            fields: dict[str, Any] = {"scope": scope} if move else {}
            try:
                self.engines[number].edit(known.id, content=f"Now it is called {word}, they say.", **fields)
            except (BadInput, Refused):
                return
            self.said.setdefault(known.id, set()).add(word)

    @rule(pick=picks)
    def edit_elsewhere(self, pick: int) -> None:
        if known := self.some(pick, "active", "archived"):
            word = self.word()
            given = {"id": known.id, "content": f"Another process calls it {word} by now."}
            told = {"place": self.place(self.name), "at": times.micros(self.clock()), "verb": "edit", "given": given}
            answer = self.tell(told)
            self.clock.moment = times.moment(answer["at"])
            if answer["id"]:
                self.said.setdefault(known.id, set()).add(word)

    @rule(pick=picks, number=numbers, often=st.integers(1, 4), scope=scopes)
    def ask(self, pick: int, number: int, often: int, scope: Scope) -> None:
        if known := self.some(pick):
            word = sorted(self.said[known.id])[pick % len(self.said[known.id])]
            for _ in range(often):
                self.engines[number].answers.ask(f"What is the thing called {word} like?", scope=scope)

    @rule(pick=picks, other=picks, relation=st.sampled_from(["supersedes", "related", "contradicts"]), number=numbers)
    def link(self, pick: int, other: int, relation: str, number: int) -> None:
        one, two = self.some(pick, "active"), self.some(other, "active")
        if one and two and one.id != two.id:
            self.engines[number].link(one.id, relation, two.id)

    @rule(pick=picks, number=numbers)
    def forget(self, pick: int, number: int) -> None:
        if known := self.some(pick, "active"):
            self.engines[number].forget(known.id)

    @rule(pick=picks, number=numbers)
    def reject(self, pick: int, number: int) -> None:
        if known := self.some(pick, "active"):
            self.engines[number].reject(known.id, reason="wrong")

    @rule(pick=picks, number=numbers)
    def take_the_rejection_back(self, pick: int, number: int) -> None:
        if known := self.some(pick, "rejected"):
            with contextlib.suppress(BadInput, Refused):  # another says the same by now, or it was rejected wider
                self.engines[number].reject(known.id, undo=True)

    @rule(pick=picks, number=numbers)
    def pin(self, pick: int, number: int) -> None:
        if known := self.some(pick, "active"):
            self.engines[number].edit(known.id, tags=[*known.tags, "pinned"])

    @rule(number=numbers, days=st.sampled_from([0, 2, 400]))
    def janitor(self, number: int, days: int) -> None:
        self.clock.forward(days=days)
        before = self.records()
        journal = entries_of(self.engines[0]._store, TENANT)
        touched = {e.target for e in journal if e.operation in PERSONAL and e.actor != "janitor"}
        self.engines[number].janitor.run()
        self.note()
        after = self.records()
        for id, had in before.items():
            ends = had["expires_at"] is not None  # then it leaves recall by the word of whoever said it
            if "pinned" in had["tags"] or (id in touched and not ends):
                assert after[id]["content"] == had["content"]
                assert after[id]["state"] == had["state"]
        for id in after.keys() - before.keys():  # a summary is of the very scope of what it sums up
            members = {e.after["target"] for e in entries_of(self.engines[0]._store, TENANT)
                    if e.noun == "link" and e.after and e.after.get("origin") == id}  # fmt: skip
            assert {str(before[end]["scope"]) for end in members if end in before} == {str(after[id]["scope"])}
        assert self.engines[1 - number].janitor.run().changed == 0
        assert self.records() == after

    @rule(number=numbers, scope=scopes)
    def talk(self, number: int, scope: Scope) -> None:
        message = Message("user", f"Good morning {self.word()}, how is it going?", id=f"m{len(self.turns)}")
        self.turns.append(message)
        self.engines[number].capture([message], session=f"s-{self.life}", scope=scope)
        self.note()

    def note(self) -> None:
        """The words of memories that were made of others: turns with what was learnt from them, and summaries."""
        for memory in self.all():
            self.said.setdefault(memory.id, set()).update(WORD.findall(memory.content))

    @precondition(lambda self: self.turns)
    @rule(number=numbers)
    def talk_again(self, number: int) -> None:
        """The transcript is read once more: nothing new comes of it, and nothing that was purged."""
        before = len(self.all())
        self.engines[number].capture(self.turns, session=f"s-{self.life}")
        assert len(self.all()) == before

    @rule(number=numbers)
    def export(self, number: int) -> None:
        path = Path(self.folder.name, f"export-{len(self.exports)}.jsonl")
        self.engines[number].export(path)
        self.exports.append(path)

    @precondition(lambda self: self.exports)
    @rule(pick=picks, number=numbers)
    def import_(self, pick: int, number: int) -> None:
        known = {m.id: m.state for m in self.all()}
        result = self.engines[number].import_(self.exports[pick % len(self.exports)])
        assert result.created == 0, "everything in an older export is known here, was purged, or was rejected"
        assert {m.id: m.state for m in self.all()} == known

    @rule(pick=picks, number=numbers)
    def purge(self, pick: int, number: int) -> None:
        if known := self.some(pick):
            twins = [m.id for m in self.all() if m.id != known.id and self.said.get(m.id, set()) & self.said[known.id]]
            for id in [known.id, *twins]:  # what was said again elsewhere is a memory of its own
                self.engines[number].forget(id, purge=True)
            self.gone |= set().union(*(self.said.pop(id, set()) for id in (known.id, *twins)))
            for path in self.exports:  # what was written before lies outside the data directory
                assert path.exists()
            self.nothing_purged_is_left()

    @rule(number=numbers)
    def erase_a_person(self, number: int) -> None:
        theirs = [m.id for m in self.all() if m.scope.user == "ana"]
        self.engines[number].forget(scope=Scope(user="ana"), purge=True)
        gone = set().union(*(self.said.pop(id, set()) for id in theirs))
        self.gone |= gone - set().union(*self.said.values())  # what others say too is theirs
        self.nothing_purged_is_left()

    @rule(scope=scopes, number=numbers)
    def checkpoint(self, scope: Scope, number: int) -> None:
        name = f"c{len(self.checkpoints)}"
        self.engines[number].checkpoints.create(name, scope=scope)
        self.checkpoints[name] = scope, self.records()

    @precondition(lambda self: self.checkpoints)
    @rule(pick=picks, number=numbers, back=st.booleans())
    def rollback(self, pick: int, number: int, back: bool) -> None:
        name = sorted(self.checkpoints)[pick % len(self.checkpoints)]
        scope, then = self.checkpoints[name]
        before = self.records()
        done = self.engines[number].checkpoints.rollback(name)
        now, blanked = self.records(), self.blanked()
        for id in now.keys() - done.skipped.keys() - blanked:
            was, had = then.get(id), before[id]
            inside = any(scope.contains(Scope(**one["scope"])) for one in (was, had) if one)
            if not inside:
                assert now[id] == had, "what lies outside is not touched"
            elif was:
                assert now[id] == was
            else:
                assert now[id]["state"] not in ("active", "pending"), "what came since does not stand"
        for id in done.skipped:
            assert now[id] == before[id]
        if back and done.undo:
            self.engines[number].checkpoints.rollback(done.undo)
            assert self.records() == before

    @rule(number=numbers)
    def restart(self, number: int) -> None:
        self.engines[number].close()
        self.engines[number] = self.open()

    @rule()
    def look(self) -> None:
        self.looked.append((self.clock(), self.records()))
        self.clock.forward(seconds=1)

    # -- what holds ---------------------------------------------------------------------------------------------------

    @rule(number=numbers, scope=st.sampled_from([Scope(project="web"), Scope(user="ana", project="api")]))
    def no_scope_shows_another(self, number: int, scope: Scope) -> None:
        back: dict[str, Any] = {"as_of": self.looked[-1][0]} if self.looked else {}
        for options in ({}, back):
            for hit in self.engines[number].recall("the thing called something", scope=scope, limit=50, **options):
                own = hit.memory.scope
                assert own.project in ("", scope.project)
                assert not scope.user or own.user in ("", scope.user)

    @invariant()
    def what_was_rejected_does_not_stand(self) -> None:
        found = self.all()
        wrong = {(m.content_hash, m.scope.user, m.scope.project) for m in found if m.state == "rejected"}
        assert not [
            m for m in found if m.state == "active" and (m.content_hash, m.scope.user, m.scope.project) in wrong
        ]

    def nothing_purged_is_left(self) -> None:
        data = self.place.everything(self.name).lower()
        assert [word for word in self.gone if word.encode() in data] == []

    def looking_back_gives_what_was_recorded(self) -> None:
        blanked = self.blanked()
        for moment, wanted in self.looked:
            found = {m.id: m.record() for m in self.all(as_of=moment)}
            assert {id: one for id, one in found.items() if id not in blanked} == {
                id: one for id, one in wanted.items() if id not in blanked
            }
            assert not found.keys() - wanted.keys()

    def teardown(self) -> None:
        try:
            self.looking_back_gives_what_was_recorded()
            self.nothing_purged_is_left()
            store = self.engines[0]._store
            copy = replayed(store, TENANT, self.place(self.copy))
            assert state_of(copy, TENANT) == state_of(store, TENANT)
            for one in (store, copy):
                wrong = [check for check in one.check(TENANT) if check.status != "ok"]
                assert wrong == [], wrong
            copy.close()
        finally:
            for engine in self.engines:
                engine.close()
            self.folder.cleanup()
            for name in (self.name, self.copy):
                self.place.remove(name)


def test_whatever_happens_the_journal_the_past_and_the_erasures_hold(place: Places) -> None:
    with another_process() as tell:

        class Here(WholeLife):
            pass

        Here.place, Here.tell = place, staticmethod(tell)
        run_state_machine_as_test(Here, settings=settings(max_examples=LIVES, stateful_step_count=STEPS, deadline=None))
