"""Fuzzing the walls: calls aimed at what a caller must not see, counted leaks and server errors.

    python bench/fuzz.py [--calls 100000] [--backend sqlite] [--seed 1] [--seconds 3600] [--quick]

One tenant holds a memory in each place (user x project) and memories that were moved from private to shared; another
tenant holds the same. Every operation, MCP tool and resource is called by every attacker (user, project, both, another
tenant; as a person and as a model) with every aim in every argument that takes a text; the rest of the calls are made
at random, with junk among the values. Calls run in this process on the operations themselves; one in fifty goes to the
real server over HTTP. A word that stands only behind another wall and shows up in an answer is a leak. An error that is
none of ours, or has a status of 500 or more, is a server error. What lies behind the wall must be unchanged in the end.
Writes a part of `bench/results/fuzz.json`; `--quick` makes few calls and does not. Exits with 1 if anything was found.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import recollect
from recollect import Engine, Message, Scope
from recollect.agents.access import RIGHTS, Caller
from recollect.ops.operation import Operation
from recollect.serve import resources
from recollect.types import STATES
from speed import machine, say

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
import attacks  # noqa: E402
import postgres  # noqa: E402
from served import Answer, Server, serving  # noqa: E402

RESULTS = HERE / "results" / "fuzz.json"
WALLS = (Scope(user="ana"), Scope(project="web"), Scope(user="ana", project="web"))
GUARDED = tuple(p for p in attacks.PLACES if p.user == "ben" or p == Scope(project="vault"))  # no attacker owns these
PAST = "pastzanzibar"  # what a moved memory said while it was private
OTHER = "otherzanzibar"  # in the other tenant
SLOW = {"assistants", "try_models", "checks", "mend", "embed", "janitor_run", "health", "import", "export", "preview"}
FEW = 20  # calls of each of these
HTTP_EVERY = 50
JUNK: tuple[Any, ...] = (
    "", " ", "\x00", "\ud800", "'; drop table memory", "../" * 20, "%", "*", "x" * 5000, -1, 2**70, None, [], {},
)  # fmt: skip


@dataclass(frozen=True)
class Attacker:
    name: str
    engine: Engine
    caller: Caller
    secret: str
    hidden: tuple[str, ...]


@dataclass
class Found:
    calls: int = 0
    over_http: int = 0
    leaks: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ways: Counter[str] = field(default_factory=Counter)


def moved(engine: Engine) -> list[str]:
    """Memories that were private and are shared now."""
    made = []
    for project in ("", "web"):
        id = engine.remember(f"The door is opened by {PAST}.", scope=Scope("ben", project), reasoning=PAST).id
        engine.edit(id, reason=PAST, content="The door is opened by hand.", reasoning="", scope=Scope(project=project))
        made.append(id)
    return made


def deepen(engine: Engine) -> None:
    """What is made of memories: in each guarded place a summary of an entity, one of a session and a handoff."""
    for place in GUARDED:
        word = attacks.mark(place)
        for said in ("is owned by team Fjord", "stores its sessions in Redis", f"knows {word}"):
            engine.remember(f"The vault-service {said}, says {word}.", scope=place)
        asked = [f"We decided to keep {word} in the vault-service.", f"Please fix the test of {word}."]
        messages = [Message("user", one, f"{word}-{number}") for number, one in enumerate(asked)]
        engine.capture(messages, origin="fuzz", session=word, scope=place)
        engine.summaries.write("fuzz", word, place)
    engine.extract_entities()
    engine.observer.refresh()


def attackers(engine: Engine) -> Iterator[Attacker]:
    """Everybody who tries, as a person and as a model."""
    for tenant, wall in (*(("default", wall) for wall in WALLS), ("gamma", Scope())):
        own = engine.for_caller(tenant=tenant)
        hidden = [attacks.mark(place) for place in GUARDED if tenant != "default" or not attacks.sees(wall, place)]
        _, secret = own.tokens.create(can=RIGHTS, user=wall.user, project=wall.project)
        person = Caller(tenant, "attacker", frozenset(RIGHTS), wall, wall, "token")
        words = (*hidden, OTHER, PAST)
        yield Attacker(f"{tenant} {wall}", own, person, secret, words)
        yield Attacker(f"{tenant} {wall} model", own.for_caller(model=True), person.for_model(), secret, words)


def state(engine: Engine) -> str:
    """What lies behind the walls, history and all."""
    held = [one for one in engine.list(states=STATES, limit=1000).memories if one.scope in GUARDED]
    told = [(one.record(), engine.history(one.id)) for one in sorted(held, key=lambda one: one.id)]
    return hashlib.sha256(str(told).encode()).hexdigest()


def aimed(aims: list[str], chance: random.Random) -> Iterator[tuple[attacks.Way, dict[str, Any]]]:
    """Every way with every aim, then at random for ever."""
    addresses = [*(one.uri for one in resources.RESOURCES), *(f"{resources.ITEM}{aim}" for aim in aims)]
    for way in attacks.WAYS:
        for given in attacks.calls(way.parameters, addresses if way.is_resource else aims):
            yield way, given
    while True:
        way = chance.choice(attacks.WAYS)
        values = addresses if way.is_resource else aims
        given = {
            one.name: chance.choice(JUNK) if chance.random() < 0.1 else attacks.value(one, chance.choice(values))
            for one in way.parameters
            if one.required or chance.random() < 0.25
        }
        yield way, given


def attack(one: Attacker, way: attacks.Way, given: dict[str, Any], server: Server | None, found: Found) -> None:
    """One call, in this process or over HTTP, held against what the attacker may see."""
    found.calls += 1
    found.ways[way.name] += 1
    try:
        if server and way.act:
            _, method, path = way.name.split()
            path = path.replace(
                "{memory_id}", quote(str(given.get("memory_id", "x")).encode("utf-8", "replace"), safe="")
            )
            answer, status = told_by(server.call(method, path, None if method == "GET" else given, one.secret))
            found.over_http += 1
        elif server and isinstance(way.of, Operation):
            answer, status = over_http(server, one.secret, way.of, given)
            found.over_http += 1
        else:
            answer, status = way.told(one.engine, one.caller, given), 200
    except Exception as error:  # noqa: BLE001 - that anything can come here is what is counted
        found.errors.append(f"{one.name}: {way.name} {given!r:.300}: {type(error).__name__}: {error!s:.200}")
        return
    if status >= 500:
        found.errors.append(f"{one.name}: {way.name} {given!r:.300}: {status} {answer[:200]}")
    for word in one.hidden:
        if word in answer:
            found.leaks.append(f"{one.name}: {way.name} {given!r:.300}: {word} in {answer[:300]}")


def over_http(server: Server, secret: str, operation: Operation, given: dict[str, Any]) -> tuple[str, int]:
    if not operation.path:  # only a tool
        return over_mcp(server, secret, operation.name, given)
    rest = dict(given)
    path = operation.path
    if "{id}" in path:
        path = path.replace("{id}", quote(str(rest.pop("id", "x")).encode("utf-8", "replace"), safe=""))
    body = None
    if operation.method in ("GET", "DELETE"):
        path += "?" + urlencode({name: str(value).encode("utf-8", "replace") for name, value in rest.items()})
    else:
        body = rest
    return told_by(server.call(operation.method, path, body, secret))


def told_by(answer: Answer) -> tuple[str, int]:
    return answer.body.decode("utf-8", "replace"), answer.status


def over_mcp(server: Server, secret: str, tool: str, given: dict[str, Any]) -> tuple[str, int]:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
    return told_by(server.call("POST", "/mcp", asked, secret, {"Accept": "application/json, text/event-stream"}))


def run(place: str, calls: int, seconds: float, seed: int) -> Found:
    found, chance = Found(), random.Random(seed)
    with ExitStack() as stack:
        engine = stack.enter_context(recollect.open(place, embedder="hashing", actor="fuzz"))
        engine.settings = replace(engine.settings, rate_limit=10**9)
        ids = list(attacks.plant(engine).values())
        shared = moved(engine)
        deepen(engine)
        other = engine.for_caller(tenant="beta")
        theirs = other.remember(f"The key of the safe lies in {OTHER}.", scope=Scope("ben", "vault"), tags=[OTHER]).id
        before = state(engine)
        crowd = list(attackers(engine))
        server = stack.enter_context(serving(engine))
        aims = ["Where does the key of the safe lie?", ids[-1], ids[6], ids[2], shared[0], theirs, "ben", "vault", ""]
        began = time.monotonic()
        for way, given in aimed(aims, chance):
            for one in crowd:
                if way.name.removeprefix("tool ") in SLOW and found.ways[way.name] >= FEW:
                    continue
                attack(one, way, given, server if found.calls % HTTP_EVERY == 0 else None, found)
                if found.calls % 5000 == 0:
                    say(f"{found.calls} calls, {len(found.leaks)} leaks, {len(found.errors)} errors")
            if found.calls >= calls or time.monotonic() - began > seconds:
                break
        if state(engine) != before:
            found.leaks.append("what lies behind the walls was changed")
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    asked.add_argument("--calls", type=int, default=100_000)
    asked.add_argument("--backend", choices=("sqlite", "postgres"), default="sqlite")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--seconds", type=float, default=3600)
    asked.add_argument("--quick", action="store_true", help="few calls, no result")
    given = asked.parse_args()
    watch = postgres.prepare()
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = str(Path(folder, "fuzz.db")) if given.backend == "sqlite" else postgres.shared().create()
            found = run(place, 400 if given.quick else given.calls, given.seconds, given.seed)
    finally:
        postgres.finish(watch)
    say(
        f"{found.calls} calls, {found.over_http} over HTTP: {len(found.leaks)} leaks, {len(found.errors)} server errors"
    )
    for line in itertools.islice((*found.leaks, *found.errors), 40):
        say(line)
    if not given.quick:
        report = {
            "machine": machine(), "seed": given.seed, "calls": found.calls,
            "over_http": found.over_http, "ways": len(found.ways), "seconds": round(time.perf_counter() - began),
            "leaks": len(found.leaks), "server_errors": len(found.errors),
            "found": [*found.leaks, *found.errors][:40],
        }  # fmt: skip
        kept = json.loads(RESULTS.read_text("utf-8")) | {given.backend: report}
        RESULTS.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
    sys.exit(bool(found.leaks or found.errors))


if __name__ == "__main__":
    main()
