"""Statistics of recall: how long each stage takes, which arms find something, and OpenTelemetry spans.

No text of a question or memory is included.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..types import Recall

KEPT = 1024
QUANTILES = (0.5, 0.95, 0.99)
HOP = "hop "  # before the number of a step of a question to the graph, among the stages
log = logging.getLogger("recollect.recall")


def quantile(sorted_values: list[float], q: float) -> float:
    """The value below which a part of the values lies, by nearest rank.

    >>> [quantile([1.0, 2.0, 3.0, 4.0], q) for q in (0.5, 0.99)]
    [2.0, 4.0]
    """
    return sorted_values[min(len(sorted_values) - 1, max(0, -int(-q * len(sorted_values) // 1) - 1))]


class RecallStats:
    """What was seen of the recalls of one process; all engines made beside each other share one."""

    def __init__(self, traces: str = "") -> None:
        self._lock = threading.Lock()
        self._stages: dict[str, deque[float]] = {}
        self._totals: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self.arms: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.candidates: Counter[str] = Counter()  # relations that questions to the graph looked at, by hop
        self._traces = traces
        self._tracer: Any = None

    def recalled(self, found: Recall) -> None:
        """Note one recall that was not answered from the cache."""
        whole = sum(found.timings.values())
        with self._lock:
            for stage, spent in (*found.timings.items(), ("all", whole)):
                self._took(stage, spent / 1000)
            self.arms.update(arm for hit in found.hits for arm in hit.arms)
            self.skipped.update(reason.partition(":")[0] for reason in found.skipped)
            self.answers["empty" if not found.hits else "weak" if found.weak else "good"] += 1
        if log.isEnabledFor(logging.DEBUG):
            log.debug("recalled", extra={"fields": {"hits": [(hit.memory.id, sorted(hit.arms)) for hit in found.hits]}})
        if self._traces:
            self._send(found, whole)

    def hop(self, number: int, seconds: float, candidates: int) -> None:
        """Note one step of a question to the graph."""
        with self._lock:
            self._took(f"{HOP}{number}", seconds)
            self.candidates[str(number)] += candidates

    def _took(self, stage: str, seconds: float) -> None:
        self._stages.setdefault(stage, deque(maxlen=KEPT)).append(seconds)
        self._totals[stage] += seconds  # type: ignore[assignment]  # counts in floats
        self._counts[stage] += 1

    def stages(self) -> Iterator[tuple[str, dict[float, float], float, int]]:
        """Each stage with its quantiles in seconds over the newest recalls, and its sum and count over all."""
        with self._lock:
            kept = {stage: sorted(values) for stage, values in self._stages.items()}
            totals, counts = dict(self._totals), dict(self._counts)
        for stage, values in sorted(kept.items()):
            yield stage, {q: quantile(values, q) for q in QUANTILES}, float(totals[stage]), counts[stage]

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """A span around something that recalls, where spans are collected."""
        if not self._traces or (tracer := self._trace()) is None:
            yield
            return
        with tracer.start_as_current_span(name):
            yield

    def _send(self, found: Recall, whole: float) -> None:
        """The spans of a recall that has just ended: its stages lie one after the other, as they ran."""
        if (tracer := self._trace()) is None:
            return
        from opentelemetry import trace

        ended = time.time_ns()
        begun = ended - int(whole * 1e6)
        told = {"recollect.hits": len(found.hits), "recollect.arms": list(found.arms), "recollect.tokens": found.tokens,
                "recollect.weak": found.weak}  # fmt: skip
        span = tracer.start_span("recollect.recall", start_time=begun, attributes=told)
        inside = trace.set_span_in_context(span)
        for stage, spent in found.timings.items():
            part = tracer.start_span(f"recollect.recall.{stage}", context=inside, start_time=begun)
            begun += int(spent * 1e6)
            part.end(end_time=begun)
        span.end(end_time=ended)

    def _trace(self) -> Any:
        """The tracer, made when it is first needed; None, said once, where OpenTelemetry is not installed."""
        with self._lock:
            if self._tracer is None and self._traces:
                try:
                    self._tracer = _tracer(self._traces)
                except ImportError as error:
                    log.warning("no spans are sent: %s. Install them with: pip install recollect[traces]", error)
                    self._traces = ""
            return self._tracer


def _tracer(address: str) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "recollect"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
    return provider.get_tracer("recollect")
