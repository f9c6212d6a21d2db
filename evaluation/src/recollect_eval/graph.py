"""The knowledge graph, measured: questions that need several notes (`multihop`), and what is read from notes.

Both read the files of a part in `training/` (below `--data`, if that is given), or the one named by `--file`.

`multihop`: one line a store in `multihop/PART-AUTHOR.jsonl`, with notes and questions; a question has the ids of the
notes that hold the final answer. The stores of a file are asked together, so that each is a distraction for the others.
A question counts when such a note is among the first five; vectors alone are asked the same.

`extraction`: one line a note in `extraction/PART-AUTHOR.jsonl`, with its entities and relations as a person sees them.
An entity counts when its name is found, in any spelling; a relation when both ends and its type are right, and its
direction where the same two are related the other way round.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from recollect.errors import BadInput
from recollect.language.entities import key_of
from recollect.language.relations import RELATIONS, extract
from recollect.models.embedder import load as load_model
from recollect.types import KINDS, Draft, Filter

from .provenance import provenance

OURS = Path(__file__).parents[3] / "training"
FIRST = 5
Say = Callable[[str], None]


def lines(
    data: Path | None, name: str, part: str, file: Path | None = None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each file of a part, or the one that is named, with its lines."""
    files = [file] if file else sorted(((data or OURS) / name).glob(f"{part}-*.jsonl"))
    if not files:
        raise BadInput(f"There is no {part} data of {name}.", fix=f"Name its folder: recollect eval {name} --data PATH")
    for file in files:
        try:
            yield file.stem, [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        except (OSError, ValueError) as error:
            raise BadInput(f"{file} cannot be read: {error}.", fix="It must have one JSON object a line.") from error


def multihop(data: Path | None, part: str, say: Say | None = None, file: Path | None = None) -> dict[str, Any]:
    asked: Counter[int] = Counter()
    found: Counter[tuple[str, int]] = Counter()
    for name, stores in lines(data, "multihop", part, file):
        with tempfile.TemporaryDirectory() as folder:
            _ask(stores, Path(folder) / "memory.db", asked, found)
        if say:
            say(f"{name}: {sum(asked.values())} questions so far")
    total = sum(asked.values())
    figures = {
        system: {str(hops): round(found[system, hops] / asked[hops], 4) for hops in sorted(asked)}
        | {"all": round(sum(found[system, hops] for hops in asked) / total, 4)}
        for system in ("recollect", "vectors")
    }
    return {"part": part, "questions": total, "by_hops": dict(sorted(asked.items())), **figures, **provenance()}


def _ask(stores: list[dict[str, Any]], path: Path, asked: Counter[int], found: Counter[tuple[str, int]]) -> None:
    said = [
        moment for store in stores for moment in (store.get("now"), *(_when(note) for note in store["notes"])) if moment
    ]
    now = max(map(datetime.fromisoformat, said), default=datetime.now(UTC))
    model = load_model("default")
    with recollect.open(path, embedder=model, now=lambda: now) as memory:
        ids: list[dict[str, str]] = []
        for store in stores:
            drafts = [
                Draft(note["text"], kind=note["kind"] if note.get("kind") in KINDS else "fact", valid_from=_when(note))
                for note in store["notes"]
            ]
            kept = memory.remember_many(drafts)
            ids.append({note["id"]: one.id for note, one in zip(store["notes"], kept, strict=True)})
        memory.extract_entities()
        for store, known in zip(stores, ids, strict=True):
            for question in store["questions"]:
                answers = {known[id] for id in question["answers"]}
                hits = [hit.memory.id for hit in memory.recall(question["ask"], limit=10, peek=True).hits]
                near = memory._store.nearest(
                    memory.tenant, model.model, model.embed([question["ask"]], "query")[0], Filter(), FIRST
                )
                hops = int(question["hops"])
                asked[hops] += 1
                found["recollect", hops] += not answers.isdisjoint(hits[:FIRST])
                found["vectors", hops] += not answers.isdisjoint(id for id, _ in near)


def _when(note: dict[str, Any]) -> str | None:
    """When a note was written; a time without a zone is read as UTC."""
    told = note.get("at") or note.get("when")
    return (
        None if told is None else datetime.fromisoformat(told).replace(tzinfo=UTC).isoformat() if _bare(told) else told
    )


def _bare(told: str) -> bool:
    return datetime.fromisoformat(told).tzinfo is None


def extraction(data: Path | None, part: str, say: Say | None = None, file: Path | None = None) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for name, notes in lines(data, "extraction", part, file):
        for note in notes:
            counts.update(_compare(note))
        if say:
            say(f"{name}: {counts['notes']} notes so far")
    rates = {
        "entity precision": ("entity hits", "entities read"), "entity recall": ("entity hits", "entities there"),
        "kinds right": ("kinds right", "entity hits"), "relation precision": ("relation hits", "relations read"),
        "relation recall": ("relation hits", "relations there"), "direction": ("relation hits", "related pairs"),
    }  # fmt: skip
    figures = {name: round(counts[hits] / max(1, counts[of]), 4) for name, (hits, of) in rates.items()}
    return {"part": part, "notes": counts["notes"], **figures, **provenance()}


def _compare(note: dict[str, Any]) -> Counter[str]:
    read = extract(note["text"])
    there = {key_of(one["name"], one["type"]): one["type"] for one in note["entities"]}
    got = {one.key: one.kind for one in read.entities}
    kinds = {one["name"]: one["type"] for one in note["entities"]}
    said = {
        (key_of(head, kinds.get(head, "")), relation, key_of(tail, kinds.get(tail, "")))
        for head, relation, tail in note["relations"]
        if relation in RELATIONS
    }
    told = {(one.head, one.relation, one.tail) for one in read.relations if one.relation in RELATIONS}
    turned = {(head, relation, tail) for head, relation, tail in told - said if (tail, relation, head) in said}
    return Counter({
        "notes": 1, "entities there": len(there), "entities read": len(got), "entity hits": len(there.keys() & got),
        "kinds right": sum(got[key] == there[key] for key in there.keys() & got),
        "relations there": len(said), "relations read": len(told), "relation hits": len(said & told),
        "related pairs": len(said & told) + len(turned),
    })  # fmt: skip


def render(found: dict[str, Any]) -> str:
    rows = []
    for name, value in found.items():
        told = ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else value
        rows.append(f"{name}: {told}")
    return "\n".join(rows)
