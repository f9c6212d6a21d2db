"""Languages: notes and questions in six languages, and English questions over the same notes.

Each file beside this module holds the notes of one language: a line is a note, a question about it in the same
language, and one in English. Every language is a store of its own; `mixed` holds all notes in one store. A question is
found when its note is among the first five. It is asked again of a store without its note: then the answer should be
called weak, and with the note it should not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import recollect
from recollect.types import Recall

from .provenance import provenance

CODES = ("de", "fr", "es", "pt", "zh", "ja")
BARS = {"same": 0.85, "cross": 0.60}
FIRST = 5
Say = Callable[[str], None]
Line = tuple[str, str, str]


def lines(code: str) -> list[Line]:
    text = (resources.files(__package__) / "language_notes" / f"{code}.tsv").read_text("utf-8")
    return [(note, same, english) for note, same, english in (line.split("\t") for line in text.splitlines())]


def run(say: Say | None, **options: Any) -> dict[str, Any]:
    stores = {code: lines(code) for code in CODES}
    stores["mixed"] = [line for own in stores.values() for line in own]
    found = {}
    for code, own in stores.items():
        found[code] = measure(own, code != "mixed", **options)
        if say:
            say(f"{code}: {found[code]}")
    return {"figures": found, "provenance": provenance()}


def measure(own: list[Line], apart: bool = True, **options: Any) -> dict[str, float]:
    """Shares of the questions of one store, in their own language and in English; `apart` also without their note."""
    counts = dict.fromkeys(("same", "cross", "called_weak", "cross_called_weak", "rightly_weak"), 0)
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        recollect.open(Path(folder) / "store.db", actor="evaluate", **options) as engine,
    ):
        ids = [engine.remember(note).id for note, _, _ in own]
        for id, (_, same, english) in zip(ids, own, strict=True):
            for ask, hit, weak in ((same, "same", "called_weak"), (english, "cross", "cross_called_weak")):
                given = engine.recall(ask, limit=FIRST)
                right = has(given, id)
                counts[hit] += right
                counts[weak] += right and given.weak
        for id, (note, same, _) in zip(ids, own, strict=True) if apart else ():
            engine.forget(id)
            counts["rightly_weak"] += engine.recall(same, limit=FIRST).weak
            engine.remember(note)
    of = {"called_weak": counts["same"], "cross_called_weak": counts["cross"]}
    return {name: round(count / max(1, of.get(name, len(own))), 3) for name, count in counts.items()}


def has(given: Recall, id: str) -> bool:
    return any(hit.memory.id == id for hit in given.hits)


def render(found: dict[str, Any]) -> str:
    rows = ["language  same recall@5  English recall@5  right called weak  English  no answer: called weak"]
    for code, told in found["figures"].items():
        figures = "  ".join(f"{100 * told[name]:12.1f}" for name in told)
        rows.append(f"{code:8}{figures}")
    rows.append(f"bars: same {BARS['same']:.0%}, English questions {BARS['cross']:.0%} (with the multilingual model)")
    return "\n".join(rows)
