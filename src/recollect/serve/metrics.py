"""Metrics: what the server did, in Prometheus' text format. Written by hand: it is five lines a family."""

from __future__ import annotations

import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: Counter[str] = Counter()
        self.in_flight = 0
        self.streams = 0

    def done(self, operation: str, method: str, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[operation, method, status] += 1
            self._seconds[operation] += seconds  # type: ignore[assignment]  # counts in floats
            place = next((n for n, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
            self._buckets[operation][place] += 1

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """Everything, with gauges that only the caller knows: name → (help, value)."""
        with self._lock:
            lines = [*self._counted(), *self._timed()]
        gauges = gauges | {
            "recollect_http_requests_in_flight": ("Requests being answered.", self.in_flight),
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


def _head(name: str, kind: str, words: str) -> tuple[str, str]:
    return f"# HELP {name} {words}", f"# TYPE {name} {kind}"


def resident() -> int:
    """Bytes of memory the process holds: now where the system tells, else the most it ever held."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
