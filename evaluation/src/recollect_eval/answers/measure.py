"""Measure which questions are taken for the same: on labelled pairs, in a full cache, and on our own two sets.

Three ways to decide stand side by side: the cosine alone, the cosine with the vetoes, and `relation` with both. A cache
is simulated with every question of the pairs in it, and each of them asked once: a hit on a pair with a label is right
or wrong, any other is not judged. The reliability curve says how often pairs of a probability really are the same.
Nothing was fitted on the public pairs.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.answers.policy import RISKS
from recollect.answers.service import OFFER
from recollect.models.embedder import Embedder
from recollect.models.embedder import load as load_model
from recollect.models.relation import Relation, relation
from recollect.vectors import Floats

from ..cache import CachedEmbedder
from ..corpus import place, read_json
from ..provenance import provenance
from . import Pair, pairs
from .plot import draw

NAME = "answers_eval"
WAYS = ("ours", "cosine + vetoes", "cosine")
SERVE = RISKS["normal"].serve
BINS = 10
PRECISIONS = (0.85, 0.9, 0.93, 0.95)
COSINES = (0.85, 0.9, 0.95, 0.97)
NEAREST, LEAST = 4, 0.8  # how many cached questions a simulated look judges, and how near one must be
Say = Callable[[str], None]


def run(data: Path | None = None, cache: Path | None = None, say: Say | None = None) -> dict[str, Any]:
    """Everything `recollect eval answers` tells; `data` is the folder of the public data, `cache` one for vectors."""
    tell = say or (lambda _: None)
    loaded = load_model("default")
    model: Embedder = CachedEmbedder(loaded, cache) if cache else loaded
    told: list[dict[str, Any]] = read_json(place(data, "qqp") / "pairs_dev.json.gz")
    tell(f"answers: {len(told)} labelled pairs")
    labelled = _labelled(told, model)
    tell("answers: a cache of all of them, each asked once")
    simulated = _simulated(told, model)
    own = {name: _own(pairs(name)) for name in ("refuse", "hit")}
    return {
        "name": NAME, "settings": {"model": model.model, "serve": SERVE, "offer": OFFER, "pairs": len(told)},
        "provenance": provenance(), **labelled, "simulation": simulated, "own": own,
    }  # fmt: skip


def _vectors(model: Embedder, questions: Sequence[str]) -> Floats:
    return model.embed(list(questions), "query")


# -- labelled pairs ---------------------------------------------------------------------------------------------------


def _labelled(told: Sequence[Mapping[str, Any]], model: Embedder) -> dict[str, Any]:
    one, other = (_vectors(model, [pair[side] for pair in told]) for side in ("text_a", "text_b"))
    cosines = (one * other).sum(axis=1)
    judged = [relation(pair["text_a"], pair["text_b"], "question") for pair in told]
    same = np.array([bool(pair["label"]) for pair in told])
    passed = np.array([not one.reasons for one in judged])
    probability = np.array([one.probability for one in judged])
    scores = {"ours": probability * passed, "cosine + vetoes": cosines * passed, "cosine": cosines}
    served = np.array([one.is_sure("same", SERVE) for one in judged])
    return {
        "served": _figures(served, same),
        "reliability": reliability(probability, same),
        "recall at": {way: {str(p): _recall_at(scores[way], same, p) for p in PRECISIONS} for way in WAYS},
        "at cosine": {str(cut): _figures(cosines >= cut, same) for cut in COSINES},
        "at cosine, guarded": {str(cut): _figures((cosines >= cut) & passed, same) for cut in COSINES},
        "curve": {way: _curve(scores[way], same) for way in WAYS},
    }


def _figures(served: NDArray[np.bool_], same: NDArray[np.bool_]) -> dict[str, float]:
    right = int((served & same).sum())
    return {
        "precision": round(right / max(int(served.sum()), 1), 4),
        "recall": round(right / max(int(same.sum()), 1), 4),
        "false hits": round(int((served & ~same).sum()) / max(int((~same).sum()), 1), 4),
        "served": int(served.sum()),
    }


def reliability(probability: Floats, same: NDArray[np.bool_]) -> list[list[float]]:
    """For each range of probabilities that has pairs: their mean, the share that really is the same, and how many."""
    places = np.minimum((probability * BINS).astype(int), BINS - 1)
    found = []
    for number in range(BINS):
        own = places == number
        if own.any():
            found.append([round(float(probability[own].mean()), 3), round(float(same[own].mean()), 3), int(own.sum())])
    return found


def _ranked(scores: NDArray[np.floating[Any]], same: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Recall and precision when the best n are served, for each n whose score is above nothing."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0]
    right = np.cumsum(same[order])
    return (right / same.sum()).astype(np.float32), (right / np.arange(1, len(order) + 1)).astype(np.float32)


def _recall_at(scores: NDArray[np.floating[Any]], same: NDArray[np.bool_], precision: float) -> float:
    """The most duplicates that are served while the precision still holds; a lucky handful on top does not count."""
    recall, held = _ranked(scores, same)
    enough = np.flatnonzero((held >= precision) & (np.arange(len(held)) >= 50))
    return round(float(recall[enough[-1]]), 4) if len(enough) else 0.0


def _curve(scores: NDArray[np.floating[Any]], same: NDArray[np.bool_]) -> list[list[float]]:
    recall, precision = _ranked(scores, same)
    points = []
    for wanted in np.arange(0.02, 0.901, 0.02):
        if wanted > recall[-1]:
            break
        at = int(np.searchsorted(recall, wanted))
        points.append([round(float(recall[at]), 4), round(float(precision[at]), 4)])
    return points


# -- a full cache -----------------------------------------------------------------------------------------------------


def _simulated(told: Sequence[Mapping[str, Any]], model: Embedder) -> dict[str, Any]:
    labels = {frozenset((pair["text_a"], pair["text_b"])): bool(pair["label"]) for pair in told}
    questions = list(dict.fromkeys(question for pair in told for question in (pair["text_a"], pair["text_b"])))
    vectors = _vectors(model, questions)
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for number, near in _neighbours(vectors):
        asked = questions[number]
        best = [questions[one] for one, _ in near]
        for cut in (0.85, 0.95):
            if near and near[0][1] >= cut:
                tallies[f"cosine {cut}"][_verdict(labels, asked, best[0])] += 1
        judged = [(relation(asked, questions[one], "question"), questions[one]) for one, _ in near]
        served = [(one.probability, known) for one, known in judged if one.is_sure("same", SERVE)]
        if served:
            tallies["ours"][_verdict(labels, asked, max(served)[1])] += 1
    return {way: _hits(tally, len(questions)) for way, tally in sorted(tallies.items())}


def _neighbours(vectors: Floats) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """For each question those nearest to it, itself left out."""
    for start in range(0, len(vectors), 256):
        block = vectors[start : start + 256] @ vectors.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -1
        nearest = np.argpartition(-block, NEAREST, axis=1)[:, :NEAREST]
        for row, columns in enumerate(nearest):
            near = sorted(((int(one), float(block[row, one])) for one in columns), key=lambda pair: -pair[1])
            yield start + row, [(one, cosine) for one, cosine in near if cosine >= LEAST]


def _verdict(labels: Mapping[frozenset[str], bool], asked: str, known: str) -> str:
    return {True: "right", False: "wrong", None: "unjudged"}[labels.get(frozenset((asked, known)))]


def _hits(tally: Counter[str], questions: int) -> dict[str, float]:
    hits = sum(tally.values())
    shares = {name: round(tally[name] / max(hits, 1), 4) for name in ("right", "wrong", "unjudged")}
    judged = tally["right"] + tally["wrong"]
    return {"hits": round(hits / questions, 4), **shares, "wrong of judged": round(tally["wrong"] / max(judged, 1), 4)}


# -- our own pairs ----------------------------------------------------------------------------------------------------


def verdict(found: Relation) -> str:
    """What the cache would do: serve, offer or miss."""
    if found.is_sure("same", SERVE):
        return "serve"
    return "offer" if found.probability >= OFFER else "miss"


def _own(chosen: Sequence[Pair]) -> dict[str, dict[str, int]]:
    """Part and kind → how many pairs there are, how many are served, how many offered."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in chosen:
        for row in (pair.part, pair.kind):
            table[row].update(("pairs", verdict(relation(pair.asked, pair.known, "question"))))
    return {row: {name: found[name] for name in ("pairs", "serve", "offer", "miss")} for row, found in table.items()}


# -- telling ----------------------------------------------------------------------------------------------------------


def render(found: Mapping[str, Any]) -> str:
    """The figures for a terminal, in percent."""
    served, curve = found["served"], found["recall at"]
    lines = [
        f"{found['settings']['pairs']} labelled pairs, {found['settings']['model']}",
        "",
        f"served at a risk of {SERVE}: precision {_share(served['precision'])}, recall {_share(served['recall'])}, "
        f"of the others {_share(served['false hits'])} served",
        "",
        "recall at a precision of".ljust(26) + "".join(f"{100 * p:.0f}".rjust(8) for p in PRECISIONS),
        *(way.ljust(26) + "".join(_share(row[str(p)]).rjust(8) for p in PRECISIONS) for way, row in curve.items()),
        "",
        "reliability: said".ljust(26) + "".join(f"{said:.2f}".rjust(7) for said, _, _ in found["reliability"]),
        "true".rjust(26) + "".join(f"{true:.2f}".rjust(7) for _, true, _ in found["reliability"]),
        "",
        "cosine alone".ljust(18) + "".join(name.rjust(12) for name in ("precision", "recall", "false hits")),
        *(
            f"at {cut}".ljust(18)
            + "".join(_share(row[name]).rjust(12) for name in ("precision", "recall", "false hits"))
            for cut, row in found["at cosine"].items()
        ),
        "",
        "of the hits of a cache".ljust(26) + "".join(name.rjust(10) for name in ("hits", "right", "wrong", "unjudged")),
        *(
            way.ljust(26) + "".join(_share(row[name]).rjust(10) for name in ("hits", "right", "wrong", "unjudged"))
            for way, row in found["simulation"].items()
        ),
        "",
        *(
            f"{title}, {part}: {row['serve']} served and {row['offer']} offered of {row['pairs']}"
            for name, title in (("refuse", "must refuse"), ("hit", "must hit"))
            for part, row in found["own"][name].items()
            if part in ("dev", "held")
        ),
    ]
    return "\n".join(lines)


def _share(value: float) -> str:
    return f"{100 * value:.1f}"


def save(found: Mapping[str, Any], folder: Path) -> Path:
    """Write the figures as JSON and the curves as a picture; gives the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}.json"
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".svg").write_text(draw(found["curve"], found["served"]), encoding="utf-8")
    return path
