"""Loading: the models an engine uses, each when it is first needed, or why one cannot be had.

A process holds one of these, and all engines made beside each other share it. A model that cannot be loaded is said
once in the log and in every answer that does without it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import BadInput, ModelUnavailable
from ..settings import Settings
from .read import Models

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..models.reader import PairReader
    from ..models.reranker import Reranker

log = logging.getLogger("recollect")
LOADING = "vector: the model is still loading"


class Loader:
    """The embedder and the reranker the settings name; `metered` books what a paid one costs."""

    def __init__(self, settings: Settings, given: Embedder | None, metered: Callable[[Embedder], Embedder]) -> None:
        self._settings = settings
        self._metered = metered
        self._embedder = given
        self._cold: Embedder | None = None
        self._no_embedder = "vector: switched off (embedder = off)" if settings.embedder == "off" else ""
        self._reranker: Reranker | None = None
        self._no_reranker = ""
        self._relevance: PairReader | None = None
        self._no_relevance = ""
        self._lock = threading.Lock()
        self._before: dict[str, Embedder | None] = {}
        self.warming = False

    def embedder(self) -> tuple[Embedder | None, tuple[str, ...]]:
        """The embedder, or why there is none."""
        with self._lock:
            if self._embedder is None and not self._no_embedder:
                try:
                    named = self._named()
                    named.warm()
                    self._embedder = named
                except (ModelUnavailable, BadInput) as error:
                    self._no_embedder = f"vector: {error}"
                    log.warning("memories are found by words only: %s", error)
        return self._embedder, (self._no_embedder,) if self._no_embedder else ()

    def _named(self) -> Embedder:
        """The embedder that the settings name, with nothing of it loaded yet."""
        from ..models import embedder

        if self._cold is None:
            self._cold = self._metered(embedder.load(self._settings.embedder))
        return self._cold

    def name(self) -> str:
        """The id of the embedding model, which need not be loaded for that; empty where none can be had."""
        if self._embedder is not None or self._no_embedder:
            return self._embedder.model if self._embedder else ""
        try:
            return self._named().model
        except (ModelUnavailable, BadInput):
            return ""  # whoever embeds is told why

    def known(self, model: str) -> Embedder | None:
        """The embedder of a model's id, if it is one that needs nothing but this package."""
        with self._lock:
            if model not in self._before:
                from ..models import embedder

                self._before[model] = None
                for name in ("default", "hashing", "multilingual"):
                    try:
                        found = embedder.load(name)
                    except ModelUnavailable as error:
                        log.warning("the model before cannot be had: %s", error)
                        continue
                    if found.model == model:
                        self._before[model] = found
                        break
            return self._before[model]

    def models(self, effort: str, by_meaning: bool = True, judged: bool = False) -> Models:
        """What a recall of this effort reads with. While the model is on its way, words alone answer at once.

        A recall that does not search by meaning waits for no model, even one that another thread is loading. `judged`
        says that a relevance model is wanted whatever the effort.
        """
        if not by_meaning:
            return Models(None, None, ())
        if self.warming:
            return Models(None, None, (LOADING,))
        embedder, skipped = self.embedder()
        relevance = self.relevance() if judged or effort != "fast" else None
        skipped += (self._no_relevance,) if self._no_relevance else ()
        if effort != "deep" or embedder is None:
            return Models(embedder, None, skipped, relevance)
        if self._reranker is None and not self._no_reranker:
            from ..models import reranker

            try:
                self._reranker = reranker.load(self._settings.reranker, embedder)
            except (ModelUnavailable, BadInput) as error:
                self._no_reranker = f"reranker: {error}"
                log.warning("deep recall goes without a reranker: %s", error)
        skipped += (self._no_reranker,) if self._no_reranker else ()
        return Models(embedder, self._reranker, skipped, relevance)

    def relevance(self) -> PairReader | None:
        """What reads a question and a memory together; it needs nothing but this package, and no embedder."""
        with self._lock:
            if self._relevance is None and not self._no_relevance and self._settings.embedder != "off":
                from ..models.reader import shared

                try:
                    loaded = shared()
                    loaded.warm()
                    self._relevance = loaded
                except ModelUnavailable as error:
                    self._no_relevance = f"relevance: {error}"
                    log.warning("nothing says how well an answer fits: %s", error)
        return self._relevance

    def warm(self, first: Callable[[Embedder], None]) -> threading.Thread:
        """Load the embedder in the background and do `first` with it; until then `warming` holds."""

        def load() -> None:
            try:
                embedder, _ = self.embedder()
                self.relevance()
                if embedder is not None:
                    first(embedder)
            finally:
                self.warming = False

        self.warming = self._embedder is None and not self._no_embedder
        # Waited for when the interpreter ends: cut off inside the library, the thread would abort the process.
        thread = threading.Thread(target=load, name="recollect-model")
        thread.start()
        return thread

    def state(self) -> tuple[str, str]:
        """The embedding model in use and nothing, or nothing and why: it is loading, not asked for yet, or missing."""
        if self.warming:
            return "", LOADING
        if self._embedder is not None:
            return self._embedder.model, ""
        return "", self._no_embedder or "vector: the model is loaded when it is first needed"
