"""What an engine is built from: what each part needs (`Core`), and what a tenant shares (`Shared`)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import ids, text
from .agents.places import Places
from .agents.registry import Presence
from .answers.freshness import Parts as AnswerParts
from .answers.policy import Policy
from .answers.service import Answers
from .arguments import RecallFields
from .checks import MAX_NAME, Cleaner, one_of
from .errors import Ambiguous, BadInput, NotFound, RowDamaged
from .history.checkpoints import Checkpoints
from .history.usage import Usage
from .overview import Overview
from .recall.cache import RecallCache
from .recall.loading import LOADING, Loader
from .recall.query import parse
from .recall.read import Reader
from .recall.recipes import fingerprint, of_settings
from .redact import redact
from .remember.labels import POLICIES, Labels
from .remember.proposals import queue
from .remember.write import Writer
from .settings import Settings, lexicon
from .store.checksums import sound_rows
from .store.contract import Store
from .types import Draft, Memory, Recall, Scope
from .upkeep.health import Checkup
from .upkeep.recall_stats import RecallStats
from .upkeep.recent_recalls import RecentRecalls
from .upkeep.spending import Spending
from .upkeep.switch import Switch

if TYPE_CHECKING:
    from .models.embedder import Embedder


def new_id(now: datetime) -> str:
    """A fresh id for that moment."""
    return ids.make(int(now.timestamp() * 1000), secrets.randbits(ids.RANDOM_BITS))


@dataclass(frozen=True, slots=True)
class Core:
    """What every part needs: where it works, in whose name, and by which clock and settings."""

    store: Store
    settings: Settings
    tenant: str
    actor: str
    now: Callable[[], datetime]
    scope: Scope  # of what names no scope
    trust_ceiling: str = "stated"  # how far at most what is written is trusted

    @classmethod
    def of(cls, store: Store, settings: Settings, actor: str, now: Callable[[], datetime], ceiling: str) -> Core:
        cleaner = Cleaner(MAX_NAME)
        tenant = cleaner.text(settings.tenant, "tenant", MAX_NAME)
        if tenant in ("", "*"):  # a star stands for all tenants where a store keeps their list
            raise BadInput("tenant is empty." if not tenant else "A tenant cannot be called '*'.")
        scope = cleaner.scope(Scope(user=settings.user, project=settings.project))
        return cls(store, settings, tenant, cleaner.text(actor, "actor", MAX_NAME) or "unknown", now, scope, ceiling)

    @property
    def writer(self) -> Writer:
        limits = self.settings.content_limit, self.settings.near_duplicate
        labels = Labels(
            one_of(self.settings.pii, POLICIES, "pii"),
            one_of(self.settings.keyword_labels, ("on", "off"), "keyword_labels") == "on",
        )
        return Writer(self.store, self.tenant, self.actor, self.now, new_id, *limits, self.trust_ceiling, labels)


class Shared:
    """What all who work for a tenant share: models, caches, counters and answers. Built once for each tenant."""

    def __init__(self, core: Core, others: Shared | None = None, embedder: Embedder | None = None) -> None:
        store, tenant, now, settings = core.store, core.tenant, core.now, core.settings
        self.core = core
        self.spending = Spending(store, tenant, now, settings)
        self.models: Loader = others.models if others else Loader(settings, embedder, self.spending.metered)
        self.watch: RecallStats = others.watch if others else RecallStats(settings.traces)
        self.presence = Presence()
        self.usage = Usage(store, tenant, now)
        self.looks = RecentRecalls(
            now, settings.home if one_of(settings.access_log, ("on", "off"), "access_log") == "on" else None
        )
        self.recalls = RecallCache(now)
        self.recipes = of_settings(settings)
        self.reader = Reader(store, tenant, now, lexicon(settings))
        self.switch = Switch(store, tenant, self.models.known)
        self.overview = Overview(store, tenant, now, settings.near_duplicate)
        self.health = Checkup(store, tenant, now, lambda: self.models.embedder()[0], settings.home)
        self.answers = self._answers()

    def _answers(self) -> Answers:
        core = self.core
        flags = {"check": core.settings.answers_check, "judge": core.settings.answers_judge}
        parts = AnswerParts(
            self.recall, lambda: self.models.models("fast").embedder, self.models.name, self.spending.llm,
            core.writer.forbids, lambda: fingerprint(self.recipes[core.settings.recall_recipe]),
            Places(core.settings).folders,
        )  # fmt: skip
        on = frozenset(name for name, value in flags.items() if one_of(value, ("on", "off"), f"answers_{name}") == "on")
        return Answers(core.store, core.tenant, core.now, new_id, core.scope, Policy.of(core.settings), on, parts)

    def recall(self, query: str, options: dict[str, Any]) -> Recall:
        """The answer of the read path, or the one that was given before where nothing changed since."""
        if unknown := options.keys() - RecallFields.__annotations__.keys():
            raise BadInput(f"recall has no option {', '.join(sorted(unknown))}.")
        options.setdefault("scope", self.core.scope)
        free = options.get("limit") is None
        usual = self.core.settings.recall_recipe
        if options.get("recipe", usual) == usual and self.recipes[usual].limit is None:
            options.setdefault("limit", self.core.settings.recall_limit)
        asked = replace(parse(query, self.core.now(), known=self.recipes, usual=usual, **options), free=free)
        head, key = self.core.store.head(self.core.tenant), asked.key()
        if known := self.recalls.get(key, head):
            return known
        by_meaning, judged = "vector" in asked.recipe.arms, bool(asked.recipe.relevance)
        models = self.switch.serving(self.models.models(asked.effort, by_meaning, judged))
        found, damaged = sound_rows(lambda _: self.reader.recall(asked, models), None)
        found = replace(found, skipped=(*found.skipped, *damaged))
        self.watch.recalled(found)
        if LOADING not in models.skipped:  # words alone answered, and only this once
            self.recalls.put(key, head, found)
        return found


class Base:
    """What the verbs of an engine work with; a part is built when it is first used."""

    def __init__(self, core: Core, shared: Shared, *, owner: bool = False) -> None:
        self.settings = core.settings
        self._core = core
        self._shared = shared
        self._is_owner = owner  # of the store, which is closed with it
        self._store, self._tenant, self._actor, self._now = core.store, core.tenant, core.actor, core.now
        self._scope = core.scope
        self._models, self._usage = shared.models, shared.usage
        self.watch, self.looks, self.overview = shared.watch, shared.looks, shared.overview
        self.answers, self.spending, self.health = shared.answers, shared.spending, shared.health

    @property
    def tenant(self) -> str:
        return self._tenant

    @cached_property
    def _writer(self) -> Writer:
        return self._core.writer

    @property
    def checkpoints(self) -> Checkpoints:
        """Names for places in the journal: create, all, diff, rollback, delete."""
        return Checkpoints(self._writer)

    def queue(self, draft: Draft, **given: Any) -> tuple[Memory | None, bool]:
        """Let something wait for a person; see `pending`. Tells whether it is new; nothing if it was turned down."""
        return queue(self._writer, draft, **given)

    def _reason(self, reason: str) -> str:
        return Cleaner(MAX_NAME, redact).text(reason, "reason", 1000)

    def _named(self, id: str | Sequence[str]) -> Sequence[Memory]:
        """The memories of one or several ids, each once."""
        if not isinstance(id, str | list | tuple):
            raise NotFound(f"{text.shorten(str(id), 40)!r} is not an id.")
        found = [self._find(one) for one in ([id] if isinstance(id, str) else id)]
        return list({memory.id: memory for memory in found}.values())

    def _find(self, id: str) -> Memory:
        """The memory of an id, or of its last few characters."""
        if not isinstance(id, str) or not ids.plausible(wanted := id.strip().lower()):
            raise NotFound(f"{text.shorten(str(id), 40)!r} is not an id.")
        self._usage.flush()
        if len(wanted) < ids.LENGTH:
            fitting = self._store.ending(self._tenant, wanted, 3)
            if len(fitting) > 1:
                raise Ambiguous(f"{wanted!r} is the end of several ids: {', '.join(fitting)}.")
            wanted = fitting[0] if fitting else wanted
        found, damaged = sound_rows(lambda _: self._store.memories(self._tenant, [wanted]), 1)
        if wanted not in found:
            raise RowDamaged(f"{wanted} is damaged.") if damaged else NotFound(f"No memory has the id {wanted!r}.")
        return found[wanted]
