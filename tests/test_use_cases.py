"""What an assistant does with a project's memory, from the repository to the answer, through MCP.

A small repository with decision records, a post-mortem and code is taken in by the tools themselves, over HTTP, with
the packaged model; then a client asks what a person would ask.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Opener
from recollect.recall.fence import HEADER
from repositories import Repo
from served import Server, serving
from test_mcp import call, calls, talk

DATABASE = """\
# ADR-005: Use PostgreSQL as the primary database

* Status: accepted
* Date: 2024-03-11

## Context and Problem Statement

Orders need transactions over several tables, and reports need joins. MongoDB was in use for the prototype.

## Decision

We choose PostgreSQL over MongoDB because orders and payments must change together, in one transaction.

## Consequences

Migrations are written by hand.
"""
POOLING = """\
# ADR-009: Pool database connections

* Status: accepted
* Date: 2024-06-02

## Context

Opening a database connection takes 40 ms.

## Decision

Every service handles its database connections through one pool of at most twenty.
"""
OUTAGE = """\
# Post-mortem: login outage of 14 November 2024

**Severity:** SEV-1
**Service:** auth-service
**Date:** 2024-11-14

## Impact

Nobody could log in for 47 minutes.

## Root cause

The rate limiter was configured per instance instead of per user, so that the load balancer's health checks used up the
limit.

## Resolution

The limit was raised and the health checks were exempted.

## Lessons learned

Test a rate limiter's configuration with production traffic in shadow mode before enforcing it.
"""
POOL = '''\
"""Database connections."""


class ConnectionPool:
    """Hands out database connections, at most twenty at once, and takes them back."""

    def acquire(self, timeout: float = 5.0) -> "Connection":
        """Wait for a free database connection and lend it to the caller."""
        return self._free.get(timeout=timeout)

    def release(self, connection: "Connection") -> None:
        """Give a connection back to the pool."""
        self._free.put(connection)
'''
MAIL = '''\
"""Sending mail."""


def render_newsletter(name: str) -> str:
    """The newsletter of this week, addressed to somebody by name."""
    return f"Dear {name}"
'''


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "auth-service")
    files = {
        "docs/adr/0005-database.md": DATABASE,
        "docs/adr/0009-pooling.md": POOLING,
        "docs/postmortems/2024-11-14-login.md": OUTAGE,
        "auth_service/db/pool.py": POOL,
        "auth_service/mail.py": MAIL,
    }
    repo.put("Import the service", files)
    repo.put("Exempt health checks from the rate limiter", {"limits.toml": "exempt = ['/health']\n"}, author="Ben")
    return repo


@pytest.fixture
def server(opened: Opener) -> Iterator[Server]:
    with serving(opened(now=None, embedder="default")) as server:
        yield server


@pytest.fixture
def where(repo: Repo) -> dict[str, Any]:
    """How an assistant that works in the repository calls: by its folder, with the tools for projects."""
    return {"Recollect-Folder": str(repo.path), "Recollect-Tools": "project"}


def taken_in(server: Server, where: dict[str, Any]) -> None:
    told = calls(
        server,
        [
            ("ingest_adr", {"path": "docs/adr", "service": "auth-service"}),
            ("ingest_files", {"path": "docs/postmortems", "as": "incident", "service": "auth-service"}),
            ("ingest_code", {"path": "auth_service", "service": "auth-service"}),
        ],
        **where,
    )
    assert not [one for one in told if one.startswith("failed")], told
    server.engine.embed()  # as the daemon does, in the background


def first(told: str) -> str:
    """The first memory of an answer."""
    assert told.startswith(HEADER), told
    return told.split("<memory ")[1]


def test_architectural_continuity(server: Server, where: dict[str, Any]) -> None:
    """Why did we choose PostgreSQL over MongoDB? The record says so, with its number and date."""
    taken_in(server, where)
    told = first(call(server, "semantic_search", {"query": "Why did we choose PostgreSQL over MongoDB?"}, **where))
    assert "one transaction" in told
    assert "2024-03-11" in told
    assert "Use PostgreSQL as the primary database" in told


def test_incident_aware_development(server: Server, where: dict[str, Any]) -> None:
    """Somebody adds rate limiting: the outage that a rate limiter caused is told, with what was learnt."""
    taken_in(server, where)
    asked = {"query": "I'm adding rate limiting to the auth service", "limit": 5}
    told = call(server, "semantic_search", asked, **where)
    assert "rate limiter" in first(told)
    assert "shadow mode" in told
    assert "Exempt health checks" in call(server, "search_commits", {"query": "rate limiter"}, **where)

    async def work(client: Any) -> str:
        found = await client.read_resource("project://memory/active_incidents")
        return str(found.contents[0].text)

    call(server, "ingest_incident", {"summary": "Tokens expire at once since noon.", "severity": "critical"}, **where)
    assert "Tokens expire at once" in talk(server, work, **where)


def test_cross_session_context(opened: Opener, where: dict[str, Any], repo: Repo) -> None:
    """A task that one session sets is known to the next, on another daemon, with the decisions that bear on it."""
    with serving(opened(now=None, embedder="default")) as server:
        taken_in(server, where)
        asked = {"task": "Moving the order tables to a PostgreSQL cluster", "details": {"ticket": "AUTH-12"}}
        assert call(server, "set_task_context", asked, **where).startswith("Remembered")
    with serving(opened(now=None, embedder="default")) as server:
        told = call(server, "get_task_context", {}, **where)
        assert "Moving the order tables" in told
        assert "AUTH-12" in told
        assert "on branch main" in told
        assert "We choose PostgreSQL over MongoDB" in told
        start = {"session_id": "s2", "cwd": str(repo.path), "source": "startup"}
        envelope = {"host": "claude", "event": "SessionStart", "input": start, "cwd": str(repo.path)}
        brief = server.call("POST", "/hook", envelope).data["print"]
        assert "Moving the order tables" in brief, "and without being asked for"

        async def work(client: Any) -> list[str]:
            uris = ("project://memory/task_context", "project://memory/repository")
            return [str((await client.read_resource(uri)).contents[0].text) for uri in uris]

        task, state = talk(server, work, **where)
        assert "Moving the order tables" in task
        assert "Exempt health checks" in state


def test_codebase_navigation(server: Server, where: dict[str, Any]) -> None:
    """How do we handle database connections? The code and the decision are both found, by meaning."""
    taken_in(server, where)
    told = call(server, "semantic_search", {"query": "How do we handle database connections?", "limit": 5}, **where)
    assert "one pool of at most twenty" in told
    assert "ConnectionPool" in told
    assert "newsletter" not in first(told)
    code = call(server, "semantic_search", {"query": "borrow a connection", "kind": "code", "limit": 3}, **where)
    assert "ConnectionPool" in first(code)
