"""Pairs: memories that say the same become one, and memories that cannot both hold are told apart.

Candidates of exactly the same scope come from the vector index or from words, for each memory that is new since the
last look; `models/relation` decides. **The same**: the better supported one stays, takes over evidence, tags,
references and links, and supersedes the other. **Opposed**: the newer one supersedes the older when it is better
trusted, or trusted as much and says that something changed; else both are tied by `contradicts`, for a person to
decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from ...models.relation import MERGE, RESOLVE, relation
from ...remember.change import apart, says_change
from ...remember.write import CLAIMS, absorb, opposed, span
from ...store.contract import Transaction
from ...types import TRUSTS, Entity, Evidence, Link, Memory
from .room import Act, Room

NEAR = 0.85  # the cosine above which two memories may say the same
MERGED = CLAIMS | {"task", "pattern", "anti-pattern", "heuristic"}
MENTIONS = "mentions"


def duplicates(room: Room) -> Iterator[list[Act]]:
    """Memories that say the same, word for word or nearly."""
    for page in room.fresh(MERGED):
        yield list(_exact(room, page))
        yield list(_near(room, [memory for memory in page if memory.id not in room.gone]))


def _exact(room: Room, page: list[Memory]) -> Iterator[Act]:
    """Word for word the same, by the hash of what they say."""
    same = room.store.of(room.tenant, Memory, sorted({memory.content_hash for memory in page}), "content_hash")
    able = [m for m in same if m.state == "active" and m.kind in MERGED and m.content_hash and m.id not in room.gone]

    def place(memory: Memory) -> Any:
        return memory.content_hash, memory.scope.places()

    for _, group in groupby(sorted(able, key=place), key=place):
        alike = list(group)
        while len(alike) > 1:
            one, other = alike[0], alike[1]
            pair = _order(room, one, other) if _mergeable(one, other) else None
            if pair is None:
                alike.pop(1)
                continue
            alike = [pair[0], *alike[2:]]
            yield _plan_merge(room, *pair, "the same words")


def _near(room: Room, page: list[Memory]) -> Iterator[Act]:
    for memory, others in room.around(page):
        keep = memory
        for other, score in others:
            if other.id in room.gone or score <= NEAR or other.kind not in MERGED or not _mergeable(keep, other):
                continue
            if not relation(keep.content, other.content).is_sure("same", MERGE) or _of_others(room, keep, other):
                continue
            if pair := _order(room, keep, other):
                yield _plan_merge(room, *pair, f"they say the same ({score:.2f})")
                keep = pair[0]
                if keep.id != memory.id:
                    break


def _mergeable(one: Memory, other: Memory) -> bool:
    """Whether nothing but the words could set two memories apart."""
    kinds = one.kind == other.kind or {one.kind, other.kind} <= CLAIMS
    return kinds and one.speaker == other.speaker and one.valid_to == other.valid_to


def _of_others(room: Room, one: Memory, other: Memory) -> bool:
    """Whether both are tied to entities and share none: then they speak of different things."""
    told = room.store.of(room.tenant, Link, [one.id, other.id], "origin")
    tied = [
        {link.target for link in told if link.origin == m.id and link.target_kind == "entity"} for m in (one, other)
    ]
    return bool(tied[0] and tied[1]) and tied[0].isdisjoint(tied[1])


def _order(room: Room, one: Memory, other: Memory) -> tuple[Memory, Memory] | None:
    """Which of two stays and which goes; nothing where a person's word is on both."""

    def worth(memory: Memory) -> Any:
        why = bool(memory.reasoning) or " because " in memory.content
        return (
            room.sacred(memory), TRUSTS.index(memory.trust), memory.observed, memory.importance, why,
            -memory.created_at.timestamp(),
        )  # fmt: skip

    keep, lose = sorted(sorted((one, other), key=lambda memory: memory.id), key=worth, reverse=True)
    return None if room.sacred(lose) else (keep, lose)


def _plan_merge(room: Room, keep: Memory, lose: Memory, why: str) -> Act:
    room.gone.add(lose.id)
    return Act("merged", lose.id, why, _merge(room, keep, lose, why), keep.id, (lose.id,))


def _merge(room: Room, keep: Memory, lose: Memory, why: str) -> Callable[[Transaction], bool]:
    writer = room.writer

    def do(changes: Transaction) -> bool:
        kept, gone = changes.get(Memory, keep.id), room.unchanged(changes, lose)
        if gone is None or kept is None or kept.state != "active" or kept.content_hash != keep.content_hash:
            return False
        if room.tied(kept.id, "supersedes", gone.id):
            return False
        whole = replace(kept, observed=kept.observed + gone.observed)
        if not room.sacred(kept):  # what a person set stays as it is; that it was said again is counted
            whole = absorb(whole, gone)
        changes.put(whole, "merge", why)
        room.own[kept.id] = whole.record()
        held = room.store.of(room.tenant, Evidence, [kept.id, gone.id], "memory")
        told = {(one.source, one.quote) for one in held if one.memory == kept.id}
        quotes = [(one.source, one.quote, one.place) for one in held if one.memory == gone.id]
        for source, quote, place in [*quotes, (gone.source, gone.content, "")]:
            if (source, quote) not in told:
                told.add((source, quote))
                now = writer.now()
                changes.put(Evidence(writer.new_id(now), kept.id, source, quote, place, now), "create")
        _move_links(room, changes, kept, gone)
        writer.supersede(changes, whole, gone, why)
        return True

    return do


def _move_links(room: Room, changes: Transaction, kept: Memory, gone: Memory) -> None:
    """What the one was tied to, the other is tied to now; what it stood for stays its own history."""
    links = room.links([kept.id, gone.id])
    known = {(link.origin, link.relation, link.target) for link in links}
    for link in links:
        if gone.id not in (link.origin, link.target) or kept.id in (link.origin, link.target):
            continue
        ends = [kept.id if end == gone.id else end for end in (link.origin, link.target)]
        if link.relation != "supersedes" and (ends[0], link.relation, ends[1]) not in known:
            now = room.writer.now()
            moved = replace(link, id=room.writer.new_id(now), origin=ends[0], target=ends[1], created_at=now)
            changes.put(moved, "link", "merged")


def contradictions(room: Room) -> Iterator[list[Act]]:
    """Memories that cannot both hold."""
    for page in room.fresh(CLAIMS):
        yield list(_find_opposed(room, page))


def _find_opposed(room: Room, page: list[Memory]) -> Iterator[Act]:
    for memory, others in room.around(page):
        for other, _ in others:
            met = frozenset((memory.id, other.id))
            if memory.id in room.gone or other.id in room.gone or other.kind not in CLAIMS or met in room.met:
                continue
            room.met.add(met)
            old, new = sorted((memory, other), key=lambda m: (m.valid_from or m.created_at, m.created_at, m.id))
            if apart(span(old), span(new)) or _is_tied(room, old, new):
                continue
            if opposed(old.content, new.content, RESOLVE):
                yield _plan_settlement(room, old, new)


def _is_tied(room: Room, one: Memory, other: Memory) -> bool:
    between = {one.id, other.id}
    links = room.store.of(room.tenant, Link, sorted(between), "origin")
    return any(
        link.relation in ("contradicts", "supersedes") and {link.origin, link.target} == between for link in links
    )


def _plan_settlement(room: Room, old: Memory, new: Memory) -> Act:
    gained = TRUSTS.index(new.trust) - TRUSTS.index(old.trust)
    wins = (gained > 0 or (gained == 0 and says_change(new.content))) and not room.sacred(old)
    why = "they cannot both hold"

    def do(changes: Transaction) -> bool:
        before, after = room.unchanged(changes, old), changes.get(Memory, new.id)
        if before is None or after is None or after.state != "active" or after.content_hash != new.content_hash:
            return False
        if room.tied(new.id, "supersedes" if wins else "contradicts", old.id):
            return False
        if wins:
            room.writer.supersede(changes, after, before, f"it says otherwise, and is newer: {why}")
        else:
            room.writer.tie(changes, after, "contradicts", before, why)
        return True

    if wins:
        room.gone.add(old.id)
        return Act("superseded", old.id, f"{why}; the newer stands", do, new.id, (old.id,))
    return Act("flagged", old.id, f"{why}; a person decides", do, new.id)


RELATED = 0.75  # the cosine from which two memories with a reference in common belong together
MOST = 3  # links that are inferred for one memory
MAX_WORDS = 4  # of an entity's name


def links(room: Room) -> Iterator[list[Act]]:
    """Ties that nobody made: to entities that a memory names, and between neighbours with a reference in common."""
    named = _entities(room)
    for page in room.fresh(MERGED | {"incident", "task"}):
        for start in range(0, len(page), 25):
            some = [memory for memory in page[start : start + 25] if memory.id not in room.gone]
            held = room.links([memory.id for memory in some])
            known = {(link.origin, link.target) for link in held}
            tied = Counter(link.origin for link in held if link.relation == "related")
            yield [*_mentions(room, some, named, known), *_find_related(room, some, known, tied)]


def _entities(room: Room) -> dict[str, list[Entity]]:
    found: dict[str, list[Entity]] = {}
    for entity in room.store.each(room.tenant, Entity):
        if len(entity.name) >= 3 and len(entity.name.split()) <= MAX_WORDS:
            found.setdefault(entity.name, []).append(entity)
    return found


def _mentions(
    room: Room, page: list[Memory], named: dict[str, list[Entity]], known: set[tuple[str, str]]
) -> Iterator[Act]:
    from ...remember.mention import entity_key

    for memory in page if named else ():
        for name in _names(memory.content):
            for entity in named.get(name, ()):
                own = entity.key in (entity_key("", name), entity_key(memory.scope.user, name))
                seen = own and entity.project in ("", memory.scope.project)
                if seen and (memory.id, entity.id) not in known:
                    known.add((memory.id, entity.id))
                    yield Act("mentioned", memory.id, f"it names {name}", _tie(room, memory, entity), entity.id)


def _names(text: str) -> list[str]:
    """Every run of up to four words of a text, as they are written.

    >>> _names("Ana owns billing.")
    ['Ana', 'Ana owns', 'Ana owns billing', 'owns', 'owns billing', 'billing']
    """
    words = [word.strip(".,;:!?()[]{}\"'`«»") for word in text.split()]
    runs = (
        words[at : at + size] for at in range(len(words)) for size in range(1, MAX_WORDS + 1) if at + size <= len(words)
    )
    return list(dict.fromkeys(" ".join(run) for run in runs))


def _tie(room: Room, memory: Memory, entity: Entity) -> Callable[[Transaction], bool]:
    def do(changes: Transaction) -> bool:
        if room.unchanged(changes, memory) is None or changes.get(Entity, entity.id) is None:
            return False
        if room.tied(memory.id, MENTIONS, entity.id):
            return False
        now = room.writer.now()
        tie = Link(
            room.writer.new_id(now), memory.id, MENTIONS, entity.id, target_kind="entity", reason="it is named there",
            created_at=now,
        )  # fmt: skip
        return changes.put(tie, "link", "it is named there")

    return do


def _find_related(
    room: Room, page: list[Memory], known: set[tuple[str, str]], tied: Counter[str]
) -> Iterator[Act]:  # fmt: skip
    referring = [memory for memory in page if memory.refs]
    if not referring:
        return
    shared = {(a, b) for a, b, _ in room.store.sharing(room.tenant, [memory.id for memory in referring])}
    for memory, others in room.around(referring):
        for other, score in others:
            pair = (memory.id, other.id)
            if tied[memory.id] >= MOST or score < RELATED or pair not in shared or pair in known or pair[::-1] in known:
                continue
            known.add(pair)
            tied[memory.id] += 1
            yield Act("related", memory.id, "they share a reference", _relate(room, memory, other, score), other.id)


def _relate(room: Room, one: Memory, other: Memory, score: float) -> Callable[[Transaction], bool]:
    def do(changes: Transaction) -> bool:
        if room.unchanged(changes, one) is None or room.unchanged(changes, other) is None:
            return False
        if room.tied(one.id, "related", other.id):
            return False
        now, why = room.writer.now(), "they share a reference"
        tie = Link(room.writer.new_id(now), one.id, "related", other.id, weight=score, reason=why, created_at=now)
        return changes.put(tie, "link", why)

    return do
