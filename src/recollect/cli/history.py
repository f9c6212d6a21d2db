"""Commands that do more than their operation: `audit` writes a file, `checkpoint rollback` asks first."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from .. import ids
from ..entrypoints.system import open_private
from ..errors import StoreReadOnly
from ..nouns import wire
from .commands import Asked, View, show
from .program import confirm

if TYPE_CHECKING:
    from ..engine import Engine
    from ..history_types import Timeline
    from .present import Look

EXPORTED = 1000  # rows that are read at a time for an export


def _timeline(found: Timeline, out: Look, _: Asked) -> str:
    rows = []
    for one in found.events:
        told = "; ".join(
            part for part in (*one.changes, f"until {one.until}" if one.until else "", one.distance) if part
        )
        rows.append(f"{one.at:%Y-%m-%d %H:%M}  {one.title}")
        rows.append(
            out.dim(f"                  {ids.short(one.memory)} · {one.network} · {one.action}{told and f' · {told}'}")
        )
    if found.cursor:
        rows.append(out.dim(f"more: --cursor {found.cursor}"))
    return "\n".join(rows) or "Nothing happened here."


VIEWS = {
    "timeline": View(_timeline),
    "checkpoint_delete": View(lead="✓ deleted: "),
    "hold_release": View(lead="✓ released: "),
    "retention_remove": View(lead="✓ removed: "),
}


def audit(asked: Asked, export: str | None = None) -> None:
    if export is None:
        show(asked, asked.answer())
        return
    with asked.app.open() as engine:
        count = _export(engine, Path(export), asked)
    asked.app.say({"path": str(export), "rows": count}, lambda _, out: f"✓ {count} rows written to {export}")


def _export(engine: Engine, path: Path, asked: Asked) -> int:
    """Every row that fits, newest first, readable by its owner alone."""
    count, cursor = 0, None
    try:
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            while True:
                page = asked.call(engine, limit=EXPORTED, cursor=cursor)
                for kind, rows in (("entry", page.entries), ("read", page.reads)):
                    for row in rows:
                        file.write(json.dumps({"type": kind, **wire(row)}, ensure_ascii=False) + "\n")
                        count += 1
                if (cursor := page.cursor) is None:
                    return count
    except OSError as error:
        raise StoreReadOnly(f"{path} cannot be written: {error.strerror}.", fix="Choose another file.") from error


def rollback(asked: Asked, yes: bool) -> None:
    with asked.app.open() as engine:
        done = asked.call(engine, dry_run=True)
        if not asked.given.get("dry_run"):
            if not yes and (done.restored or done.archived):
                confirm(lambda out: asked.operation.text(done, datetime.now(UTC)))
            done = asked.call(engine)
    show(asked, done)
