"""Pools, members, shares and handoffs in the past: taking back what became of them since a place in the journal.

What came since goes, and what changed is as it was, but nobody gets back what was taken from them: a share or a member
that is gone stays gone, and no permission or reach grows.
"""

from __future__ import annotations

from typing import Any

from ..agent_types import PERMISSIONS, REACHES, Handoff, Member, Pool, Share
from ..remember.write import Writer
from ..store.contract import Transaction
from ..store.rows import noun_name, record
from ..store.trail import Trace
from ..types import Kept
from .asof import Past, undone

NOUNS: dict[str, type[Kept]] = {noun_name(kind): kind for kind in (Pool, Member, Share, Handoff)}


def roll_back(writer: Writer, changes: Transaction, seq: int, why: str) -> int:
    """Bring them back to how they were at a place in the journal; how many were changed."""
    count = 0
    for id, rows in Past(writer.store, writer.tenant).later(Trace(after=seq, nouns=tuple(NOUNS))).items():
        kind = NOUNS[rows[0].noun]
        now = changes.get(kind, id)
        if now is None or any(row.purged or row.operation == "restate" for row in rows):
            continue
        then = undone(record(now), rows)
        if then is None:
            count += changes.drop(kind, id, "rollback", why)
        else:
            count += changes.put(_no_wider(now, kind.from_dict(then)), "rollback", why)
    return count


def _no_wider(now: Any, then: Any) -> Any:
    for name, order in (("permission", PERMISSIONS), ("reach", REACHES)):
        if hasattr(now, name) and order.index(getattr(then, name)) > order.index(getattr(now, name)):
            return now
    return then
