"""Time: two clocks around everything. CPU seconds are what a busy machine cannot spoil; wall stands beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Summary = dict[str, float]


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies, without interpolation.

    >>> quantile([3, 1, 2], 0.5)
    2
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass(slots=True)
class Times:
    """CPU and wall seconds of many runs of one thing, all threads of the process counted."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @contextmanager
    def once(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)

    def milliseconds(self) -> Summary:
        clocks = (("cpu", self.cpu), ("wall", self.wall))
        return {f"{name}_p{p}_ms": round(quantile(took, p / 100) * 1000, 3) for name, took in clocks for p in (50, 95)}

    def rate(self, each: int = 1) -> Summary:
        """How many things a second, when every run did `each` of them."""
        done = each * len(self.cpu)
        spent = {"cpu": sum(self.cpu), "wall": sum(self.wall)}
        seconds = {f"{name}_s": round(took, 3) for name, took in spent.items()}
        return seconds | {f"per_{name}_s": round(done / took, 1) for name, took in spent.items()}


class TwoClocks:
    """Stands in for the read path's stopwatch and keeps both clocks of each stage, over all questions."""

    stages: dict[str, Times]

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        with self.stages.setdefault(name, Times()).once():
            yield
