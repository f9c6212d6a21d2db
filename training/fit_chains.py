"""Fit which chains of memories lead to an answer and which questions want one; writes src/recollect/recall/chains.json.

    python training/fit_chains.py [--check] [--rounds 2]

Questions that need several memories lie in `training/multihop`; those of `training/notes` need one. Each is asked in a
store that holds them all. A chain is right that ends at an answer and has no memory beside the path. Listwise over the
chains of a question; the gate is a logistic regression. Figures are of stores that were left out of the fit. The search
is itself steered by the weights, so it is fitted and collected in rounds.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recollect
from recollect.models import embedder
from recollect.recall import chains, read
from recollect.types import Draft

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "src" / "recollect" / "recall" / "chains.json"
SINGLE = ("a1", "b4", "e3", "f5", "h2")  # projects of training/notes
OF_EACH, SHARE = 40, 0.75  # questions of each; of theirs, those that the gate is to keep out
NOW = datetime(2026, 6, 1, tzinfo=UTC)
Floats = NDArray[np.float64]


@dataclass
class Example:
    """A question, with what was found for it and the numbers of the chains that were looked at."""

    store: str
    ask: str
    answers: frozenset[str]
    path: frozenset[str]
    hits: list[str] = field(default_factory=list)
    gate: dict[str, float] = field(default_factory=dict)
    chains: dict[tuple[str, ...], dict[str, float]] = field(default_factory=dict)

    @property
    def is_multi(self) -> bool:
        return bool(self.path)

    def rows(self) -> tuple[list[tuple[str, ...]], Floats, NDArray[np.bool_]]:
        ways = list(self.chains)
        rows = np.array([[self.chains[way][name] for name in chains.FEATURES] for way in ways])
        right = np.array([way[-1] in self.answers and self.path.issuperset(way) for way in ways])
        return ways, rows, right


def prepare(memory: recollect.Engine) -> list[Example]:
    """Put all notes into one store."""
    examples: list[Example] = []
    for file in sorted((ROOT / "training" / "multihop").glob("*.jsonl")):
        for store in map(json.loads, file.read_text("utf-8").splitlines()):
            kept = memory.remember_many([Draft(note["text"]) for note in store["notes"]])
            ids = {note["id"]: one.id for note, one in zip(store["notes"], kept, strict=True)}
            for one in store["questions"]:
                answers, path = ([ids[id] for id in one[name]] for name in ("answers", "path"))
                examples.append(Example(store["store"], one["ask"], frozenset(answers), frozenset(path)))
    for name in SINGLE:
        lines = [
            json.loads(line) for line in (ROOT / "training/notes" / f"{name}.jsonl").read_text("utf-8").splitlines()
        ]
        notes, asked = [[line for line in lines if key in line] for key in ("content", "question")]
        kept = memory.remember_many([Draft(note["content"]) for note in notes])
        ids = {note["key"]: one.id for note, one in zip(notes, kept, strict=True)}
        for one in random.Random(1).sample(asked, min(OF_EACH, len(asked))):
            if answers := [ids[key] for key in one["answers"] if key in ids]:
                examples.append(Example(name, one["question"], frozenset(answers), frozenset()))
    return examples


def collect(memory: recollect.Engine, examples: Sequence[Example], limit: int) -> None:
    """Ask each question, and keep what the search saw."""
    now: dict[str, Any] = {}

    class Kept(chains.Chains):
        def find(self) -> list[chains.Chain]:
            super().find()
            now["chains"] = self.numbers
            return []

    def gate(*given: Any) -> float:
        now["gate"] = chains.gate(*given)
        return 1.0

    setattr(read, "Chains", Kept)  # noqa: B010 - what recall looks up
    setattr(read, "wants_chain", gate)  # noqa: B010
    for number, one in enumerate(examples):
        now.clear()
        one.hits = [hit.memory.id for hit in memory.recall(one.ask, limit=limit, peek=True).hits]
        one.gate, one.chains = now.get("gate", {}), dict(now.get("chains", {}))
        if number % 50 == 0:
            print(f"{number} of {len(examples)}", flush=True)


def scaled(rows: Floats) -> tuple[Floats, Floats]:
    return rows.mean(axis=0), rows.std(axis=0) + 1e-6


def descend(slope: Any, size: int, steps: int = 300, rate: float = 0.05) -> Floats:
    """Weights by Adam."""
    weights, first, second = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, steps + 1):
        down = slope(weights)
        first, second = 0.9 * first + 0.1 * down, 0.99 * second + 0.01 * down**2
        weights = weights - rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def fit_order(examples: Sequence[Example], mean: Floats, spread: Floats) -> Floats:
    sets = [((rows - mean) / spread, right) for one in examples for _, rows, right in [one.rows()] if right.any()]

    def slope(weights: Floats) -> Floats:
        down = 0.02 * weights
        for rows, right in sets:
            scores = rows @ weights
            share = np.exp(scores - scores.max())
            share /= share.sum()
            wanted = share * right
            down = down + rows.T @ (share - wanted / (wanted.sum() + 1e-9)) / len(sets)
        return down

    return descend(slope, len(mean))


def fit_gate(examples: Sequence[Example], mean: Floats, spread: Floats) -> Floats:
    """The weights, and last the bias."""
    rows = np.array([[*((numbers(one) - mean) / spread), 1.0] for one in examples])
    wanted = np.array([one.is_multi for one in examples], float)

    def slope(weights: Floats) -> Floats:
        down = rows.T @ (1 / (1 + np.exp(-rows @ weights)) - wanted) / len(rows)
        down[:-1] += 0.02 * weights[:-1]
        return np.asarray(down)

    return descend(slope, len(mean) + 1, 600)


def numbers(one: Example) -> Floats:
    return np.array([one.gate[name] for name in chains.GATE])


def inserted(one: Example, weights: Floats, mean: Floats, spread: Floats) -> list[str]:
    """The hits with the ends of the best chains."""
    if not one.chains:
        return one.hits
    ways, rows, _ = one.rows()
    order = [ways[n][-1] for n in np.argsort(-((rows - mean) / spread @ weights), kind="stable")]
    ends = [id for id in dict.fromkeys(order) if id not in one.hits[: chains.KEPT]][: chains.JOINED]
    return [*one.hits[: chains.KEPT], *ends, *(id for id in one.hits[chains.KEPT :] if id not in ends)]


def report(examples: Sequence[Example], mean: Floats, spread: Floats, gates: tuple[Floats, Floats]) -> float:
    """Prints the figures of stores left out; gives the odds from which the gate opens."""
    multi = [one for one in examples if one.is_multi and one.chains]
    odds: dict[str, float] = {}
    found = {"before": 0.0, "without a gate": 0.0, "reached": 0.0}
    orders: dict[str, Floats] = {}
    for store in sorted({one.store for one in examples}):
        others = [one for one in examples if one.store != store and one.gate]
        weights = fit_gate(others, *gates)
        orders[store] = fit_order([one for one in others if one.is_multi and one.chains], mean, spread)
        for one in (one for one in examples if one.store == store and one.gate):
            odds[one.ask] = float(((numbers(one) - gates[0]) / gates[1]) @ weights[:-1] + weights[-1])
    cut = float(np.quantile([odds[one.ask] for one in examples if not one.is_multi and one.ask in odds], SHARE))
    for one in multi:
        new = inserted(one, orders[one.store], mean, spread)[:5]
        found["before"] += not one.answers.isdisjoint(one.hits[:5])
        found["without a gate"] += not one.answers.isdisjoint(new)
        found["reached"] += any(way[-1] in one.answers for way in one.chains)
        end = new if odds[one.ask] >= cut else one.hits[:5]
        name = f"gated, {min(len(one.path), 4)} memories"
        found[name] = found.get(name, 0) + (not one.answers.isdisjoint(end))
        found["gated"] = found.get("gated", 0) + (not one.answers.isdisjoint(end))
    print({name: round(count / len(multi), 3) for name, count in found.items()}, len(multi))
    for share in (0.6, 0.7, 0.8, 0.85, 0.9, 0.95):
        at = np.quantile([odds[one.ask] for one in examples if not one.is_multi and one.ask in odds], share)
        print(
            f"{share:.2f} of the others kept out: {np.mean([odds[one.ask] >= at for one in multi]):.3f} of these pass"
        )
    return cut


def fit(examples: Sequence[Example]) -> dict[str, Any]:
    multi, gated = [one for one in examples if one.is_multi and one.chains], [one for one in examples if one.gate]
    mean, spread = scaled(np.concatenate([one.rows()[1] for one in multi]))
    gates = scaled(np.array([numbers(one) for one in gated]))
    wanted = report(examples, mean, spread, gates)
    order, gate = fit_order(multi, mean, spread), fit_gate(gated, *gates)
    return {
        "about": "Fitted by training/fit_chains.py",
        "model": embedder.load("default").model,
        "bias": round(float(gate[-1]), 4),
        "wanted": round(wanted, 4),
        "features": _table(chains.FEATURES, mean, spread, order),
        "gate": _table(chains.GATE, *gates, gate[:-1]),
    }


def _table(names: Sequence[str], *columns: Floats) -> dict[str, list[float]]:
    return {name: [round(float(v), 4) for v in row] for name, *row in zip(names, *columns, strict=True)}


def stores() -> Iterator[recollect.Engine]:
    with tempfile.TemporaryDirectory() as folder:
        model = embedder.load("default")
        with recollect.open(Path(folder) / "memory.db", embedder=model, now=lambda: NOW) as memory:
            yield memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="Write nothing.")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    for memory in stores():
        examples = prepare(memory)
        for turn in range(options.rounds):
            collect(
                memory, examples if turn == 0 else [one for one in examples if one.is_multi], 10 + turn
            )  # not cached
            told = fit(examples)
            if not options.check or turn + 1 < options.rounds:
                TARGET.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
            chains.load.cache_clear()


if __name__ == "__main__":
    main()
