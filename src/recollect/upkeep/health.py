"""Health of recall: whether the vector index still finds what an exact search finds.

Fifty questions are made from the store's own memories (those whose ids hash lowest) and asked through the index and
exactly: unfiltered, in one project, with one tag, within a few days. Below 0.90, or 5 % below the first measurement
with that model, the index is rebuilt and measured again. `health.json` in the home folder has numbers and model names
only.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .. import text, times
from ..entrypoints.private import write_private
from ..errors import NotFound
from ..history.asof import fits
from ..language import terms
from ..recall.graph import Knowledge
from ..store.contract import Store
from ..types import Filter, Memory, Noun, Scope
from .entities import VERSION
from .recall_stats import QUANTILES, quantile
from .switch import Serving

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..vectors import Floats

QUESTIONS, DEPTH = 50, 10
ASKED, HOPS = 20, 3  # entities that the graph is asked about, and how far
LEAST, DROP = 0.90, 0.05
CLOSE = 0.001  # how near a score must come to the tenth best to count as one of the ten: vectors are stored in halves
DAYS = timedelta(days=3)
PAGE = 500
FILE = "health.json"
# How many memories, and what to do about it.
MILESTONES = (
    (100_000, "review the index: measure bench/backends.py on this machine, and consider PostgreSQL for a team"),
    (50_000, "run recollect health weekly, and recollect janitor run before the next import"),
    (10_000, "measured and logged; nothing to do"),
)
log = logging.getLogger("recollect.health")
Status = Literal["ok", "rebuilt", "alert", "unknown"]


@dataclass(frozen=True, slots=True)
class Health(Noun):
    """What was measured: recall@10 by the kind of filter, and what is wrong with it."""

    status: Status
    model: str = ""
    memories: int = 0
    recall: dict[str, float] = field(default_factory=dict)
    baseline: dict[str, float] = field(default_factory=dict)
    questions: int = 0
    alerts: tuple[str, ...] = ()
    milestone: int = 0
    advice: str = ""
    at: str = ""
    graph: dict[str, float] = field(default_factory=dict)  # its size, what is unread, and milliseconds of each hop


@dataclass(frozen=True, slots=True)
class Probe:
    """A question of a kind of filter, with what an exact search found so far: the best scores."""

    kind: str
    filter: Filter
    vector: Floats
    exact: list[tuple[float, str]] = field(default_factory=list)

    def offer(self, score: float, id: str) -> None:
        if len(self.exact) < DEPTH:
            heapq.heappush(self.exact, (score, id))
        elif score > self.exact[0][0]:
            heapq.heapreplace(self.exact, (score, id))


class Checkup:
    """Measures the recall of one tenant."""

    def __init__(
        self,
        store: Store,
        tenant: str,
        now: Callable[[], datetime],
        embedder: Callable[[], Embedder | None],
        home: Path,
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._embedder = embedder
        self._path = home / FILE
        self._name = hashlib.sha256(f"tenant {tenant}".encode()).hexdigest()[:16]

    def run(self, *, rebuild: bool = True) -> Health:
        """Measure; where it is too low, build the index again and measure again."""
        embedder = self._embedder()
        if embedder is None:
            return Health("unknown", alerts=("there is no model, so no vectors are searched",))
        if another := Serving.of(self._store, self._tenant).another(embedder.model):
            return Health("unknown", embedder.model, alerts=(another,))
        before = self._read_kept()
        recall, questions = self.measure(embedder)
        first = before.get("baseline", {}) if before.get("model") == embedder.model else {}
        alerts, status = self._alerts(recall, first), "ok"
        if alerts and rebuild:
            log.warning("recall is low, the vector index is built again: %s", "; ".join(alerts))
            self._store.reindex(self._tenant, embedder.model)
            recall, questions = self.measure(embedder)
            alerts, status = self._alerts(recall, first), "rebuilt"
        memories = self._store.count(self._tenant, Filter())
        milestone, advice = self._milestone(memories, before.get("milestone", 0))
        found = Health(
            "unknown" if not questions else "alert" if alerts else status, embedder.model, memories, recall,  # type: ignore[arg-type]
            first or recall, questions, tuple(alerts), milestone, advice, times.iso(self._now()), self.graph(),
        )  # fmt: skip
        for alert in alerts:
            log.error("recall is still low: %s", alert)
        self._keep(found, first or (recall if not alerts else {}), max(milestone, before.get("milestone", 0)))
        return found

    def graph_size(self) -> dict[str, int]:
        """How many entities, mentions and relations there are, and how many memories are still to be read."""
        return self._store.graph_size(self._tenant, VERSION)

    def graph(self) -> dict[str, float]:
        """The size of the graph, the backlog of its extraction, and how long each hop from what is named most takes."""
        found: dict[str, float] = {**self.graph_size()}
        took: dict[int, list[float]] = defaultdict(list)

        def timed(hop: int, seconds: float, candidates: int) -> None:
            took[hop].append(1000 * seconds)

        for key in self._store.most_named(self._tenant, ASKED):
            with contextlib.suppress(NotFound):  # what nobody sees any more
                Knowledge(self._store, self._tenant, Scope(), self._now(), timed=timed).query(key, depth=HOPS)
        for hop, spent in took.items():
            found |= {f"hop {hop} p{100 * q:g} ms": round(quantile(sorted(spent), q), 1) for q in QUANTILES}
        return found

    def last(self) -> Health | None:
        """The last measurement."""
        told = self._read_kept().get("last")
        return Health.from_dict(told) if told else None

    def due(self, hours: float) -> bool:
        """Whether the last measurement is so long ago."""
        last = self.last()
        return last is None or times.aware(last.at, "at") + timedelta(hours=hours) <= self._now()

    def measure(self, embedder: Embedder) -> tuple[dict[str, float], int]:
        """recall@10 of each kind of filter, and how many questions were asked."""
        golden = self._golden()
        if not golden:
            return {}, 0
        vectors = embedder.embed([_question(memory) for memory in golden], "query")
        probes = [
            Probe(kind, filter, vector)
            for memory, vector in zip(golden, vectors, strict=True)
            for kind, filter in _filters(memory)
        ]
        self._search_everything(probes, embedder.model)
        shares: dict[str, list[float]] = defaultdict(list)
        for probe in probes:
            if probe.exact:
                shares[probe.kind].append(self._share(probe, embedder.model))
        return {kind: round(sum(some) / len(some), 4) for kind, some in shares.items()}, len(golden)

    def _golden(self) -> list[Memory]:
        """The memories that questions are made of: those whose ids hash lowest."""

        def rank(memory: Memory) -> bytes:
            return hashlib.sha256(memory.id.encode()).digest()

        return heapq.nsmallest(QUESTIONS, (memory for page in self._pages() for memory in page), key=rank)

    def _pages(self) -> Iterator[list[Memory]]:
        after = None
        while page := self._store.page(self._tenant, Filter(), after, PAGE):
            yield page
            after = page[-1].id

    def _search_everything(self, probes: Sequence[Probe], model: str) -> None:
        """Every vector against every question, in one pass over the store."""
        import numpy as np

        asked = np.stack([probe.vector for probe in probes])
        for page in self._pages():
            stored = self._store.vectors(self._tenant, [memory.id for memory in page])
            able = [memory for memory in page if model in stored.get(memory.id, {})]
            if not able:
                continue
            scores = np.stack([(stored[memory.id][model] @ asked.T).max(axis=0) for memory in able])
            for at, probe in enumerate(probes):
                for place in np.argsort(-scores[:, at])[:PAGE]:
                    memory, score = able[place], float(scores[place, at])
                    if len(probe.exact) == DEPTH and score <= probe.exact[0][0]:
                        break
                    if fits(memory, probe.filter):
                        probe.offer(score, memory.id)

    def _share(self, probe: Probe, model: str) -> float:
        """How many of the exact best the index finds; one that scores as high as the last of them counts as well."""
        found = self._store.nearest(self._tenant, model, probe.vector, probe.filter, DEPTH)
        least = min(score for score, _ in probe.exact) - CLOSE
        return min(1.0, sum(score >= least for _, score in found) / len(probe.exact))

    @staticmethod
    def _alerts(recall: dict[str, float], first: dict[str, float]) -> list[str]:
        low = [
            f"recall@{DEPTH} is {value:.2f} ({kind}), below {LEAST:.2f}"
            for kind, value in recall.items()
            if value < LEAST
        ]
        return low + [
            f"recall@{DEPTH} fell from {first[kind]:.2f} to {value:.2f} ({kind})"
            for kind, value in recall.items()
            if kind in first and value < first[kind] * (1 - DROP) and value >= LEAST
        ]

    def _milestone(self, memories: int, passed: int) -> tuple[int, str]:
        reached, advice = next(((count, words) for count, words in MILESTONES if memories >= count), (0, ""))
        if reached > passed:
            log.info("%d memories: %s", memories, advice)
        return reached, advice

    def _file(self) -> dict[str, Any]:
        try:
            told = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (ValueError, OSError) as error:
            log.warning("%s cannot be read and is begun anew: %s", self._path, error)
            return {}
        return told if isinstance(told, dict) else {}

    def _read_kept(self) -> dict[str, Any]:
        told = self._file().get(self._name, {})
        return told if isinstance(told, dict) else {}

    def _keep(self, found: Health, baseline: dict[str, float], milestone: int) -> None:
        own = {"model": found.model, "baseline": baseline, "milestone": milestone, "last": found.as_dict()}
        write_private(self._path, json.dumps({**self._file(), self._name: own}, indent=1))


def _question(memory: Memory) -> str:
    """What somebody would ask to find it: its title, or the words of it that tell it apart."""
    return memory.title or " ".join(terms.of_query(memory.content, 12)) or text.shorten(memory.content, 80)


def _filters(memory: Memory) -> Iterator[tuple[str, Filter]]:
    yield "all", Filter()
    if memory.scope.project:
        yield "project", Filter(scope=Scope(project=memory.scope.project), inside=True)
    if memory.tags:
        yield "tag", Filter(tags=memory.tags[:1])
    moment = memory.valid_from or memory.created_at
    yield "time", Filter(since=moment - DAYS, until=moment + DAYS)
