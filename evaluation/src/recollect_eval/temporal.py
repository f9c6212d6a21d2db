"""Temporal: questions about a time, over notes that changed their mind.

The stores and questions lie in `training/temporal`, whose README tells their form and who wrote them (files named
`dev-` may be looked at, files named `judge-` are only counted); `--data` names another folder with a folder
`temporal`, and `--file` one file. Each store is filled in the order in which its notes were recorded, the clock
standing at each note's time and in the zone of the team. A question is right when one of its answers is among the first
three hits; it is answered from the wrong time when the first hit is one that its author marked so. Of lists ("in
order", "which … in 2025") the share of the answers among the first ten hits counts too, and of ordered ones which
share of the pairs that were found stands in the author's order.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from itertools import combinations
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


def run(
    data: Path | None, part: str, say: Say | None, place: Path | None = None, file: Path | None = None
) -> dict[str, Any]:
    """Measure one part (`dev` or `judge`), or one file."""
    rows: list[Row] = []
    folder = place or (corpus.place(data, "temporal") if data else OURS)
    if not (files := [file] if file else sorted(folder.glob(f"{part}-*.jsonl"))):
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
    zone = ZoneInfo(store["zone"])

    def moment(told: str) -> datetime:
        found = datetime.fromisoformat(told)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(zone)

    def recorded(note: dict[str, Any]) -> datetime:
        return moment(note.get("recorded") or note["when"])

    notes = sorted(store["notes"], key=recorded)
    clock = Clock(recorded(notes[0]))
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        recollect.open(Path(folder) / "store.db", actor="evaluate", now=clock) as engine,
    ):
        keys: dict[str, str] = {}
        for note in notes:
            clock.moment = recorded(note)
            told = note.get("kind", "fact")
            held: dict[str, Any] = {name: moment(note[name]) for name in ("valid_from", "valid_to") if note.get(name)}
            if moment(note["when"]) != clock.moment:
                held.setdefault("valid_from", moment(note["when"]))
            network = "opinion" if told == "opinion" else None
            made = engine.remember(note["text"], kind=told if told in KINDS else "fact", network=network, **held)
            keys[made.id] = note["id"]
        rows = []
        for asked in store["questions"]:
            clock.moment = moment(asked.get("now") or store["now"])
            found = engine.recall(asked["ask"], limit=10, **options)
            given = [keys[hit.memory.id] for hit in found.hits]
            rows.append({**asked, "store": store["store"], "given": given, **judge(asked, given)})
    return rows


def judge(asked: dict[str, Any], given: list[str]) -> dict[str, float]:
    right = list(asked["answers"])
    found = {
        "right in three": float(bool(set(right) & set(given[:3]))),
        "wrong time first": float(bool(given) and given[0] in asked.get("wrong", ())),
        "recall@10": len(set(right) & set(given)) / len(set(right)),
    }
    pairs = list(combinations([given.index(one) for one in right if one in given], 2))
    return found | ({"in order": sum(a < b for a, b in pairs) / len(pairs)} if asked.get("ordered") and pairs else {})


def figures(rows: list[Row]) -> dict[str, dict[str, float]]:
    by_type: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        for name in ("all", row["type"], *(["ordered"] if row.get("ordered") else [])):
            by_type[name].append(row)
    names = ("right in three", "wrong time first", "recall@10", "in order")
    found: dict[str, dict[str, float]] = {}
    for told, some in by_type.items():
        kept = {name: [row[name] for row in some if name in row] for name in names}
        means = {name: round(sum(values) / len(values), 4) for name, values in kept.items() if values}
        found[told] = {"questions": len(some), **means}
    return found


def render(found: dict[str, Any]) -> str:
    lines = [f"temporal questions ({found['part']})"]
    for told, row in found["figures"].items():
        said = " · ".join(f"{name} {value:.1%}" for name, value in row.items() if name != "questions")
        lines.append(f"  {told:<14} {row['questions']:>4}  {said}")
    return "\n".join(lines)
