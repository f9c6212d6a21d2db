"""Two stores, one behaviour: the same life on SQLite and on PostgreSQL, and every answer compared.

A state machine does at random what users do, each step on an engine of either kind with the same clock and the same
new ids. Whatever comes back must be the same: nouns and errors to the letter, scores within 1e-4, and ranked lists up
to the order of those that score the same. At the end of each life everything that either store holds is compared.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, multiple, rule, run_state_machine_as_test

import postgres
import recollect
from conftest import START, Clock, Places
from recollect import Draft, Recall, RecollectError, Scope
from recollect.engine import Engine
from recollect.ids import make
from recollect.types import KINDS, RELATIONS
from recollect_eval import golden
from replay import entries_of, state_of

TENANT = "default"
NEAR = 1.01e-4  # scores are rounded to four places on their way out
# Where the words of a purged memory were looked for, and found in what others say: files of one, tables of the other.
PLACES = {"searched", "left", "unsearched", "verified"}
OF_ITS_OWN = {"bytes", "store"}  # what `stats` tells of the store itself

VOCABULARY = (
    "deploy rollback pnpm yarn Node 18 Thursday ADR-005 getUserName café 東京 retry twice billing service "
    "token_store.py Postgres cache invalidation timeout --dry-run Ana owns staging production flag E1234 os.path.join"
).split()
sentences = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9).map(" ".join)
places = st.sampled_from(
    [Scope(), Scope(project="web"), Scope(project="api"), Scope(user="ana"), Scope("ana", "web", session="s")]
)
tags = st.lists(st.sampled_from(["ops", "people", "tools"]), max_size=2, unique=True)
days = st.one_of(st.none(), st.integers(-40, 40).map(lambda day: START + timedelta(days=day)))
drafts = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(KINDS[:6]), "title": sentences, "reasoning": sentences, "tags": tags, "scope": places,
        "keywords": tags, "refs": st.lists(st.sampled_from(["ADR-005", "src/a.py", "docs/b.md"]), max_size=2),
        "importance": st.integers(1, 10), "confidence": st.sampled_from([0.25, 0.5, 1.0]), "valid_from": days,
        "expires_at": days, "source": st.sampled_from(["talk", "wiki"]), "evidence": sentences,
    },
)  # fmt: skip
filters = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from(KINDS[:6]), max_size=2, unique=True), "tags": tags, "since": days,
        "until": days, "min_importance": st.integers(1, 9),
        "states": st.lists(st.sampled_from(["active", "archived", "superseded", "rejected"]), max_size=2, unique=True),
    },
)  # fmt: skip
asked = st.fixed_dictionaries(
    {},
    optional={
        "scope": places, "limit": st.integers(1, 20), "as_of": days, "max_tokens": st.integers(50, 500),
        "fusion": st.sampled_from(["sum", "rrf"]), "diversity": st.sampled_from([0.0, 0.5]), "abstain": st.booleans(),
    },
)  # fmt: skip


class Differ(AssertionError):
    """The two stores gave different answers."""


def alike(path: str, one: Any, other: Any) -> None:
    """Nothing but the last digits of numbers may differ."""
    if isinstance(one, Recall) and isinstance(other, Recall):
        recalls_alike(path, one, other)
    elif is_dataclass(one) and type(one) is type(other):
        for field in fields(one):
            alike(f"{path}.{field.name}", getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        if one.keys() != other.keys():
            raise Differ(f"{path}: {sorted(one)} and {sorted(other)}")
        for name in one.keys() - PLACES:
            alike(f"{path}[{name!r}]", one[name], other[name])
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            alike(f"{path}[{number}]", mine, theirs)
    elif not (one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) < NEAR)):
        raise Differ(f"{path}: {one!r} and {other!r}")


def recalls_alike(path: str, one: Recall, other: Recall) -> None:
    for name in ("query", "arms", "skipped", "weak"):
        alike(f"{path}.{name}", getattr(one, name), getattr(other, name))
    ranked_alike(path, *([(hit.memory.id, hit.score) for hit in answer] for answer in (one, other)))
    theirs = {hit.memory.id: hit for hit in other}
    for hit in one:
        if twin := theirs.get(hit.memory.id):
            alike(f"{path}.hits[{hit.memory.id}].memory", hit.memory, twin.memory)
            alike(f"{path}.hits[{hit.memory.id}].arms", hit.arms, twin.arms)
            alike(f"{path}.hits.why", *(re.sub(r"-?[\d.]+", "#", why) for why in (hit.why, twin.why)))
    if one.explained and other.explained:
        alike(f"{path}.explained", *(answer.explained.candidates.keys() for answer in (one, other) if answer.explained))
        for arm, found in one.explained.candidates.items():
            ranked_alike(f"{path}.explained.{arm}", found, other.explained.candidates[arm])


def ranked_alike(path: str, one: Sequence[tuple[str, float]], other: Sequence[tuple[str, float]]) -> None:
    """The same scores at the same places, and the same ids but for those that score the same as what they replace."""
    told = f"{path}:\n  {one}\n  {other}"
    if len(one) != len(other) or any(abs(a[1] - b[1]) >= NEAR for a, b in zip(one, other, strict=True)):
        raise Differ(told)
    last = one[-1][1] if one else 0.0
    for mine, theirs in ((dict(one), dict(other)), (dict(other), dict(one))):
        for id, score in mine.items():
            # One of several that score the same may fall to either side of the cut.
            if abs(theirs.get(id, last) - score) >= 2 * NEAR:
                raise Differ(told)


class Twins(RuleBasedStateMachine):
    known = Bundle("known")
    numbers = itertools.count()

    # Set by the test.
    place: Mapping[str, Places]
    folder: Path
    dice: random.Random

    def __init__(self) -> None:
        super().__init__()
        self.name = f"twin-{next(self.numbers)}.db"
        self.moment = START
        self.step = 0
        self.clocks = {kind: Clock() for kind in self.place}
        self.engines = {kind: self.open(kind) for kind in self.place}

    def open(self, kind: str) -> Engine:
        return recollect.open(
            self.place[kind](self.name), embedder="hashing", actor="twin", now=self.clocks[kind], user="bo"
        )

    def both(self, what: str, verb: Callable[[Engine], Any]) -> Any:
        """Do it on either engine, at the same moment and with the same dice, and compare what comes back."""
        self.step += 1
        self.moment += timedelta(minutes=7)
        answers: list[Any] = []
        for kind, engine in self.engines.items():
            self.clocks[kind].moment = self.moment
            self.dice.seed(self.step)
            try:
                answers.append(verb(engine))
            except RecollectError as error:
                answers.append((type(error), str(error)))
            engine._usage.flush()
        alike(what, *answers)
        return answers[0]

    @rule(target=known, content=sentences, told=drafts, merge=st.booleans())
    def remember(self, content: str, told: Any, merge: bool) -> Any:
        done = self.both("remember", lambda engine: engine.remember(content, merge=merge, **told))
        return getattr(done, "id", "") or multiple()

    @rule(target=known, contents=st.lists(sentences, min_size=2, max_size=6), scope=places)
    def remember_many(self, contents: list[str], scope: Scope) -> Any:
        turn = partial(Draft, scope=scope, kind="turn", speaker="Ana")
        told = [turn(content, position=number) for number, content in enumerate(contents)]
        done = self.both("remember_many", lambda engine: engine.remember_many(told))
        return multiple(*(one.id for one in done if isinstance(one, recollect.Remembered) and one.id))

    @rule(id=known, content=st.none() | sentences, told=drafts)
    def edit(self, id: str, content: str | None, told: dict[str, Any]) -> None:
        changes = {name: value for name, value in told.items() if name not in ("source", "evidence")}
        if content is not None:
            changes["content"] = content
        self.both("edit", lambda engine: engine.edit(id, reason="so", **changes))

    @rule(id=known, purge=st.booleans())
    def forget(self, id: str, purge: bool) -> None:
        self.both("forget", lambda engine: engine.forget(id, purge=purge))

    @rule(query=sentences, purge=st.booleans(), dry_run=st.booleans())
    def forget_what_says(self, query: str, purge: bool, dry_run: bool) -> None:
        def verb(engine: Engine) -> Any:
            gone = engine.forget(query=query, purge=purge, dry_run=dry_run)
            return {one.id: one for one in gone.memories}

        self.both("forget by query", verb)

    @rule(scope=places, dry_run=st.just(True) | st.booleans())
    def forget_inside(self, scope: Scope, dry_run: bool) -> None:
        self.both("forget by scope", lambda engine: engine.forget(scope=scope, dry_run=dry_run))

    @rule(id=known, undo=st.booleans())
    def reject(self, id: str, undo: bool) -> None:
        self.both("reject", lambda engine: engine.reject(id, reason="wrong", undo=undo))

    @rule(a=known, b=known, relation=st.sampled_from(RELATIONS[:4]))
    def link(self, a: str, b: str, relation: str) -> None:
        self.both("link", lambda engine: engine.link(a, relation, b, reason="so"))

    @rule(contents=st.lists(sentences, min_size=1, max_size=4), embed=st.booleans())
    def take_in(self, contents: list[str], embed: bool) -> None:
        file = self.folder / "told.jsonl"
        file.write_text("\n".join(json.dumps({"content": one, "tags": ["told"]}) for one in contents))
        self.both("import", lambda engine: engine.import_(file, embed=embed))

    @rule(query=sentences, options=asked, where=filters)
    def recall(self, query: str, options: dict[str, Any], where: dict[str, Any]) -> None:
        self.both("recall", lambda engine: engine.recall(query, explain=True, **options, **where))

    @rule(query=sentences, scope=places)
    def context(self, query: str, scope: Scope) -> None:
        self.both("context", lambda engine: engine.context(query, scope=scope).as_dict())

    @rule(scope=places, limit=st.integers(1, 10), where=filters)
    def list(self, scope: Scope, limit: int, where: dict[str, Any]) -> None:
        def pages(engine: Engine) -> Iterator[Any]:
            page = engine.list(scope=scope, limit=limit, **where)
            yield page
            while page.cursor:
                page = engine.list(scope=scope, limit=limit, cursor=page.cursor, **where)
                yield page

        self.both("list", lambda engine: [*pages(engine)])

    @rule(id=known, length=st.sampled_from([4, 8, 26]))
    def look_at(self, id: str, length: int) -> None:
        for verb in ("get", "history", "evidence", "links"):
            self.both(verb, lambda engine, verb=verb: getattr(engine, verb)(id[-length:]))  # type: ignore[misc]

    @rule()
    def stats(self) -> None:
        def verb(engine: Engine) -> Any:
            return {name: value for name, value in engine.stats().items() if name not in OF_ITS_OWN}

        self.both("stats", verb)

    @rule(time=st.integers(1, 60))
    def pass_days(self, time: int) -> None:
        self.moment += timedelta(days=time)

    @rule(mend=st.booleans())
    def restart(self, mend: bool) -> None:
        for kind, engine in self.engines.items():
            if mend:
                engine.mend()
            engine.close()
            self.engines[kind] = self.open(kind)

    def teardown(self) -> None:
        try:
            stores = [engine._store for engine in self.engines.values()]
            alike("state", *(state_of(store, TENANT) for store in stores))
            alike("journal", *(entries_of(store, TENANT) for store in stores))
            for store in stores:
                assert [check for check in store.check(TENANT) if check.status != "ok"] == []
            alike("export", *(self.exported(kind) for kind in self.engines))
        finally:
            for kind, engine in self.engines.items():
                engine.close()
                self.place[kind].remove(self.name)

    def exported(self, kind: str) -> list[str]:  # type: ignore[valid-type]  # `list` is a rule above
        file = self.folder / f"{kind}.jsonl"
        self.clocks[kind].moment = self.moment
        self.engines[kind].export(file, journal=True)
        return file.read_text().splitlines()


@pytest.fixture
def twins(cluster: postgres.Cluster, tmp_path: Path) -> Iterator[dict[str, Places]]:
    both = {"sqlite": Places(tmp_path, None), "postgres": Places(tmp_path, cluster)}
    yield both
    for one in both.values():
        one.clear()


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch) -> random.Random:
    """New ids come from dice that are thrown the same for both; counters of use are written when the test says so."""
    dice = random.Random()

    def new_id(now: datetime) -> str:
        return make(int(now.timestamp() * 1000), dice.getrandbits(80))

    monkeypatch.setattr("recollect.core.new_id", new_id)
    monkeypatch.setattr("recollect.engine.new_id", new_id)
    monkeypatch.setattr("recollect.history.usage.DELAY", 3600.0)
    return dice


def test_the_same_life_gives_the_same_answers(twins: dict[str, Places], dice: random.Random, tmp_path: Path) -> None:
    class Here(Twins):
        pass

    Here.place, Here.folder, Here.dice = twins, tmp_path, dice
    run_state_machine_as_test(Here, settings=settings(max_examples=15, stateful_step_count=30, deadline=None))


def test_the_golden_questions_are_answered_the_same(twins: dict[str, Places], dice: random.Random) -> None:
    """Not explained: far down, SQLite's vector index takes a few memories for less near than they are."""
    answers: list[list[Any]] = []
    for place in twins.values():
        dice.seed(1)
        with recollect.open(place(), embedder="hashing", now=Clock()) as memory:
            memory.import_(golden.MEMORIES)
            answers.append(
                [
                    memory.recall(one["question"], scope=Scope(project=one.get("project", "")))
                    for one in golden.lines(golden.QUESTIONS)
                ]
            )
    alike("golden", *answers)
