"""Two tenants on one server, fuzzed from our own OpenAPI document.

Whatever is sent, in whichever argument: no server error, answers that keep to the document, nothing read of the other
tenant or of another user's wall, and nothing changed there. Half of the values are aimed: ids, tenants, users, projects
and words of the other side, put where the document has room for a text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import recollect
from recollect import Engine, Scope
from recollect.agents.access import RIGHTS
from recollect.ops.catalogue import OPERATIONS
from recollect.serve import openapi
from recollect.types import STATES
from served import Server, serving

MARK = "Zanzibar"  # in everything the other side holds; no attacker ever sends it, so wherever it shows up, it leaked
EXAMPLES = 6
DOCUMENT = openapi.document()
SCHEMA = schemathesis.openapi.from_dict(
    {**DOCUMENT, "paths": {p: v for p, v in DOCUMENT["paths"].items() if "events" not in p}}
)
FUZZED = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
QUIET = settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@dataclass
class Sides:
    server: Server
    attackers: tuple[str, ...]  # their secrets
    aims: list[str]
    theirs: Engine  # the other tenant
    shared: Engine  # the tenant in which another user has a wall

    def state(self, folder: Path) -> str:
        """All that the other side holds, history and all."""
        path = folder / "state.jsonl"
        self.theirs.export(path, journal=True)
        lines = [
            line
            for line in path.read_text("utf-8").splitlines()
            if not line.startswith(('{"type": "header"', '{"type": "seal"'))
        ]
        kept = [one.as_dict() for one in self.theirs.tokens.all()]
        hooks = [(one.id, one.url) for one in self.theirs.webhooks.all()]
        shared = self.shared.list(states=STATES, limit=1000).memories
        outside = [memory for memory in shared if memory.scope.user != "ana"]
        told = [(memory.record(), self.shared.history(memory.id)) for memory in outside]
        return hashlib.sha256("\n".join([*lines, str(kept), str(hooks), str(told)]).encode()).hexdigest()


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("fuzz")
    with recollect.open(folder / "store.db", tenant="alpha", embedder="hashing", actor="test") as alpha:
        alpha.settings = replace(alpha.settings, rate_limit=1_000_000)
        beta, gamma = alpha.for_caller(tenant="beta"), alpha.for_caller(tenant="gamma")
        kept = beta.remember(
            f"{MARK} is where the key of beta lies.", title=f"{MARK} key", tags=[MARK.lower()],
            scope=Scope(user="ben", project="vault"), evidence=f"{MARK} says so",
        )  # fmt: skip
        other = beta.remember(f"{MARK} has a second secret.")
        beta.link(other.id, "related", kept.id, reason=MARK)
        beta.forget(beta.remember(f"{MARK} was forgotten.").id)
        token, _ = beta.tokens.create(name=MARK)
        hook = beta.webhooks.add("http://127.0.0.1:9/")
        walled = gamma.remember(f"{MARK} is Ben's own, in the tenant of Ana.", scope=Scope(user="ben"))
        common = gamma.remember("The key of the office is known to all, and nobody's to change.")
        every = RIGHTS
        attackers = (
            alpha.tokens.create(can=every)[1],
            gamma.tokens.create(can=every, user="ana")[1],
            gamma.tokens.create(can=every, user="ana", project="web")[1],
        )
        source = kept.memory.source if kept.memory else ""
        ids = [kept.id, walled.id, common.id, other.id, token.id, hook.id, source, kept.id[-6:]]
        words = ["where does the key of beta lie", "user:ben project:vault key", "/memories/../beta", "*", "%"]
        aims = [*ids, "", "beta", "ben", "vault", *words]
        with serving(alpha) as server:
            yield Sides(server, attackers, aims, beta, gamma)


def aimed(value: Any, aims: list[str], draw: Any) -> Any:
    """The same value with some of its texts replaced by what the other side holds."""
    if isinstance(value, str):
        return draw(st.sampled_from(aims)) if draw(st.booleans()) else value
    if isinstance(value, list):
        return [aimed(item, aims, draw) for item in value]
    if isinstance(value, dict):
        return {name: aimed(item, aims, draw) for name, item in value.items()}
    return value


# Threads of the server use `random` while values are made, which Hypothesis takes for ours.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("label", sorted(FUZZED))
def test_no_argument_reaches_over_the_wall_or_breaks_the_server(label: str, sides: Sides, tmp_path: Path) -> None:
    before = sides.state(tmp_path)
    tried = 0
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @QUIET
        @given(case=FUZZED[label].as_strategy(generation_mode=mode), data=st.data())
        def attack(case: Any, data: Any) -> None:
            nonlocal tried
            tried += 1
            if data.draw(st.booleans()):
                case.path_parameters = aimed(case.path_parameters, sides.aims, data.draw)
                case.query = aimed(case.query, sides.aims, data.draw)
                if isinstance(case.body, dict | list):
                    case.body = aimed(case.body, sides.aims, data.draw)
            secret = data.draw(st.sampled_from(sides.attackers))
            sent = {"Authorization": f"Bearer {secret}"}
            answer = case.call(base_url=sides.server.url, headers=sent, timeout=30)
            case.validate_response(answer, checks=CHECKS)
            assert MARK.encode() not in answer.content

        try:
            attack()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE, "there is nothing that could be wrong about this one"
    assert tried
    assert sides.state(tmp_path) == before


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_text_of_every_operation_is_tried_with_what_the_other_side_holds(
    operation: Any, sides: Sides, tmp_path: Path
) -> None:
    """Not left to chance: each parameter that takes a text, each aim, each attacker."""
    before = sides.state(tmp_path)
    required: dict[str, Any] = {
        one.name: sides.aims[0] for one in operation.parameters if one.required and not one.choices
    }
    required |= {one.name: one.choices[0] for one in operation.parameters if one.required and one.choices}
    if operation.name == "remember_many":
        required = {"memories": [{"content": "Something of my own."}]}
    for secret in sides.attackers:
        for one in operation.parameters:
            if one.kind not in ("text", "texts", "ids"):
                continue
            for aim in (*sides.aims[:3], "beta", "ben", ""):
                given = required | {one.name: [aim] if one.kind == "texts" else aim}
                path = operation.path
                if "{id}" in path:
                    path = path.replace("{id}", quote(str(given.pop("id", "x")), safe=""))
                if operation.method in ("GET", "DELETE"):
                    path += "?" + "&".join(f"{n}={quote(str(v))}" for n, v in given.items())
                    answer = sides.server.call(operation.method, path, None, secret)
                else:
                    answer = sides.server.call(operation.method, path, given, secret)
                assert answer.status < 500, answer.body
                assert MARK.encode() not in answer.body, (given, answer.body)
    assert sides.state(tmp_path) == before
