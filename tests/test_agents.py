"""Agents that share a memory: who they are, what they may do, what they share, and the work they hand over."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recollect
from conftest import Clock, Opener
from recollect import BadInput, Forbidden, LimitReached, NotFound, RateLimited, Scope, WrongState
from recollect.agent_types import AGENT_NOUNS, CAPABILITIES, Agent, Member, Pool, Share
from recollect.agents import handoffs, pools, registry
from recollect.agents.access import RIGHTS, Caller
from recollect.install.hosts import HOSTS
from recollect.ops.catalogue import BY_NAME
from recollect.ops.waiting import waiting_note
from recollect.store.copy import copy

MODEL = frozenset({"read", "write"})


def do(engine: recollect.Engine, caller: Caller, operation: str, **given: Any) -> Any:
    return BY_NAME[operation].call(engine, engine.agents.enter(caller), given)


def person(engine: recollect.Engine) -> Caller:
    return Caller(engine.settings.tenant, "cli")


def program(engine: recollect.Engine, name: str) -> Caller:
    """An assistant on this machine."""
    return Caller(engine.settings.tenant, name).for_model()


def token(engine: recollect.Engine, user: str = "", project: str = "", *can: str) -> Caller:
    """Who calls with a token of their own."""
    made, _ = engine.tokens.create(name=f"{user}{project}", can=can or ("read", "write"), user=user, project=project)
    return Caller(engine.settings.tenant, f"token {made.name}", frozenset(made.can), made.scope, made.scope, made.id)


def registered(engine: recollect.Engine, caller: Caller, kind: str = "claude_code", **given: Any) -> Agent:
    """The agent of a token, as a person sets it up."""
    given |= {"owner": caller.wall.stored().user}
    made: Agent = do(engine, person(engine), "register_agent", agent_type=kind, token=caller.token, **given)
    return made


# -- who they are -----------------------------------------------------------------------------------------------------


def test_a_known_assistant_registers_itself_once(memory: recollect.Engine) -> None:
    for _ in range(2):
        do(memory, program(memory, "claude-code"), "recall", query="anything")
    do(memory, program(memory, "curl"), "recall", query="anything")
    listed = do(memory, person(memory), "get_agents_for_user")["agents"]
    assert [(one["name"], one["kind"]) for one in listed] == [("claude_code", "claude_code")]
    assert "memory_delete" not in listed[0]["can"]
    assert "memory_write" in listed[0]["can"]
    assert listed[0]["last_seen"]


def test_every_assistant_that_can_be_connected_registers_itself(memory: recollect.Engine) -> None:
    for host in HOSTS.values():
        do(memory, program(memory, host.name), "recall", query="anything")
    kinds = [one["kind"] for one in do(memory, person(memory), "get_agents_for_user")["agents"]]
    assert len(kinds) == len(set(kinds)) == len(HOSTS)
    assert "other" not in kinds


def test_one_token_is_one_agent_whatever_its_program_is_called(memory: recollect.Engine) -> None:
    caller = token(memory)
    made = registered(memory, caller, "custom_pipeline")
    for name in ("claude-code", "codex"):
        known = memory.agents.enter(replace(caller, actor=name, model=True))
        assert known.agent
        assert known.agent.id == made.id
        with pytest.raises(Forbidden, match="memory_write"):
            do(memory, replace(caller, actor=name, model=True), "remember", content="Not for a pipeline.")
    again = do(memory, caller, "register_agent", agent_type="human", name="me")
    assert (again.id, again.kind, again.can) == (made.id, "custom_pipeline", made.can)


def test_nobody_names_another_agent_without_being_an_orchestrator(memory: recollect.Engine) -> None:
    ana, other = token(memory, "ana"), token(memory, "ana")
    mine, theirs = registered(memory, ana), registered(memory, other)
    pool = do(memory, ana, "create_pool", name="p", agent=mine.id)
    with pytest.raises(Forbidden, match="orchestrate"):
        do(memory, ana, "join_pool", pool=pool.id, agent=theirs.id)
    with pytest.raises(Forbidden, match="orchestrate"):
        do(memory, ana, "register_agent", agent_type="other", can=["memory_delete"])
    with pytest.raises(Forbidden, match="not a person"):
        do(memory, program(memory, "codex"), "register_agent", agent_type="human")
    chief = token(memory, "ana", "", "read", "write", "orchestrate")
    assert do(memory, chief, "join_pool", pool=pool.id, agent=theirs.id).agent == theirs.id
    foreign = registered(memory, token(memory, "ben"))
    with pytest.raises(NotFound):
        do(memory, chief, "join_pool", pool=pool.id, agent=foreign.id)


def test_every_operation_asks_for_the_capability_of_an_agent(memory: recollect.Engine) -> None:
    caller = token(memory, "", "", *RIGHTS)
    registered(memory, caller, can=[])
    for operation in BY_NAME.values():
        if operation.capability and operation.name not in ("mend", "doctor"):
            with pytest.raises(Forbidden, match=operation.capability):
                operation.call(memory, memory.agents.enter(caller), {})
    assert {one.capability for one in BY_NAME.values()} == {*CAPABILITIES, ""}
    kept = memory.remember("Only a person erases this.")
    registered(memory, caller, can=["memory_write"])
    with pytest.raises(Forbidden, match="memory_delete"):
        do(memory, caller, "forget", id=kept.id, purge=True)
    refused = [one for one in memory.changes(limit=1000) if one.operation == "refuse"]
    assert "memory_delete" in refused[-1].reason
    assert refused[-1].target != "agents"


def test_who_is_deactivated_can_do_nothing_at_once(memory: recollect.Engine) -> None:
    codex = program(memory, "codex")
    do(memory, codex, "recall", query="x")
    do(memory, person(memory), "deactivate_agent", agent="codex", reason="it misbehaved")
    with pytest.raises(Forbidden, match="deactivated"):
        do(memory, codex, "recall", query="x")
    with pytest.raises(Forbidden, match="deactivated"):
        do(memory, person(memory), "get_pending_handoffs", agent="codex")
    with pytest.raises(WrongState):
        do(memory, person(memory), "deactivate_agent", agent="codex")
    do(memory, person(memory), "activate_agent", agent="codex")
    do(memory, codex, "recall", query="x")


def test_sessions_are_known_and_end(memory: recollect.Engine, clock: Clock) -> None:
    caller = memory.agents.attend(person(memory), "claude-code", "s1")
    clock.forward(minutes=2)
    memory.agents.attend(person(memory), "claude-code", "s2")
    assert caller.agent
    assert not caller.model
    info = do(memory, person(memory), "get_agent_info", agent="claude_code")
    assert [one.session for one in info["sessions"]] == ["s2", "s1"]
    memory.agents.attend(person(memory), "claude-code", "s1", ended=True)
    ended = {one.session: one.ended_at for one in memory.agents.sessions(caller.agent)}
    assert ended["s1"]
    assert not ended["s2"]


# -- what they share --------------------------------------------------------------------------------------------------


def shared(engine: recollect.Engine, caller: Caller, **given: Any) -> list[str]:
    return [hit.memory.id for hit in do(engine, caller, "query_shared", **given).hits]


@pytest.fixture
def team(memory: recollect.Engine) -> tuple[recollect.Engine, Caller, Caller, Pool, str]:
    """Ana's agent and Ben's in a pool of Ana's, and a memory of hers in it."""
    ana, ben = token(memory, "ana"), token(memory, "ben")
    registered(memory, ana)
    theirs = registered(memory, ben)
    pool: Pool = do(memory, ana, "create_pool", name="release")
    kept = do(memory, ana, "remember", content="The release key lies in the blue safe.")
    do(memory, person(memory), "invite_to_pool", pool=pool.id, invited=theirs.id, agent=_of(memory, "ana").id)
    do(memory, ben, "join_pool", pool=pool.id)
    do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=kept.id)
    return memory, ana, ben, pool, kept.id


def test_a_shared_memory_is_the_same_memory_for_every_member(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str],
) -> None:
    memory, ana, ben, _, id = team
    with pytest.raises(NotFound):
        do(memory, ben, "get", id=id)  # the wall stands: it is seen through the pool alone
    assert do(memory, ben, "recall", query="release key").hits == ()
    assert shared(memory, ben) == shared(memory, ben, query="where is the release key?") == [id]
    do(memory, ana, "edit", id=id, content="The release key lies in the red safe.")
    assert "red" in do(memory, ben, "query_shared").hits[0].memory.content
    for act, back in (("forget", {"state": "active"}), ("reject", {})):
        do(memory, ana, act, id=id)
        assert shared(memory, ben) == shared(memory, ben, query="release key") == []
        do(memory, person(memory), "edit", id=id, **back) if back else memory.reject(id, undo=True)
        assert shared(memory, ben) == [id]
    memory.forget(id, purge=True)
    assert shared(memory, ben) == []
    assert memory._store.tally(memory.settings.tenant, Share, {}) == 0


def test_leaving_and_deactivating_end_what_was_shared_and_read(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str],
) -> None:
    memory, ana, ben, pool, id = team
    own = do(memory, ben, "remember", content="The red phone is in the cellar.").id
    with pytest.raises(Forbidden, match="'write'"):
        do(memory, ben, "share_memory_to_scope", pool=pool.id, memory=own)
    do(memory, person(memory), "deactivate_agent", agent=_of(memory, "ana").id)
    assert shared(memory, ben) == []
    do(memory, person(memory), "activate_agent", agent=_of(memory, "ana").id)
    assert shared(memory, ben) == [id]
    do(memory, ana, "leave_pool", pool=pool.id)
    assert shared(memory, ben, query="release key") == []
    do(memory, ana, "join_pool", pool=pool.id)
    assert shared(memory, ben) == [id]
    do(memory, ana, "leave_pool", pool=pool.id, removed=_of(memory, "ben").id)
    assert shared(memory, ben) == []
    with pytest.raises(NotFound):
        do(memory, ben, "join_pool", pool=pool.id)


def _of(engine: recollect.Engine, user: str) -> Agent:
    return engine._store.matching(engine.settings.tenant, Agent, {"user": user})[0]


def test_nobody_reads_above_their_reach(team: tuple[recollect.Engine, Caller, Caller, Pool, str]) -> None:
    memory, ana, ben, pool, id = team
    second = token(memory, "ana")
    registered(memory, second)
    do(memory, second, "join_pool", pool=pool.id)
    seen = {"agent_private": [], "user": [second], "project": [second, ben], "team": [second, ben]}
    for reach, readers in seen.items():
        do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=id, scope=reach)
        assert shared(memory, ana) == [id]
        for caller in (second, ben):
            assert shared(memory, caller) == ([id] if caller in readers else []), (reach, caller.actor)
        assert shared(memory, ana, max_scope="agent_private") == ([id] if reach == "agent_private" else [])
    registered(memory, ben, scope="user")
    assert shared(memory, ben, query="release key") == []
    with pytest.raises(Forbidden, match="wider"):
        do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=id, scope="global")
    common = memory.remember("Everybody knows this.").id
    with pytest.raises(Forbidden, match="more than"):
        do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=common)


def test_a_pool_is_joined_by_invitation_unless_it_is_open(memory: recollect.Engine) -> None:
    ana, ben = token(memory, "ana"), token(memory, "ben")
    for caller in (ana, ben):
        registered(memory, caller)
    closed = do(memory, ana, "create_pool", name="closed")
    narrow = do(memory, ana, "create_pool", name="narrow", scope="user", open=True)
    opened = do(memory, ana, "create_pool", name="open", open=True)
    for pool in (closed, narrow):
        with pytest.raises(NotFound):
            do(memory, ben, "join_pool", pool=pool.id)
    with pytest.raises(Forbidden, match="not admin"):
        do(memory, ben, "join_pool", pool=opened.id, permission="admin")
    assert do(memory, ben, "join_pool", pool="open").permission == "write"
    with pytest.raises(Forbidden, match="'admin'"):
        do(memory, ben, "leave_pool", pool=opened.id, removed=_of(memory, "ana").id)


# -- what they hand over ----------------------------------------------------------------------------------------------


def test_a_handoff_goes_to_its_target_and_comes_back_with_a_result(memory: recollect.Engine) -> None:
    claude, codex = program(memory, "claude-code"), program(memory, "codex")
    do(memory, codex, "recall", query="x")
    note = memory.remember("The login test needs a clock that is right.").id
    secret = memory.remember("Ana's own note.", scope=Scope(user="ana"))
    made = do(
        memory, claude, "initiate_handoff", task="Mend the login test.", target="codex", memories=[note, secret.id],
        state={"tried": "ntp"}, files=["tests/login.py"], key="k1",
    )  # fmt: skip
    assert do(memory, claude, "initiate_handoff", task="Mend the login test.", target="codex", key="k1") == made
    with pytest.raises(BadInput, match="another handoff"):
        do(memory, claude, "initiate_handoff", task="Something else.", target="codex", key="k1")
    assert do(memory, claude, "get_pending_handoffs")["handoffs"] == []
    assert do(memory, codex, "get_pending_handoffs")["handoffs"] == [made]
    for act in ("accept_handoff", "complete_handoff"):
        with pytest.raises(Forbidden, match="another agent"):
            do(memory, claude, act, handoff=made.id)
    with pytest.raises(WrongState, match="pending"):
        do(memory, codex, "complete_handoff", handoff=made.id)
    known = memory.agents.enter(codex)
    assert "Mend the login test." in waiting_note(memory, known)
    told = do(memory, codex, "context", query="login", budget=400)
    assert "1 handoff waits for you" in told.text
    assert told.tokens <= 400
    taken = do(memory, codex, "accept_handoff", handoff=made.id, budget=300)
    assert taken["context"].tokens <= 300
    for said in ("Mend the login test.", "tried: ntp", "tests/login.py", "clock that is right"):
        assert said in taken["context"].text
    assert waiting_note(memory, known) == ""
    done = do(memory, codex, "complete_handoff", handoff=made.id, result={"commit": "abc"})
    assert (done.state, done.result) == ("completed", {"commit": "abc"})
    for act in ("accept_handoff", "complete_handoff"):
        with pytest.raises(WrongState, match="completed"):
            do(memory, codex, act, handoff=made.id)


def test_the_one_who_takes_a_handoff_sees_no_memory_beyond_their_wall(memory: recollect.Engine) -> None:
    ana, ben = token(memory, "ana"), token(memory, "ben")
    registered(memory, ana)
    theirs = registered(memory, ben)
    own = do(memory, ana, "remember", content="Ana's key lies in the safe.").id
    with pytest.raises(NotFound):  # whom Ana cannot see she cannot name
        do(memory, ana, "initiate_handoff", task="Open it.", target=theirs.id)
    pool = do(memory, ana, "create_pool", name="both", open=True)
    do(memory, ben, "join_pool", pool=pool.id)
    made = do(memory, ana, "initiate_handoff", task="Open it.", target=theirs.id, memories=[own])
    taken = do(memory, ben, "accept_handoff", handoff=made.id)
    assert taken["left_out"] == 1
    assert "safe" not in taken["context"].text
    do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=own)
    again = do(memory, ben, "accept_handoff", handoff=made.id)
    assert again["left_out"] == 0
    assert "safe" in again["context"].text


def test_work_for_whoever_can_do_it_is_taken_once(memory: recollect.Engine) -> None:
    claude, codex, gemini = (program(memory, name) for name in ("claude-code", "codex", "gemini"))
    made = do(memory, claude, "initiate_handoff", task="Find the decision.", needs="decision_read")
    for caller in (codex, gemini):
        assert do(memory, caller, "get_pending_handoffs")["handoffs"] == [made]
    do(memory, codex, "accept_handoff", handoff=made.id[-8:])
    with pytest.raises((WrongState, Forbidden)):
        do(memory, gemini, "accept_handoff", handoff=made.id)
    with pytest.raises(BadInput, match="reason"):
        do(memory, codex, "reject_handoff", handoff=made.id, reason=" ")
    assert do(memory, codex, "reject_handoff", handoff=made.id, reason="There is none.").state == "rejected"


def test_an_offer_ends_and_what_a_silent_agent_took_goes_back(memory: recollect.Engine, clock: Clock) -> None:
    claude, codex, gemini = (program(memory, name) for name in ("claude-code", "codex", "gemini"))
    short = do(memory, claude, "initiate_handoff", task="At once.", needs="kb_search", ttl_seconds=60)
    long = do(memory, claude, "initiate_handoff", task="Some day.", needs="kb_search", ttl_seconds=86400)
    clock.forward(seconds=61)
    with pytest.raises(WrongState, match="expired"):
        do(memory, codex, "accept_handoff", handoff=short.id)
    do(memory, codex, "accept_handoff", handoff=long.id)
    states = {one.id: one.state for one in do(memory, person(memory), "list_handoffs")["handoffs"]}
    assert states == {short.id: "expired", long.id: "accepted"}
    clock.forward(minutes=20)
    do(memory, codex, "recall", query="still there")
    clock.forward(minutes=20)
    assert do(memory, gemini, "get_pending_handoffs")["handoffs"] == []
    clock.forward(minutes=20)
    waiting = do(memory, gemini, "get_pending_handoffs")["handoffs"]
    assert [(one.id, one.attempts, one.taken_by) for one in waiting] == [(long.id, 1, "")]
    with pytest.raises(WrongState, match="pending"):
        do(memory, codex, "complete_handoff", handoff=long.id)
    do(memory, gemini, "accept_handoff", handoff=long.id)
    do(memory, person(memory), "deactivate_agent", agent="gemini")
    clock.forward(minutes=2)
    assert [one.id for one in do(memory, codex, "get_pending_handoffs")["handoffs"]] == [long.id]


# -- limits, and what becomes of it all -------------------------------------------------------------------------------


def test_beyond_a_limit_there_is_a_specific_error_and_nothing_is_lost(
    memory: recollect.Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    me, codex = person(memory), program(memory, "codex")
    do(memory, codex, "recall", query="x")
    pool = do(memory, me, "create_pool", name="one")
    ids = [memory.remember(f"Fact number {n} about the number {n}.").id for n in (1, 2)]
    do(memory, me, "share_memory_to_scope", pool="one", memory=ids[0])
    do(memory, me, "initiate_handoff", task="First.", target="codex")
    before = memory.stats()["journal"]
    limits: list[tuple[Any, str, Any]] = [
        (registry, "MAX_AGENTS", lambda: do(memory, me, "register_agent", agent_type="other")),
        (pools, "MAX_POOLS", lambda: do(memory, me, "create_pool", name="two")),
        (pools, "MAX_MEMBERS", lambda: do(memory, codex, "join_pool", pool=pool.id)),
        (pools, "MAX_SHARED", lambda: do(memory, me, "share_memory_to_scope", pool="one", memory=ids[1])),
        (handoffs, "MAX_HANDOFFS", lambda: do(memory, me, "initiate_handoff", task="Second.", needs="kb_search")),
        (handoffs, "MAX_PENDING", lambda: do(memory, me, "initiate_handoff", task="Second.", target="codex")),
    ]
    for module, name, act in limits:
        with monkeypatch.context() as patch:
            patch.setattr(module, name, 1)
            with pytest.raises(LimitReached, match="limit"):
                act()
    noted = memory.changes(after=before, limit=100)
    assert [one.operation for one in noted] == ["refuse"] * len(limits)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "MAX_SESSIONS", 0)
        with pytest.raises(LimitReached, match="sessions"):
            memory.agents.attend(me, "codex", "s1")
    for *_, act in limits:
        act()


def test_each_agent_has_a_rate(opened: Opener, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setenv("RECOLLECT_AGENT_RATE", "3")
    memory = opened()
    codex = program(memory, "codex")
    for _ in range(3):
        do(memory, codex, "get_agent_info")
    for _ in range(3):
        with pytest.raises(RateLimited, match="3 calls a minute"):
            do(memory, codex, "get_agent_info")
    assert sum(one.operation == "refuse" for one in memory.changes(limit=100)) == 1
    do(memory, program(memory, "gemini"), "get_agent_info")
    clock.forward(seconds=21)
    do(memory, codex, "get_agent_info")


def test_every_operation_and_refusal_says_who_did_what_for_whom(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str],
) -> None:
    memory, ana, ben, pool, id = team
    mine, theirs = _of(memory, "ana"), _of(memory, "ben")
    work = do(memory, ana, "initiate_handoff", task="Look.", target=theirs.id)

    def noted(caller: Caller, operation: str, **given: Any) -> str:
        memory.audit()
        before = memory.head
        with contextlib.suppress(recollect.RecollectError):
            BY_NAME[operation].call(memory, memory.agents.enter(caller), given)
        memory.audit()  # which writes what was noted
        rows = memory.changes(after=before, limit=100)
        return "; ".join(f"{one.actor} {one.operation} {one.target} {one.reason}" for one in rows)

    looked: dict[str, dict[str, str]] = {
        "get_agent_info": {}, "get_agents_for_user": {"user": "ana"}, "list_pools": {},
        "query_shared": {"query": "key"},
        "get_pending_handoffs": {}, "list_handoffs": {}, "search_code_kb": {"query": "key"},
        "search_decisions": {"query": "key"}, "search_incidents": {"query": "key"},
    }  # fmt: skip
    done = {
        "accept_handoff": {"handoff": work.id}, "complete_handoff": {"handoff": work.id},
        "leave_pool": {"pool": pool.id},
    }  # fmt: skip
    for operation, given in looked.items():
        row = noted(ben, operation, **given)
        assert f"look up {theirs.id} {BY_NAME[operation].title} for " in row
        assert "key" not in row
    assert "user ana" in noted(ben, "get_agents_for_user", user="ana")
    assert f"for {mine.id}" in noted(person(memory), "get_pending_handoffs", agent=mine.id)
    assert noted(person(memory), "get_agents_for_user") == ""  # the owner of the store looks at their own
    for operation, given in done.items():
        assert f"({theirs.id})" in noted(ben, operation, **given)
    for operation, given in done.items():
        assert "refuse" in noted(ben, operation, **given), operation
    assert "refuse" in noted(ben, "share_memory_to_scope", pool=pool.id, memory=id)
    assert "refuse" in noted(ben, "get_agent_info", agent="nobody")


def everything(engine: recollect.Engine) -> dict[str, list[dict[str, Any]]]:
    tenant = engine.settings.tenant
    return {kind.__name__: [one.as_dict() for one in engine._store.all(tenant, kind, "", 1000)] for kind in AGENT_NOUNS}


def test_it_is_exported_copied_and_replayed_like_everything_else(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str], opened: Opener, tmp_path: Path
) -> None:
    memory, ana, ben, _, id = team
    do(memory, ana, "initiate_handoff", task="Look at it.", needs="kb_search", memories=[id])
    whole, was = tmp_path / "all.jsonl", everything(memory)
    assert all(was.values())
    memory.export(whole)
    taken = opened("taken.db")
    taken.import_(whole, trust="stated")
    there = everything(taken)
    assert {one["key"] for one in there["Agent"]} == {""}  # tokens do not travel
    for one in there["Agent"]:
        one["key"] = next(other["key"] for other in was["Agent"] if other["id"] == one["id"])
    assert there == was
    doubted = opened("doubted.db")
    whole.write_text(whole.read_text("utf-8").rpartition('{"type": "seal"')[0], "utf-8")
    assert doubted.import_(whole, trust="unverified").ignored
    assert not any(everything(doubted).values())
    copied = opened("copy.db")
    copy(memory._store, copied._store)
    assert copied._store.attended(memory.settings.tenant) == memory._store.attended(memory.settings.tenant)
    assert everything(copied) == was
    assert shared(copied, ben) == [id]


def test_it_is_taken_back_and_rolled_back_and_nobody_regains_what_was_taken(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str],
) -> None:
    memory, ana, ben, pool, id = team
    memory.checkpoints.create("before")
    do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=id, scope="user")
    last = memory.head
    with pytest.raises(Forbidden):
        do(memory, replace(ana, can=frozenset(RIGHTS)), "undo", changes=[str(last)])
    do(memory, person(memory), "undo", changes=[str(last)])
    assert shared(memory, ben) == [id]
    second = do(memory, ana, "remember", content="The spare key lies under the mat.").id
    do(memory, ana, "share_memory_to_scope", pool=pool.id, memory=second)
    do(memory, ana, "create_pool", name="later")
    do(memory, ana, "leave_pool", pool=pool.id, removed=_of(memory, "ben").id)
    back = memory.checkpoints.rollback("before")
    assert back.shared == 3  # the share, the pool and its first member
    tenant = memory.settings.tenant
    assert memory._store.tally(tenant, Share, {}) == memory._store.tally(tenant, Pool, {}) == 1
    assert memory._store.tally(tenant, Member, {}) == 1
    assert shared(memory, ben) == []


def test_erasing_a_user_takes_their_agents_and_words_along(
    team: tuple[recollect.Engine, Caller, Caller, Pool, str],
) -> None:
    memory, _, ben, _, id = team
    words = memory._find(id).content
    do(memory, ben, "initiate_handoff", task=f"She said: {words}", needs="kb_search")
    memory.forget(id, purge=True)
    assert "blue safe" not in str(everything(memory))
    assert all("blue safe" not in str(one) for one in memory.changes(limit=1000))
    memory.forget(scope=Scope(user="ana"), purge=True)
    left = everything(memory)
    assert not left["Pool"]
    assert not left["Share"]
    assert not left["Member"]
    assert [one["scope"] for one in left["Agent"]] == [{"user": "ben"}]
    assert [one["task"] for one in left["Handoff"]] == ["She said: [purged]"]


def test_the_three_searches_narrow(memory: recollect.Engine) -> None:
    me = person(memory)
    web, api = Scope(project="web"), Scope(project="api")
    code = memory.remember("def login(user): checks the password", kind="code", scope=web).id
    memory.remember("def login(user): of the other service", kind="code", scope=api)
    first = memory.remember("We log in with passkeys because passwords leak.", kind="decision", tags=["auth"]).id
    memory.remember("We log in the pipeline once a day.", kind="decision", tags=["build"])
    bad = do(memory, me, "ingest_incident", summary="The login was down.", severity="SEV-1", services=["web"]).id
    do(memory, me, "ingest_incident", summary="The login was slow.", severity="SEV-3", services=["web"])
    do(memory, me, "ingest_incident", summary="The login was odd.", severity="SEV-1", services=["api"])

    def found(operation: str, **given: Any) -> list[str]:
        return [hit.memory.id for hit in do(memory, me, operation, query="login", **given).hits]

    assert found("search_code_kb", service="web") == [code]
    assert found("search_decisions", topic="auth") == [first]
    assert len(found("search_decisions")) == 2
    assert found("search_incidents", service="web", severity="critical") == [bad]
    assert len(found("search_incidents")) == 3
    with pytest.raises(BadInput, match="severity"):
        found("search_incidents", severity="awful")
