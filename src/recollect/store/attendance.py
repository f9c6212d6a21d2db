"""The sessions of agents, for every store: when each was there. A record of use, not journalled."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from .. import times
from ..agent_types import AgentSession
from .backend import Backend

COLUMNS = "agent, session, started_at, seen_at, ended_at"
SESSIONS = f"select {COLUMNS} from agent_session where tenant = :tenant"
ATTEND = f"""
    insert into agent_session (tenant, {COLUMNS}) values (:tenant, :agent, :session, :started_at, :seen_at, :ended_at)
    on conflict (tenant, agent, session) do update set seen_at = excluded.seen_at, ended_at = excluded.ended_at"""
LAST_SEEN = """
    select agent, max(seen_at), sum(case when ended_at is null and session <> '' then 1 else 0 end)
    from agent_session where tenant = :tenant group by agent"""
FORGET = "delete from agent_session where tenant = :tenant and ended_at < :before"


class Attendance(Backend):
    """The part of a store that knows when agents were there."""

    def attend(self, tenant: str, session: AgentSession) -> None:
        """Note that an agent is there: its session begins, goes on, or has ended."""
        self._alter(tenant, ATTEND, [session_row(tenant, session)])

    def attended(self, tenant: str, agent: str = "", limit: int = 1000) -> list[AgentSession]:
        """The sessions of an agent, or of all, last seen first."""
        whose = " and agent = :agent" if agent else ""
        values = {"tenant": tenant, "limit": limit} | ({"agent": agent} if agent else {})
        rows = self._query(f"{SESSIONS}{whose} order by seen_at desc, agent, session limit :limit", **values)
        return [
            AgentSession(one, name, times.moment(began), times.moment(seen), None if end is None else times.moment(end))
            for one, name, began, seen, end in rows
        ]

    def last_seen(self, tenant: str) -> dict[str, tuple[datetime, int]]:
        """For each agent, when it was last there, and how many of its sessions are open."""
        return {str(one): (times.moment(seen), int(open)) for one, seen, open in self._query(LAST_SEEN, tenant=tenant)}

    def forget_sessions(self, tenant: str, before: datetime) -> None:
        """Drop those that ended earlier."""
        self._alter(tenant, FORGET, [{"tenant": tenant, "before": times.micros(before)}])


def session_row(tenant: str, one: AgentSession) -> dict[str, Any]:
    ended = None if one.ended_at is None else times.micros(one.ended_at)
    return {
        "tenant": tenant, "agent": one.agent, "session": one.session, "started_at": times.micros(one.started_at),
        "seen_at": times.micros(one.seen_at), "ended_at": ended,
    }  # fmt: skip
