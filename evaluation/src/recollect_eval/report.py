"""The report: the figures of one run, as JSON, as a table, and against a baseline.

A figure is a mean over questions with its bootstrap interval and their number. Figures are kept by system, slice and
metric; the slice "all" holds every question that the metric applies to.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recollect import text

from . import metrics
from .curve import draw

DROP = 0.02
BUDGETS = (128, 256, 512, 1024, 2048, 4096)
SUBJECT = "recollect"
LOWER_IS_BETTER = frozenset(("tokens@10", "leak"))


@dataclass(frozen=True, slots=True)
class Figure:
    mean: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        return cls(round(sum(values) / len(values), 4), *metrics.interval(values), len(values))

    def as_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "low": self.low, "high": self.high, "n": self.n}


Table = dict[str, dict[str, dict[str, Figure]]]  # system → slice → metric


@dataclass(frozen=True, slots=True)
class Report:
    """What one run measured."""

    name: str
    figures: Table
    headline: tuple[str, ...]
    targets: Mapping[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        table = {
            system: {
                slice: {metric: figure.as_dict() for metric, figure in row.items()} for slice, row in slices.items()
            }
            for system, slices in self.figures.items()
        }
        return {
            "name": self.name, "headline": list(self.headline), "targets": dict(self.targets),
            "settings": self.settings, "provenance": self.provenance, "spent": self.spent, "figures": table,
            "details": self.details,
        }  # fmt: skip

    def mean(self, metric: str, *, slice: str = "all", system: str = SUBJECT) -> float:
        return self.figures[system][slice][metric].mean

    def curve(self) -> dict[str, dict[int, float]]:
        """System → token budget → the share of the evidence that fits in."""
        return {
            system: {budget: row[name].mean for budget in BUDGETS if (name := f"evidence@{budget}") in row}
            for system, slices in self.figures.items()
            if (row := slices["all"]) and f"evidence@{BUDGETS[0]}" in row
        }


def render(report: Report, width: int = 100) -> str:
    """The report for a terminal: systems side by side, then the subject by slice, then the curve. In percent."""
    parts = [_title(report), *_systems(report, width), *_slices(report, width), *_curve(report, width)]
    return "\n".join(text.shorten(line, width) if len(line) > width else line.rstrip() for line in parts)


def _title(report: Report) -> str:
    asked = max(figure.n for figure in report.figures[SUBJECT]["all"].values())
    told = report.settings
    cpu = f", {report.spent['cpu_s']:.0f} s CPU" if "cpu_s" in report.spent else ""
    return f"{report.name}: {asked} questions, {told.get('memories', 0)} memories, {told.get('model', '')}{cpu}"


def _shown(name: str, value: float) -> str:
    return f"{value:.0f}" if name.startswith("tokens") else f"{100 * value:.1f}"


def _space(head: str) -> int:
    return max(len(head), 5) + 2


def _blocks(heads: Sequence[str], room: int) -> Iterator[list[str]]:
    """Column heads, as many at a time as fit beside each other."""
    block: list[str] = []
    for head in heads:
        if block and sum(map(_space, (*block, head))) > room:
            yield block
            block = []
        block.append(head)
    yield block


def _grid(rows: Mapping[str, Mapping[str, Figure]], heads: Sequence[str], width: int) -> Iterator[str]:
    """A table; a dash where a metric does not apply, and no row where none does."""
    first = max(len(name) for name in rows) + 1
    for block in _blocks(heads, width - first):
        yield ""
        yield " " * first + "".join(head.rjust(_space(head)) for head in block)
        for name, figures in rows.items():
            cells = [_shown(head, figures[head].mean) if head in figures else "–" for head in block]
            if any(cell != "–" for cell in cells):
                aligned = (cell.rjust(_space(head)) for cell, head in zip(cells, block, strict=True))
                yield name.ljust(first) + "".join(aligned)


def _systems(report: Report, width: int) -> Iterator[str]:
    rows = {system: slices["all"] for system, slices in report.figures.items()}
    yield from _grid(rows, [*report.headline, "tokens@10"], width)
    own = report.figures[SUBJECT]["all"]
    yield ""
    yield f"95 % intervals of {SUBJECT}"
    spans = [f"{m} {100 * own[m].low:.1f} to {100 * own[m].high:.1f}" for m in report.headline if m in own]
    yield from textwrap.wrap("; ".join(spans), width, break_long_words=False)
    for metric, target in report.targets.items():
        if metric in own:
            mark = "✓" if own[metric].mean >= target else "✗"
            yield f"{mark} {metric} {100 * own[metric].mean:.1f}, the target is {100 * target:.0f}"


def _slices(report: Report, width: int) -> Iterator[str]:
    slices = {slice: row for slice, row in sorted(report.figures[SUBJECT].items()) if slice != "all"}
    if slices:
        rows = {f"{slice} ({max(f.n for f in row.values())})": row for slice, row in slices.items()}
        yield from _grid(rows, report.headline, width)


def _curve(report: Report, width: int) -> Iterator[str]:
    if curve := report.curve():
        rows = {system: {str(b): Figure(mean, 0, 0, 0) for b, mean in row.items()} for system, row in curve.items()}
        yield ""
        yield "Evidence within so many tokens"
        yield from list(_grid(rows, [str(budget) for budget in BUDGETS], width))[1:]


def gate(report: Report, baseline: Mapping[str, Any], drop: float = DROP) -> list[str]:
    """What has become worse than the baseline: one line each, none when all is well.

    Held are the subject's headline metrics over all questions: none may fall by more than `drop`, nor, where so few
    questions count that one of them is more than that, by more than one question. Models round a little differently
    from processor to processor, and one swapped pair is not a regression.
    """
    for name, was, now in (
        ("name", baseline.get("name"), report.name),
        *((key, baseline.get("settings", {}).get(key), report.settings.get(key)) for key in ("data", "model", "part")),
    ):
        if was != now:
            return [f"the baseline is of another {name}: {was!r}, not {now!r}; make it anew"]
    then, own = baseline["figures"][SUBJECT]["all"], report.figures[SUBJECT]["all"]
    failed = []
    for metric in report.headline:
        if metric not in then:
            continue
        if metric not in own:
            failed.append(f"{metric} was {then[metric]['mean']:.3f} and is not measured any more")
            continue
        loss = (then[metric]["mean"] - own[metric].mean) * (-1 if metric in LOWER_IS_BETTER else 1)
        if loss > max(drop, 1 / own[metric].n) + 1e-6:
            failed.append(f"{metric} was {then[metric]['mean']:.3f} and is {own[metric].mean:.3f}")
    return failed


def save(report: Report, folder: Path) -> Path:
    """Write `<name>.json` and, where there is a curve, `<name>.svg`; gives the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report.name}.json"
    path.write_text(json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if curve := report.curve():
        title = f"{report.name}: evidence recalled within a token budget"
        path.with_suffix(".svg").write_text(draw(title, curve), encoding="utf-8")
    return path
