"""Access: tokens that are made, found, limited and revoked, and callers behind their walls."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import recollect
from conftest import Clock, Opener, Places
from recollect import Ambiguous, BadInput, Forbidden, NotFound, RateLimited, Scope, Unauthorised
from recollect.agents.access import Caller, local
from recollect.agents.tokens import REMEMBERED, WRONG_A_MINUTE, digest
from recollect.cli import cli
from recollect.serve.tenants import Tenants
from recollect.types import EVERYWHERE


def test_a_token_is_told_once_and_kept_as_a_hash(memory: recollect.Engine, place: Places) -> None:
    token, secret = memory.tokens.create(name="ci", can=["write", "read", "read"], user="ana", project="web")
    assert re.fullmatch(r"rcl_[\w-]{43}", secret)
    assert token.can == ("read", "write")
    assert memory.tokens.all() == [token]
    assert secret.encode() not in place.everything()
    assert memory._store.token(digest(secret)) == (token, digest(secret))
    assert "sha256" not in str(token.as_dict())


def test_who_has_the_secret_is_its_tenant_user_and_rights(memory: recollect.Engine) -> None:
    other = memory.for_caller(tenant="other")
    _, secret = other.tokens.create(name="ci", can=["read"], user="ana")
    caller = memory.gatekeeper().caller(secret, "10.0.0.1")
    assert (caller.tenant, caller.actor, caller.can) == ("other", "token ci", frozenset({"read"}))
    assert caller.wall == caller.home == Scope(user="ana")
    assert Tenants(memory).engine(caller).tokens.all() == other.tokens.all()


@pytest.mark.parametrize("secret", ["", "rcl_", "rcl_" + "a" * 43, "nonsense", "rcl_" + "a" * 10_000, "rcl_ä\ud800"])
def test_a_wrong_secret_is_nobodys(memory: recollect.Engine, secret: str) -> None:
    memory.tokens.create()
    with pytest.raises(Unauthorised):
        memory.gatekeeper().caller(secret, "10.0.0.1")


def test_a_token_ends_at_its_time_and_when_it_is_revoked(memory: recollect.Engine, clock: Clock) -> None:
    gate = memory.gatekeeper()
    _, short = memory.tokens.create(expires_at=clock() + timedelta(days=1))
    token, long = memory.tokens.create()
    assert gate.caller(short, "a").can == gate.caller(long, "a").can
    memory.tokens.revoke(token.id[-6:])
    clock.forward(seconds=REMEMBERED.total_seconds() + 1)
    with pytest.raises(Unauthorised):
        gate.caller(long, "a")
    gate.caller(short, "a")
    clock.forward(days=1)
    with pytest.raises(Unauthorised):
        gate.caller(short, "a")
    assert not gate.expected()
    assert [(e.operation, e.noun, e.reason) for e in memory.changes()] == [
        ("create", "note", "token"), ("create", "note", "token"), ("revoke", "note", "token"),
    ]  # fmt: skip


def test_a_token_that_cannot_be_is_refused(memory: recollect.Engine, clock: Clock) -> None:
    wrong: dict[str, Any]
    for wrong in (
        {"can": []}, {"can": ["fly"]}, {"expires_at": clock() - timedelta(seconds=1)}, {"expires_at": "soon"},
        {"user": "x" * 300}, {"name": 7},
    ):  # fmt: skip
        with pytest.raises(BadInput):
            memory.tokens.create(**wrong)
    assert memory.tokens.all() == []
    with pytest.raises(NotFound):
        memory.tokens.revoke("zzzzzzzz")
    with pytest.raises(NotFound):
        memory.tokens.revoke("%")


def test_the_end_of_two_ids_names_neither(memory: recollect.Engine) -> None:
    numbers = iter(("00000000000000000000000001", "00000000000000000000010001"))
    book = replace(memory.tokens, _new_id=lambda now: next(numbers))
    book.create()
    book.create()
    with pytest.raises(Ambiguous):
        book.revoke("0001")


def test_a_token_may_so_much_a_minute_and_no_more(opened: Opener, clock: Clock) -> None:
    memory = opened()
    gate = memory.gatekeeper()
    _, secret = memory.tokens.create()
    rate = memory.settings.rate_limit
    for _ in range(rate):
        gate.caller(secret, "a")
    with pytest.raises(RateLimited) as limited:
        gate.caller(secret, "a")
    assert 0 < limited.value.wait <= 60 / rate
    clock.forward(seconds=1)
    for _ in range(rate // 60):
        gate.caller(secret, "a")
    with pytest.raises(RateLimited):
        gate.caller(secret, "a")


def test_guessing_from_one_address_is_slowed_and_does_not_hurt_others(memory: recollect.Engine, clock: Clock) -> None:
    gate = memory.gatekeeper()
    _, secret = memory.tokens.create()
    for _ in range(WRONG_A_MINUTE):
        with pytest.raises(Unauthorised):
            gate.caller("rcl_guess", "10.0.0.9")
    with pytest.raises(RateLimited):
        gate.caller("rcl_guess", "10.0.0.9")
    with pytest.raises(RateLimited):
        gate.caller(secret, "10.0.0.9")
    gate.caller(secret, "10.0.0.1")
    clock.forward(minutes=1)
    gate.caller(secret, "10.0.0.9")


def test_when_a_token_was_last_used_is_kept_to_the_minute(memory: recollect.Engine, clock: Clock) -> None:
    gate = memory.gatekeeper()
    _, secret = memory.tokens.create()
    before = memory.head
    first = clock.moment
    for _ in range(5):
        gate.caller(secret, "a")
    used = memory.tokens.all()[0].last_used_at
    assert used is not None
    assert used - first < timedelta(seconds=1)
    clock.forward(minutes=2)
    gate.caller(secret, "a")
    later = memory.tokens.all()[0].last_used_at
    assert later is not None
    assert later - used >= timedelta(minutes=2)
    assert memory.head == before


def test_a_caller_is_at_home_in_a_narrower_place_and_never_in_a_wider_one() -> None:
    ana = Caller("t", "a", frozenset({"read"}), Scope(user="ana"), Scope(user="ana"))
    assert ana.at({"project": "web"}).scope({}) == Scope(user="ana", project="web")
    assert ana.scope({"user": ""}) == Scope(user="ana")
    with pytest.raises(Forbidden):
        ana.at({"user": "ben"})
    walled = Caller("t", "a", frozenset({"read"}), Scope(user="ana", project="web"), Scope(user="ana", project="web"))
    with pytest.raises(Forbidden):
        walled.scope({"project": "api"})
    me = local("t", "me", Scope(project="web"))
    assert me.scope({}) == Scope(project="web")
    assert me.scope({"project": ""}) == EVERYWHERE
    assert me.inside({}) == EVERYWHERE


def test_engines_beside_one_another_share_store_and_model_and_not_tenants(opened: Opener) -> None:
    memory = opened()
    other, colleague = memory.for_caller(tenant="other"), memory.for_caller(actor="colleague")
    memory.remember("Of the first tenant.")
    assert other.stats()["memories"] == 0
    kept = colleague.remember("By a colleague.")
    assert memory.history(kept.id)[0].actor == "colleague"
    assert other.model() == memory.model()
    assert other.remember("Of the second.").skipped == ()
    assert other._models is memory._models
    other.close()
    assert memory.recall("colleague").hits[0].memory.id == kept.id


def test_the_command_line_makes_lists_and_revokes_tokens(tmp_path: Path) -> None:
    def run(*words: str) -> dict[str, object]:
        done = CliRunner().invoke(cli, ["--store", str(tmp_path / "cli.db"), *words, "--json"], obj=list(words))
        assert done.exit_code == 0, done.output
        found: dict[str, object] = json.loads(done.stdout)
        return found

    made = run("token", "create", "--tenant", "acme", "--user", "ana", "--can", "read,write", "--expires", "30d")
    token = made["token"]
    assert isinstance(token, dict)
    assert (token["tenant"], token["scope"], token["can"]) == ("acme", {"user": "ana"}, ["read", "write"])
    with recollect.open(tmp_path / "cli.db", embedder="off") as engine:
        assert engine.gatekeeper().caller(str(made["secret"]), "a").tenant == "acme"
    assert run("token", "list", "--tenant", "acme")["tokens"] == [{**token, "last_used_at": _used(tmp_path)}]
    assert run("token", "list")["tokens"] == []
    ended = run("token", "revoke", str(token["id"])[-8:], "--tenant", "acme")["token"]
    assert isinstance(ended, dict)
    assert ended["revoked_at"]
    shown = CliRunner().invoke(cli, ["--store", str(tmp_path / "cli.db"), "token", "list", "--tenant", "acme"], obj=[])
    assert "revoked" in shown.stdout
    added = run("webhook", "add", "http://127.0.0.1:9/x", "--operation", "create")
    assert added["secret"]
    listed = run("webhook", "list")["webhooks"]
    assert isinstance(listed, list)
    assert [hook["url"] for hook in listed] == ["http://127.0.0.1:9/x"]
    assert run("webhook", "remove", listed[0]["id"])["webhook"] == listed[0]


def _used(folder: Path) -> str | None:
    with recollect.open(folder / "cli.db", tenant="acme", embedder="off") as engine:
        return str(engine.tokens.all()[0].as_dict()["last_used_at"])
