"""Screen: what a running daemon does, drawn from its metrics for `recollect top`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..entrypoints.link import Link
from ..errors import ServerUnavailable

_LINE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>[^}]*)\})? (?P<value>[-+.\deEinfNa]+)$")
_LABEL = re.compile(r'(\w+)="([^"]*)"')
STAGES = ("understand", "text", "embed", "vector", "time", "links", "fuse", "rank", "select", "all")


@dataclass(frozen=True, slots=True)
class Sample:
    """The metrics of one moment: by name, then by the values of their labels."""

    values: dict[str, dict[tuple[tuple[str, str], ...], float]] = field(default_factory=dict)

    def of(self, name: str, **labels: str) -> float:
        """The sum of the values that have these labels."""
        found = self.values.get(name, {})
        return sum(value for key, value in found.items() if labels.items() <= dict(key).items())

    def by(self, name: str, label: str) -> dict[str, float]:
        return {dict(key).get(label, ""): value for key, value in self.values.get(name, {}).items()}

    def as_dict(self) -> dict[str, Any]:
        return {
            name: [{**dict(key), "value": value} for key, value in some.items()] for name, some in self.values.items()
        }


def read(text: str) -> Sample:
    """
    >>> read('# HELP x y\\nx{a="1",b="2"} 3\\ny 4.5').of("x", a="1")
    3.0
    """
    values: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for line in text.splitlines():
        if found := _LINE.match(line):
            labels = tuple(sorted(_LABEL.findall(found["labels"] or "")))
            values.setdefault(found["name"], {})[labels] = float(found["value"])
    return Sample(values)


def look(daemon: Link) -> Sample:
    """The metrics of a daemon now."""
    try:
        answer = daemon.request("GET", "/metrics", timeout=10.0)
    except OSError as error:
        raise ServerUnavailable(f"The daemon does not answer: {error}.", fix="See: recollect status") from error
    if answer.status != 200:
        raise ServerUnavailable(f"The daemon answered {answer.status}.", fix="See: recollect logs")
    return read(answer.body.decode("utf-8", "replace"))


def drawn(now: Sample, before: Sample | None = None) -> str:
    """One screen."""
    requests, errors = _requests(now)
    since = _requests(before) if before else (0.0, 0.0)
    fresh = f" (+{requests - since[0]:.0f})" if before else ""
    lines = [
        f"requests {requests:.0f}{fresh}, {errors:.0f} failed, {now.of('recollect_http_requests_in_flight'):.0f} in "
        f"flight, {now.of('recollect_http_streams'):.0f} streams · memory "
        f"{now.of('process_resident_memory_bytes') / 1e6:.0f} MB",
        f"journal  {now.of('recollect_journal_seq'):.0f} changes, {now.of('recollect_journal_rate'):.2f} a second",
        "",
        f"{'stage':<12}{'p50':>9}{'p95':>9}{'p99':>9}   ms of the newest recalls",
    ]
    name = "recollect_recall_stage_seconds"
    known = set(now.by(name, "stage"))
    for stage in [one for one in STAGES if one in known] + sorted(known - {*STAGES, ""}):
        cells = (f"{now.of(name, stage=stage, quantile=q) * 1000:9.1f}" for q in ("0.5", "0.95", "0.99"))
        lines.append(f"{stage:<12}{''.join(cells)}")
    lines += ["", *(_row(now, *row) for row in ROWS)]
    return "\n".join(lines)


ROWS = (
    ("arms", "recollect_recall_arm_hits_total", "arm", ""),
    ("answers", "recollect_recall_answers_total", "answer", ""),
    ("skipped", "recollect_recall_skipped_total", "part", ""),
    ("cache", "recollect_recall_cache", "of", ""),
    ("jobs", "recollect_jobs", "state", ""),
    ("index", "recollect_index_recall", "filter", " recall@10"),
    ("cost", "recollect_models_dollars", "window", " dollars"),
)


def _row(now: Sample, title: str, name: str, label: str, unit: str) -> str:
    told = ", ".join(f"{key} {value:g}" for key, value in sorted(now.by(name, label).items()))
    return f"{title:<9}{told or '–'}{unit if told else ''}"


def _requests(sample: Sample) -> tuple[float, float]:
    statuses = sample.values.get("recollect_http_requests_total", {})
    failed = sum(value for key, value in statuses.items() if dict(key).get("status", "2")[0] == "5")
    return sum(statuses.values()), failed
