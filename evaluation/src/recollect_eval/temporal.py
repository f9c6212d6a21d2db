"""Temporal: questions about a time, over notes that changed their mind.

The stores and questions lie in `training/temporal`, whose README tells their form and who wrote them (files named
`dev-` may be looked at, files named `judge-` are only counted); `--data` names another folder with a folder
`temporal`. Each store is filled in the order of its notes, the clock standing at each note's time and in the zone of
the team. A question is right when one of its answers is among the first three hits; it is answered from the wrong
time when the first hit is one that its author marked so. Of lists ("in order", "which … in 2025") the share of the
answers among the first ten hits counts too.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import recollect
from recollect.errors import BadInput
from recollect.types import KINDS

from . import corpus
from .provenance import provenance
from .subject import Clock

OURS = Path(__file__).parents[3] / "training" / "temporal"
TARGETS = {"right in three": 0.88, "wrong time first": 0.04, "recall@10 of order": 0.4}
Say = Callable[[str], None]
Row = dict[str, Any]


def run(data: Path | None, part: str, say: Say | None, place: Path | None = None) -> dict[str, Any]:
    """Measure one part (`dev` or `judge`)."""
    rows: list[Row] = []
    folder = place or (corpus.place(data, "temporal") if data else OURS)
    if not (files := sorted(folder.glob(f"{part}-*.jsonl"))):
        raise BadInput(f"There is no {part}-*.jsonl in {folder}.", fix="Name a folder that has some: --data.")
    for path in files:
        for line in path.read_text("utf-8").splitlines():
            store = json.loads(line)
            if say:
                say(f"{path.stem}: {store['store']}, {len(store['notes'])} notes, {len(store['questions'])} questions")
            rows += measure(store)
    return {"part": part, "figures": figures(rows), "rows": rows if part == "dev" else [], "provenance": provenance()}


def measure(store: dict[str, Any], **options: Any) -> list[Row]:
    """The questions of one store with what came of each."""
    zone = ZoneInfo(store["tz"])
    clock = Clock(datetime.fromisoformat(store["notes"][0]["at"]).astimezone(zone))
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        recollect.open(Path(folder) / "store.db", actor="evaluate", now=clock) as engine,
    ):
        keys: dict[str, str] = {}
        for note in sorted(store["notes"], key=lambda one: datetime.fromisoformat(one["at"])):
            clock.moment = datetime.fromisoformat(note["at"]).astimezone(zone)
            known = note["kind"] if note["kind"] in KINDS else "fact"
            network = "opinion" if note["kind"] == "opinion" else None
            keys[engine.remember(note["text"], kind=known, network=network).id] = note["id"]
        rows = []
        for asked in store["questions"]:
            clock.moment = datetime.fromisoformat(store["now"]).astimezone(zone)
            found = engine.recall(asked["ask"], limit=10, **options)
            given = [keys[hit.memory.id] for hit in found.hits]
            rows.append({**asked, "store": store["store"], "given": given, **judge(asked, given)})
    return rows


def judge(asked: dict[str, Any], given: list[str]) -> dict[str, float]:
    right = set(asked["answers"])
    return {
        "right in three": float(bool(right & set(given[:3]))),
        "wrong time first": float(bool(given) and given[0] in asked.get("wrong_time", ())),
        "recall@10": len(right & set(given)) / len(right),
    }


def figures(rows: list[Row]) -> dict[str, dict[str, float]]:
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind["all"].append(row)
        by_kind[row["kind"]].append(row)
    names = ("right in three", "wrong time first", "recall@10")
    return {
        kind: {"questions": len(some)} | {name: round(sum(row[name] for row in some) / len(some), 4) for name in names}
        for kind, some in by_kind.items()
    }


def render(found: dict[str, Any]) -> str:
    lines = [f"temporal questions ({found['part']})"]
    for kind, row in found["figures"].items():
        told = " · ".join(f"{name} {value:.1%}" for name, value in row.items() if name != "questions")
        lines.append(f"  {kind:<14} {row['questions']:>4}  {told}")
    return "\n".join(lines)
