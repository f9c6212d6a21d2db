"""The engine's verbs that move and keep: taking everything along, giving vectors, mending, loading the model."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from . import exchange
from .checks import filter_of, one_of
from .entrypoints.private import make_key
from .errors import ModelUnavailable
from .graph import Graph
from .grounding import lowest
from .history.checkpoints import Checkpoints
from .history.erasures import Erasures
from .history.usage import Usage
from .recall.loading import Loader
from .remember.write import Writer
from .settings import Settings
from .store.contract import Store
from .types import EVERYWHERE, TRUSTS, Job, Scope
from .upkeep.jobs import Jobs
from .upkeep.switch import Change, embed_missing

if TYPE_CHECKING:
    from .answers.service import Answers
    from .history.facade import History
    from .models.embedder import Embedder
    from .upkeep.janitor.janitor import Janitor

Progress = Callable[[int, int], None]


class Maintenance(ABC):
    """What an engine does with its store as a whole; it has the store, the writer and the models."""

    settings: Settings
    _store: Store
    _tenant: str
    _actor: str
    _now: Callable[[], datetime]
    _scope: Scope
    _usage: Usage
    _models: Loader
    answers: Answers

    @property
    @abstractmethod
    def jobs(self) -> Jobs: ...

    @property
    @abstractmethod
    def _writer(self) -> Writer: ...

    @property
    @abstractmethod
    def _past(self) -> History: ...

    @abstractmethod
    def graph(self, scope: Scope | None = None, inside: Scope = EVERYWHERE) -> Graph: ...

    @property
    @abstractmethod
    def checkpoints(self) -> Checkpoints: ...

    def export(
        self, path: str | Path, *, journal: bool = False, reference: bool = False, progress: Progress | None = None
    ) -> int:
        """Write everything to a JSONL file, optionally with the history; gives the number of memories.

        With `reference`, only the graph, in the form of the reference memory server; gives the number of entities.
        """
        if reference:
            return exchange.export_graph(self.graph(), Path(path))
        self._usage.flush()
        return exchange.export(
            self._store, self._tenant, Path(path), self._now(), journal=journal,
            progress=progress, key=make_key(self.settings.home, exchange.KEY_FILE),
        )  # fmt: skip

    def import_(
        self, path: str | Path, *, embed: bool = True, trust: str = "unverified", progress: Progress | None = None
    ) -> exchange.Imported:
        """Take in a JSONL file: an export of ours, one object with `content` a line, or entities and relations.

        What it says is trusted at most as `trust`; an export of this home keeps the trust it had.
        """
        granted = one_of(trust, TRUSTS, "trust")
        if Path(path).is_file() and exchange.is_sealed(Path(path), make_key(self.settings.home, exchange.KEY_FILE)):
            granted = "stated"
        importer = exchange.Importer(
            self._store, self._tenant, self._actor, self._writer, self._now, self.graph(),
            lowest((granted, self._writer.most)), Erasures.load(self.settings.home, self._tenant),
        )  # fmt: skip
        with self.checkpoints.around("import"):
            result = importer.run(Path(path), self._scope, progress)
        if embed:
            self.embed(progress=progress, change="never")
        return result

    def embed(self, *, progress: Progress | None = None, change: Change = "always") -> int:
        """Give a vector to every memory that has none of today's model; gives how many there were.

        Where another model serves the store, it is changed over to today's; with `change="new"` only if that never
        served it, and with `"never"` nothing is done then.
        """
        embedder, _ = self._models.embedder()
        if embedder is None:
            return 0
        size = self.settings.embed_batch
        return embed_missing(self._store, self._tenant, self._actor, self._now, embedder, progress, size, change)

    def embed_later(self, *, change: Change = "always") -> Job:
        """Have `embed` done in the background, by whichever worker has today's model: `jobs` shows how far it is."""
        embedder, skipped = self._models.embedder()
        if embedder is None:
            raise ModelUnavailable("There is no model to embed with.", fix="; ".join(skipped))
        return self.jobs.add(f"embed:{embedder.model}", {} if change == "always" else {"change": change})

    @cached_property
    def janitor(self) -> Janitor:
        """What keeps memories clean; loaded when it is first asked for."""
        from .upkeep.janitor.janitor import Janitor, Parts
        from .upkeep.janitor.room import Rules

        rules = Rules(self.settings.decay_days, self.settings.compact_days)
        parts = Parts(
            lambda: self._models.embedder()[0], lambda: self.answers, self._before_janitor, self._past.retain
        )  # fmt: skip
        return Janitor(self._writer, rules, parts)

    def _before_janitor(self) -> str:
        """A checkpoint to go back to; its name."""
        made = self.checkpoints.automatic("janitor")
        return made.name if made else ""

    def mend(self) -> None:
        """Build again what is derived in the store: the full text index."""
        self._store.mend()

    def warm(self) -> threading.Thread:
        """Load the model now, in the background: until it is there, questions are answered from words and say so."""
        return self._models.warm(self._first)

    def _first(self, embedder: Embedder) -> None:
        """A question of no meaning, so that the vectors are read by the first real one."""
        query = embedder.embed([""], "query")[0]
        self._store.nearest(self._tenant, embedder.model, query, filter_of(now=None, scope=EVERYWHERE), 1)

    def model(self) -> tuple[str, str]:
        """The embedding model in use and nothing, or nothing and why: it is loading, not asked for yet, or missing."""
        return self._models.state()
