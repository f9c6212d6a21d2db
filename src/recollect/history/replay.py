"""Erasing again what an older copy brings back: a backup that is restored, a store that is copied, an export.

A copy is erased by the same code as the store was. A file is sifted before anything of it is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from .. import ids, text
from ..agent_types import Agent, Handoff, Pool
from ..agents.tokens import IssuedTokens
from ..history_types import Hold
from ..remember.mention import entity_key
from ..remember.write import Writer
from ..settings import Settings
from ..store.contract import Store
from ..types import Entity, Evidence, Kept, Memory, Noun, Scope, Source, Tombstone
from .erase import HANDED_OVER, Eraser, Words
from .erasures import Erasures

REASON = "it was erased before, and an older copy held it"


@dataclass(frozen=True, slots=True)
class Replayed(Noun):
    """How many memories were erased again, and how many a hold in the copy kept."""

    erased: int = 0
    held: int = 0


def replay(store: Store, settings: Settings, now: Callable[[], datetime]) -> Replayed:
    """Erase from every tenant of a store what the ledger of a home says was erased."""
    erased = held = 0
    for tenant in store.tenants():
        erasures = Erasures.load(settings.home, tenant)
        if erasures.is_empty:
            continue
        limits = settings.content_limit, settings.near_duplicate
        found = _Replay(Writer(store, tenant, "restore", now, _new_id, *limits), erasures).run()
        erased, held = erased + found.erased, held + found.held
    return Replayed(erased, held)


@dataclass(frozen=True, slots=True)
class _Replay:
    writer: Writer
    erasures: Erasures

    def run(self) -> Replayed:
        store, tenant = self.writer.store, self.writer.tenant
        tokens = IssuedTokens(store, tenant, self.writer.actor, self.writer.now, self.writer.new_id)
        users = {
            token.scope.user for token in tokens.all() if self.erasures.has_user(token.scope.user, token.created_at)
        }
        gone: list[Memory] = []
        for one in store.each(tenant, Memory):
            gone += self.erasures.covered([one])
            users |= {one.scope.user} if self.erasures.has_user(one.scope.user, one.updated_at) else set()
        holds = store.all(tenant, Hold, "", 1000)
        free = [one for one in gone if not _is_held(holds, one.scope)]
        eraser = Eraser(self.writer, self.erasures.home, is_replay=True)
        for user in sorted(users):
            tokens.end(user)
            if not _is_held(holds, Scope(user=user)):
                eraser.erase([one for one in free if one.scope.user == user], REASON, user=user, keep=True)
        if rest := [one for one in free if one.scope.user not in users or _is_held(holds, Scope(user=one.scope.user))]:
            eraser.erase(rest, REASON, keep=True)
        return Replayed(len(free), len(gone) - len(free))


def _new_id(now: datetime) -> str:
    return ids.make(int(now.timestamp() * 1000), secrets.randbits(80))


def _is_held(holds: Iterable[Hold], scope: Scope) -> bool:
    return any(hold.scope.contains(scope) for hold in holds)


def sift(nouns: Sequence[Kept], erasures: Erasures) -> tuple[list[Kept], int]:
    """What an export may bring of its nouns, without the words of what was erased; and how many memories that were."""
    memories = [noun for noun in nouns if isinstance(noun, Memory)]
    gone = erasures.covered(memories)
    users = {one.scope.user for one in memories if erasures.has_user(one.scope.user, one.updated_at)}
    out = {one.id for one in gone}
    proofs = [noun for noun in nouns if isinstance(noun, Evidence) and noun.memory in out]
    words = Words.of(gone, proofs)
    sources = {one.source for one in gone} | {one.source for one in proofs}
    sessions = {one.scope.session for one in memories if one.id in out or erasures.has("restated", one.id)} - {""}
    kept: list[Kept] = []
    for noun in nouns:
        if isinstance(noun, Agent | Pool | Handoff) and erasures.has_user(noun.scope.user, noun.created_at):
            continue
        if isinstance(noun, Memory):
            if noun.id in out:
                continue
            if erasures.has("restated", noun.id):
                noun = words.out_of_memory(noun)
            elif noun.scope.session in sessions:  # a turn carries the one before it along
                noun = replace(noun, context=words.out_of(noun.context))
        elif isinstance(noun, Source):
            if erasures.has("source", noun.id):
                continue
            if noun.id in sources and noun.content:
                said = words.out_of(noun.content)
                noun = replace(noun, content=said, title=words.out_of(noun.title), content_hash=text.key(said))
        elif isinstance(noun, Evidence) and noun.source in sources:
            noun = replace(noun, quote=words.quoted(noun.quote))
        elif isinstance(noun, Entity) and any(noun.key == entity_key(user, noun.name) for user in users):
            continue
        elif isinstance(noun, Handoff):
            noun = replace(noun, **{name: words.within(getattr(noun, name)) for name in HANDED_OVER})
        elif isinstance(noun, Tombstone) and erasures.has_user(noun.scope.user, noun.created_at):
            noun = replace(noun, reason="")
        kept.append(noun)
    return kept, len(gone)
