"""Topics: plain notes of a team or a person, and what newcomers ask in words that the notes do not have.

In `training/authored/topics`, one section a topic: values (`v`), notes (`n`) with a value and another one, questions
that such a note answers (`q`), tasks and remarks with which it helps (`t`), and questions close by that it does not
answer (`x`). `stores` makes small stores of them, in the form of `training/prompts`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parent / "authored" / "topics"
CLOSE, APART = 4, 40  # the nearest topics by the embedder, whose notes may well answer too, and those after them
SIZES, KINDS = (1, 2, 3, 4, 6, 9, 14, 20), ("fact", "decision", "rule", "preference")
MOST = 8  # topics of a store that are asked about
Topic = dict[str, list[str]]


def topics(path: Path) -> dict[str, Topic]:
    found: dict[str, Topic] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        what, _, said = line.partition(" ")
        if what == "#":
            name, found[said] = said, defaultdict(list)
        else:
            found[name][what] += said.split(" | ") if what == "v" else [said]
    return found


def note(topic: Topic, chance: random.Random) -> str:
    value, other = chance.sample(topic["v"], 2)
    said = chance.choice(topic["n"]).replace("{v}", value).replace("{w}", other)
    return said[0].upper() + said[1:]


def apart(every: dict[str, Topic]) -> dict[str, Sequence[str]]:
    """The topics whose notes say nothing on what is asked of each, though they are not far from it."""
    import numpy as np

    from recollect.models.embedder import load

    chance = random.Random(3)
    notes = load().embed([note(topic, chance) for topic in every.values() for _ in range(3)], "document")
    found: dict[str, Sequence[str]] = {}
    for name, topic in every.items():
        near = (notes @ load().embed(topic["q"], "query").mean(0)).reshape(-1, 3).max(1)
        order = [other for other in (list(every)[n] for n in np.argsort(-near)) if other != name]
        found[name] = order[CLOSE : CLOSE + APART]
    return found


def stores(chance: random.Random, count: int = 48, place: Path = PLACE) -> Iterator[dict[str, Any]]:
    """Small stores of notes with questions about them, about half of which nothing answers."""
    every = {name: topic for path in sorted(place.glob("*.txt")) for name, topic in topics(path).items()}
    far = apart(every)
    for number in range(count):
        own = chance.sample(list(every), SIZES[number % len(SIZES)])
        notes = [
            {"id": name, "kind": chance.choice(KINDS), "text": note(every[name], chance), "at": "2026-03-12"}
            for name in own
        ]
        asked: list[dict[str, Any]] = []
        for name in chance.sample(own, min(MOST, len(own))):
            asked += [{"ask": one, "answers": [name]} for one in chance.sample(every[name]["q"], 2)]
            asked.append({"ask": chance.choice(every[name]["x"]), "answers": []})
            strange = chance.choice([other for other in far[name] if other not in own])
            if all(strange in far[one] or one in far[strange] for one in own):
                asked.append({"ask": chance.choice(every[strange]["q"]), "answers": []})
        yield {"store": f"topics-{number}", "notes": notes, "questions": asked}
