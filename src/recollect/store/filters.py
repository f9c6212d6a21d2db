"""A filter as conditions in SQL, for every backend. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import times
from ..types import SCOPE_FIELDS, Filter

# What is shared with somebody: in a pool of theirs, no wider than they may read, by a member who is still there.
SHARED = """exists (select 1 from share s
      join member b on b.tenant = s.tenant and b.pool = s.pool and b.agent = s.shared_by and b.state = 'joined'
      join agent a on a.tenant = s.tenant and a.id = s.shared_by and a.retired_at is null
    where s.tenant = m.tenant and s.memory = m.id and s.pool {pools} and s.reach {reaches}
      and (s.reach <> 'agent_private' or s.shared_by = :shared_agent)
      and (s.reach <> 'user' or s."user" = :shared_user)
      and (s.reach <> 'project' or :shared_project = '' or s.project in ('', :shared_project)))"""


def wall(filter: Filter) -> Filter:
    """All that a filter's scope lets through: whose words may be counted for who asks."""
    return Filter(scope=filter.scope, inside=filter.inside, states=(), shared=filter.shared)


def where(filter: Filter, among: str, key: str) -> tuple[str, dict[str, Any]]:
    """Conditions on the memory `m`, and the values in them.

    `among` is how the backend says that something is in a list, with the list's name as {}; `key` is the column that
    its tags know a memory by.
    """
    parts: list[str] = []
    values: dict[str, Any] = {}
    for name in SCOPE_FIELDS:
        if allowed := filter.scope.allowed(name, inside=filter.inside):
            parts.append(f'm."{name}" = :{name}' if len(allowed) == 1 else f"m.\"{name}\" in ('', :{name})")
            values[name] = allowed[0]
    lists: tuple[tuple[str, Sequence[str]], ...] = (
        ("kind", filter.kinds), ("network", filter.networks), ("state", filter.states)
    )  # fmt: skip
    for column, wanted in lists:
        if column == "network" and len(wanted) == 1:  # so that the index gives them in the order of time
            parts.append("m.network = :network")
            values["network"] = wanted[0]
        elif wanted:  # several networks are read from the index of times: an index for each would have to be sorted
            named = "m.network || ''" if column == "network" else f"m.{column}"
            parts.append(f"{named} {among.format(f'{column}s')}")
            values[f"{column}s"] = list(wanted)
    for number, tag in enumerate(filter.tags):
        tagged = f"g.tenant = m.tenant and g.tag = :tag{number} and g.memory = m.{key}"
        parts.append(f"exists (select 1 from memory_tag g where {tagged})")
        values[f"tag{number}"] = tag
    if filter.min_importance > 1:
        parts.append("m.importance >= :min_importance")
        values["min_importance"] = filter.min_importance
    if filter.since:
        parts.append("coalesce(m.valid_from, m.created_at) >= :since")
        values["since"] = times.micros(filter.since)
    if filter.until:
        parts.append("coalesce(m.valid_from, m.created_at) <= :until")
        values["until"] = times.micros(filter.until)
    if filter.current_at:
        parts.append(
            "(m.valid_from is null or m.valid_from <= :current) and (m.valid_to is null or :current < m.valid_to)"
            " and (m.expires_at is null or :current < m.expires_at)"
        )
        values["current"] = times.micros(filter.current_at)
    if filter.shared:
        parts.append(SHARED.format(pools=among.format("pools"), reaches=among.format("reaches")))
        values |= {"pools": list(filter.shared.pools), "reaches": list(filter.shared.reaches),
                   "shared_agent": filter.shared.agent, "shared_user": filter.shared.user,
                   "shared_project": filter.shared.project}  # fmt: skip
    return "".join(f" and {part}" for part in parts), values
