"""Metrics in the text format of Prometheus: `Metrics` counts requests, `families` asks an engine for the rest."""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from ..engine import Engine
from ..upkeep.recall_stats import HOP, QUANTILES, quantile

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: Counter[str] = Counter()
        self._journal: tuple[float, int] | None = None
        self.shed: Counter[str] = Counter({"caller": 0, "full": 0, "waited": 0})
        self.waiting = 0
        self.in_flight = 0
        self.streams = 0

    def rate(self, head: int, now: float) -> float:
        """Changes a second since the last look at the journal."""
        with self._lock:
            before, self._journal = self._journal, (now, head)
        return (head - before[1]) / (now - before[0]) if before and now > before[0] else 0.0

    def done(self, operation: str, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[operation, method, status] += 1
            self._seconds[operation] += seconds  # type: ignore[assignment]  # counts in floats
            place = next((n for n, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
            self._buckets[operation][place] += 1

    def text(self, gauges: dict[str, tuple[str, float]], more: Iterable[str] = ()) -> str:
        """Everything, with gauges that only the caller knows: name → (help, value), and lines of other families."""
        with self._lock:
            lines = [*self._counted(), *self._timed()]
        words = "Requests refused because too many waited: of the caller, of all, or for too long."
        lines += _labelled("recollect_http_shed_total", "counter", words, "reason", self.shed)
        lines += more
        gauges = gauges | {
            "recollect_http_requests_in_flight": ("Requests being answered.", self.in_flight),
            "recollect_http_requests_waiting": ("Requests that wait for their turn.", self.waiting),
            "recollect_http_streams": ("Event streams that are open.", self.streams),
            "process_resident_memory_bytes": ("Memory of the process.", resident()),
        }
        for name, (words, value) in gauges.items():
            lines += [*_head(name, "gauge", words), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"

    def _counted(self) -> Iterator[str]:
        name = "recollect_http_requests_total"
        yield from _head(name, "counter", "Requests answered.")
        for (operation, method, status), count in sorted(self._requests.items()):
            yield f'{name}{{operation="{operation}",method="{method}",status="{status}"}} {count}'

    def _timed(self) -> Iterator[str]:
        name = "recollect_http_request_seconds"
        yield from _head(name, "histogram", "How long requests took.")
        for operation, counts in sorted(self._buckets.items()):
            total = 0
            for most, count in zip([*map(str, BUCKETS), "+Inf"], counts, strict=True):
                total += count
                yield f'{name}_bucket{{operation="{operation}",le="{most}"}} {total}'
            yield f'{name}_sum{{operation="{operation}"}} {self._seconds[operation]:.6f}'
            yield f'{name}_count{{operation="{operation}"}} {total}'


def families(engine: Engine, now: datetime) -> Iterator[str]:
    """What an engine knows of its own work."""
    yield from _stages(engine)
    watch = engine.watch
    for name, words, label, counts in (
        ("recollect_recall_arm_hits_total", "Hits that an arm of recall found.", "arm", watch.arms),
        ("recollect_recall_skipped_total", "Recalls that went without a part.", "part", watch.skipped),
        ("recollect_recall_answers_total", "Recalls by how well the answer fits.", "answer", watch.answers),
    ):
        yield from _labelled(name, "counter", words, label, counts)
    cache = engine.stats()["recall_cache"]
    numbers = {key: value for key, value in cache.items() if isinstance(value, int | float)}
    yield from _labelled("recollect_recall_cache", "gauge", "The cache of recalls.", "of", numbers)
    yield from _queue(engine, now)
    if measured := engine.health.last():
        words = "recall@10 of the vector index against exact search, when last measured."
        yield from _labelled("recollect_index_recall", "gauge", words, "filter", measured.recall)
    yield from _labelled(
        "recollect_graph", "gauge", "The graph: its size, and memories unread.", "of", engine.health.graph_size()
    )
    words = "Relations that questions to the graph looked at."
    yield from _labelled("recollect_graph_candidates_total", "counter", words, "hop", watch.candidates)
    budgets = engine.spending.report()["budgets"]
    spent = {window: budgets[window]["spent"] for window in ("day", "month")}
    yield from _labelled("recollect_models_dollars", "gauge", "What models cost.", "window", spent)
    if (last := engine.janitor.last()) and last.finished_at:
        yield from _head("recollect_janitor_finished_seconds", "gauge", "When the janitor last ended, in Unix time.")
        yield f"recollect_janitor_finished_seconds {last.finished_at.timestamp():.0f}"


def _stages(engine: Engine) -> Iterator[str]:
    stages = [*engine.watch.stages()]
    for name, label, what, hops in (
        ("recollect_recall_stage_seconds", "stage", "stages of recall", False),
        ("recollect_graph_hop_seconds", "hop", "hops of a question to the graph", True),
    ):
        yield from _head(name, "summary", f"How long the {what} took; the quantiles are of the newest 1024.")
        for stage, quantiles, total, count in stages:
            if stage.startswith(HOP) != hops:
                continue
            told = f'{label}="{stage.removeprefix(HOP)}"'
            for q, seconds in quantiles.items():
                yield f'{name}{{{told},quantile="{q:g}"}} {seconds:.6f}'
            yield f"{name}_sum{{{told}}} {total:.6f}"
            yield f"{name}_count{{{told}}} {count}"


def _queue(engine: Engine, now: datetime) -> Iterator[str]:
    """Jobs by state, the oldest that is due, and how long what was said took to be known."""
    jobs = engine.jobs.list(limit=1000)
    states = Counter(job.state for job in jobs if job.state in ("queued", "running", "failed"))
    states.update({"queued": 0, "running": 0, "failed": 0})
    yield from _labelled("recollect_jobs", "gauge", "Jobs among the newest thousand.", "state", states)
    due = [max(0.0, (now - job.run_at).total_seconds()) for job in jobs if job.state == "queued" and job.run_at <= now]
    yield from _head("recollect_jobs_oldest_due_seconds", "gauge", "How long the oldest due job has waited.")
    yield f"recollect_jobs_oldest_due_seconds {max(due, default=0.0):.3f}"
    lags = sorted(
        (job.finished_at - job.created_at).total_seconds()
        for job in jobs if job.kind == "capture" and job.state == "done" and job.finished_at
    )  # fmt: skip
    name = "recollect_write_readable_seconds"
    yield from _head(name, "summary", "From asking that something said be looked at, until what it says is known.")
    for q in QUANTILES if lags else ():
        yield f'{name}{{quantile="{q:g}"}} {quantile(lags, q):.3f}'
    yield f"{name}_sum {sum(lags):.3f}"
    yield f"{name}_count {len(lags)}"


def _labelled(name: str, kind: str, words: str, label: str, values: Mapping[str, float]) -> Iterator[str]:
    yield from _head(name, kind, words)
    for key, value in sorted(values.items()):
        yield f'{name}{{{label}="{key}"}} {value:g}'


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


def resident() -> int:
    """Bytes of memory the process holds: now where the system tells, else the most it ever held."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        try:
            import resource
        except ImportError:  # Windows
            return 0
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
