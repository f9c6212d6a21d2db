"""Export and import: a store as JSON lines, complete, and back again.

An export is a header and one object a line: sources, memories, evidence, links, tombstones and, if asked, the journal.
Imported values are checked, cleaned and redacted like any other, and rejected, purged and erased values stay out. With
its journal, an export is replayed into an empty store. Also read: one JSON object with `content` (or `text`) a line,
and the entities and relations of the reference memory server. A line may name its source with an id, the entities it is
`about`, and, with `type` "tie", two memories by their sources; whose source is known is not taken in twice.

A file is `unverified` unless the importer says otherwise. An export of this home keeps its trust: it ends with an HMAC
under a key of the home. A journal is replayed, and a rejection applied, only from a file that is trusted as `stated`.
No date of a file lies in the future.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from . import ids, text, times
from .agent_types import AGENT_KINDS, AGENT_NOUNS, CAPABILITIES, PERMISSIONS, REACHES, Agent, Member, Pool, Share
from .checks import MAX_NAME, Cleaner, one_of
from .entrypoints.system import open_private
from .errors import BadInput, NotFound, StoreReadOnly
from .graph import MAX_GIVEN, Graph, Node, Relation
from .grounding import lowest
from .history.erasures import Erasures
from .history.replay import sift
from .redact import redact
from .regular_files import parse_json
from .remember.drafts import MAX_REF, fields_of, prepare, source_of
from .remember.mention import ABOUT
from .remember.rejections import Rejections
from .remember.write import BATCH, COPIED, Writer
from .store.contract import Store, Transaction
from .store.salvage import Salvaged
from .store.trail import Trace
from .text import key
from .types import (
    RELATIONS,
    SCOPE_FIELDS,
    STATES,
    TRUSTS,
    Draft,
    Entity,
    Entry,
    Evidence,
    Kept,
    Link,
    Memory,
    Noun,
    Scope,
    Source,
    Tombstone,
)

FORMAT = 1
KEY_FILE = "export.key"
SEAL = '{"type": "seal"'
SQLITE = b"SQLite format 3\0"
ORDER: tuple[type[Kept], ...] = (Source, Memory, Evidence, Entity, Link, Tombstone, *AGENT_NOUNS)
NOUNS = {kind.__name__.lower(): kind for kind in ORDER}  # checkpoints and holds are of one store
ALIASES = {"text": "content", "type": "kind", "references": "refs", "description": "content", "name": "title"}
SORTS = {"cited": "document", "stated": "statement"}  # what sort of source is trusted so far
TIE = ("from", "relation", "to")
Progress = Callable[[int, int], None]
T = TypeVar("T")


@dataclass(slots=True)
class Imported(Noun):
    """What an import did: nouns taken in, and what became of the memories."""

    created: int = 0
    duplicate: int = 0
    known: int = 0
    refused: int = 0
    erased: int = 0  # of those refused: what was erased here before
    others: int = 0
    journal: int = 0
    redacted: list[str] = field(default_factory=list)
    ignored: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    checkpoint: str = ""  # by which it is taken back


def export(
    store: Store, tenant: str, path: Path, now: datetime, *, key: bytes, journal: bool, progress: Progress | None
) -> int:  # fmt: skip
    """Write a store to a file, whole or not at all, readable by its owner alone."""
    total = store.stats(tenant)["memories"]
    count = 0
    seal = hmac.new(key, digestmod=hashlib.sha256)
    with whole_file(path) as file:
        seal.update(_write(file, {"type": "header", "format": FORMAT, "exported_at": times.iso(now)}))
        for noun, data in _lines(store, tenant, journal):
            seal.update(_write(file, {"type": noun, **data}))
            if noun == "memory":
                count += 1
                if progress and (count % 100 == 0 or count == total):
                    progress(count, max(count, total))
        _write(file, {"type": "seal", "hmac": seal.hexdigest()})
    return count


def is_sealed(path: Path, key: bytes) -> bool:
    """Whether a file is an export of this home, unchanged since."""
    seal = hmac.new(key, digestmod=hashlib.sha256)
    with path.open("rb") as file:
        for line in file:
            if line.startswith(SEAL.encode()):
                told = f'{SEAL}, "hmac": "{seal.hexdigest()}"}}\n'.encode()
                return hmac.compare_digest(line, told) and not file.read(1)
            seal.update(line)
    return False


def export_salvaged(found: Salvaged, path: Path, now: datetime, *, journal: bool) -> int:
    """Write what was salvaged, in the form of an export; the history only where no change of it is missing."""
    nouns = {kind: [noun for noun in found.nouns if type(noun) is kind] for kind in ORDER}
    whole = bool(found.entries) and found.entries[-1].seq == len(found.entries)
    with whole_file(path) as file:
        _write(file, {"type": "header", "format": FORMAT, "exported_at": times.iso(now), "salvaged": True})
        for kind, held in nouns.items():
            for noun in sorted(held, key=lambda noun: noun.id):
                _write(file, {"type": kind.__name__.lower(), **noun.as_dict()})
        for entry in found.entries if journal and whole else ():
            _write(file, {"type": "entry", **entry.as_dict()})
    return len(nouns[Memory])


def export_graph(graph: Graph, path: Path) -> int:
    """Write the graph as the reference memory server keeps it; gives the number of entities."""
    found = graph.read(sys.maxsize)
    with whole_file(path) as file:
        for node in found.nodes:
            _write(file, {"type": "entity", "name": node.name, "entityType": node.kind,
                          "observations": list(node.observations)})  # fmt: skip
        for tie in found.relations:
            _write(file, {"type": "relation", "from": tie.origin, "to": tie.target, "relationType": tie.relation})
    return len(found.nodes)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file that is there whole or not at all."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is not a file.", fix="Name a file to write to.")
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            yield file
        os.replace(fresh, path)
    except OSError as error:
        raise StoreReadOnly(
            f"{path} cannot be written: {error.strerror}.", fix="Choose a file in a folder you can write."
        ) from error
    finally:
        fresh.unlink(missing_ok=True)


def _write(file: TextIO, data: dict[str, Any]) -> bytes:
    line = json.dumps(data, ensure_ascii=False) + "\n"
    file.write(line)
    return line.encode()


def _lines(store: Store, tenant: str, journal: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind in ORDER:
        after = ""
        while batch := store.all(tenant, kind, after, 1000):
            after = batch[-1].id
            if kind is Memory:  # with their counters of use
                known = store.memories(tenant, [noun.id for noun in batch])
                batch = [known[noun.id] for noun in batch if noun.id in known]
            for noun in batch:
                yield kind.__name__.lower(), noun.as_dict()
    for entry in store.each_entry(tenant, Trace()) if journal else ():
        yield "entry", entry.as_dict()


def read(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their line numbers; an error names the line."""
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                try:
                    data = parse_json(line)
                except ValueError as error:
                    raise BadInput(f"{path}, line {number} is not JSON: {error}.") from error
                if not isinstance(data, dict):
                    raise BadInput(f"{path}, line {number} is not a JSON object.")
                yield number, data
    except UnicodeDecodeError as error:
        raise _unreadable(path) from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", fix="Check the path.") from error


def _unreadable(path: Path) -> BadInput:
    """Why a file that is no text cannot be taken in."""
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return BadInput(
                f"{path} is an SQLite database, not a file of JSON lines.",
                fix="If Recollect wrote it, name it as the store: recollect --store FILE list. If another program did, "
                'export it there first, as one JSON object with "content" a line.',
            )
    return BadInput(
        f"{path} is not UTF-8 text, and so no file of JSON lines.",
        fix="Unpack it or convert it first, such as with: iconv -f latin1 -t utf-8",
    )


class Importer:
    def __init__(self, writer: Writer, graph: Graph, trust: str, erasures: Erasures) -> None:
        self._writer = writer
        self._store, self._tenant, self._actor, self._now = writer.store, writer.tenant, writer.actor, writer.now
        self._graph = graph
        self._trust = trust  # as far as the file is believed
        self._erasures = erasures
        self._nodes: list[Node] = []
        self._relations: list[Relation] = []
        self._ties: list[dict[str, Any]] = []
        self._about: dict[str, list[str]] = {}  # what the memory of a source is about
        self._rejections = Rejections(writer)
        self._result = Imported()
        self._redacted: set[str] = set()
        self._ignored: Counter[str] = Counter()

    def run(self, path: Path, scope: Scope, progress: Progress | None) -> Imported:
        """Take a file in. It is read and checked whole before the first change."""
        nouns: list[Kept] = []
        drafts: list[Draft] = []
        entries: list[Entry] = []
        for number, data in read(path):
            try:
                self._parse(data, scope, path, nouns, drafts, entries)
            except BadInput as error:
                error.message = f"{path}, line {number}: {error.message}"
                raise
        nouns = self._sift(nouns, entries)
        if entries and self._trust != "stated":
            self._result.notes.append(
                f"{len(entries)} journal rows left out: this home did not export the file (--trust stated takes them)"
            )
        elif entries and self._store.head(self._tenant) == 0:
            self._replay(entries, nouns)
            nouns = [noun for noun in nouns if not isinstance(noun, Memory)]
        elif entries:
            self._result.notes.append(f"{len(entries)} journal rows left out: the store is not empty")
        stones = [noun for noun in nouns if isinstance(noun, Tombstone)]
        since = {stone.memory: stone.created_at for stone in stones}
        self._rejections = Rejections(self._writer, since, self._trust)
        self._take(nouns, progress)
        self._result.notes += self._rejections.notes()
        for batch in self._writer.remember(self._unknown(drafts), None):
            for result in batch:
                self._count(result.action, result.redacted)
        self._take_graph(Source("", "import", uri=path.name[:MAX_NAME]))
        self._tie()
        self._result.redacted = sorted(self._redacted)
        self._result.ignored = dict(self._ignored)
        return self._result

    def _parse(
        self, data: dict[str, Any], scope: Scope, path: Path, nouns: list[Kept], drafts: list[Draft],
        entries: list[Entry],
    ) -> None:  # fmt: skip
        kind = data.get("type")
        if kind == "seal" and "hmac" in data:
            return
        if kind == "header":
            if data.get("format") != FORMAT:
                raise BadInput(f"Export format {data.get('format')!r} is not known.", fix="Upgrade recollect.")
        elif kind == "entry":
            entries.append(self._entry(data))
        elif kind in NOUNS and "id" in data and issubclass(NOUNS[str(kind)], AGENT_NOUNS) and self._trust != "stated":
            self._ignored[f"{kind} (who takes part is taken in with --trust stated alone)"] += 1
        elif kind in NOUNS and "id" in data:
            nouns.append(self._noun(NOUNS[str(kind)], data))
        elif kind == "entity" and "entityType" in data:
            name, entity_type = _texts(data, "name", "entityType")
            told = _list_of_texts(data, "observations")
            said = [found for one in told for found in self._unless_erased(key(f"{name}: {one}"), scope, one)]
            self._nodes.append(Node(name, entity_type, tuple(said)))
        elif kind == "relation" and "relationType" in data:
            self._relations.append(Relation(*_texts(data, "from", "relationType", "to")))
        elif kind == "tie":
            one_of(data.get("relation"), RELATIONS, "relation")
            self._ties.append(dict(zip(TIE, _texts(data, *TIE), strict=True)) | {"reason": str(data.get("reason", ""))})
        else:
            draft = self._draft(data, scope, path)
            made = prepare(
                draft, self._writer.content_limit, self._actor, self._writer.labels
            )  # here, so that an error names the line
            drafts += self._unless_erased(made.key, made.draft.scope, draft)

    def _sift(self, nouns: list[Kept], entries: list[Entry]) -> list[Kept]:
        """Leave out what was erased here; and the history of a file that tells of it."""
        kept, erased = sift(nouns, self._erasures)
        self._result.refused += erased
        self._result.erased += erased
        # A purge leaves blank rows of what it erased, and an export of later has them.
        telling = (one for one in entries if one.before or one.after)
        if entries and (erased or any(self._erasures.has(one.noun, one.target) for one in telling)):
            self._result.notes.append(f"{len(entries)} journal rows left out: they tell of what was erased here")
            entries.clear()
        if self._result.erased:
            self._result.notes.append(f"{self._result.erased} left out that were erased here before the file was made")
        return kept

    def _unless_erased(self, content_key: str, scope: Scope, given: T) -> list[T]:
        """Nothing where this was erased; a line without a date is taken for an old one."""
        if not self._erasures.has_said(content_key, scope.stored()):
            return [given]
        self._result.refused += 1
        self._result.erased += 1
        return []

    def _noun(self, kind: type[Kept], data: dict[str, Any]) -> Kept:
        """A noun of an export, checked as if it were new."""
        try:
            noun = kind.from_dict(data)
        except (TypeError, AttributeError) as error:
            raise BadInput(f"This is no {kind.__name__.lower()} of ours: {error}.") from error
        if not isinstance(noun.id, str) or len(noun.id) != ids.LENGTH or not ids.plausible(noun.id):
            raise BadInput(f"{noun.id!r} is not an id.")
        cleaner = Cleaner(self._writer.content_limit, redact)
        if isinstance(noun, Memory):
            draft = fields_of(Draft(**{name: getattr(noun, name) for name in COPIED}), cleaner)
            own: dict[str, Any] = {name: getattr(draft, name) for name in COPIED}
            one_of(noun.state, STATES, "state")
            one_of(noun.trust, TRUSTS, "trust")
            trust = lowest((noun.trust, self._trust))
            noun = replace(noun, content_hash=key(draft.content), trust=trust, **own)
        elif isinstance(noun, Source):
            noun = replace(source_of(noun, self._actor, cleaner), id=noun.id)
        elif isinstance(noun, Evidence):
            noun = replace(
                noun, quote=cleaner.text(noun.quote, "quote"), place=cleaner.text(noun.place, "place", MAX_REF)
            )
        elif isinstance(noun, Entity):
            noun = replace(noun, name=cleaner.text(noun.name, "name", MAX_NAME))
        elif isinstance(noun, AGENT_NOUNS):
            noun = _checked_agent(noun)
        elif isinstance(noun, Link | Tombstone):
            noun = replace(noun, reason=cleaner.text(noun.reason, "reason", 1000))
        self._redacted |= cleaner.redacted
        now, checked = self._now(), cast(Any, noun)
        dates = {name: getattr(noun, name, None) for name in ("created_at", "updated_at")}
        clamped: Kept = replace(
            checked, **{name: now for name, told in dates.items() if told is not None and told > now}
        )
        return clamped

    def _entry(self, data: dict[str, Any]) -> Entry:
        if any(redact(said)[1] for said in text.strings([data.get("before"), data.get("after"), data.get("reason")])):
            raise BadInput("A journal row holds a secret.", fix="Export again without the journal.")
        try:
            return Entry.from_dict(data)
        except (TypeError, AttributeError) as error:
            raise BadInput(f"This is no journal row of ours: {error}.") from error

    def _draft(self, data: dict[str, Any], scope: Scope, path: Path) -> Draft:
        named = {ALIASES.get(name, name) if ALIASES.get(name) not in data else name: v for name, v in data.items()}
        if "content" not in named:
            raise BadInput("There is no content here.", fix='Each line needs at least {"content": "…"}.')
        known = {f.name for f in fields(Draft)}
        self._ignored.update(name for name in named if name not in known and name not in (*SCOPE_FIELDS, "about"))
        places = {name: str(named.pop(name)) for name in SCOPE_FIELDS if named.get(name)}
        values: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in named.items() if name in known
        }
        values["scope"] = replace(scope, **places)
        said = values.get("source")
        if isinstance(said, dict):
            values["source"] = self._source(said, _list_of_texts(named, "about"))
        elif isinstance(said, str) and self._trust != "stated":
            values["source"] = Source("", "import", uri=said[:MAX_REF])
        values.setdefault("source", Source("", "import", uri=path.name[:MAX_NAME]))
        return Draft(**values)

    def _source(self, said: dict[str, Any], about: list[str]) -> Source:
        """A source that a line names, of the sort that is as trusted as the import is."""
        id = said.get("id")
        if not isinstance(id, str) or not ids.whole(id):
            raise BadInput(f"{id!r} is not an id of a source.")
        self._about[id] = about
        told = Source(id, SORTS.get(self._trust, "import"), occurred_at=said.get("occurred_at") or None)
        texts: dict[str, Any] = {
            name: said.get(name) or "" for name in ("uri", "title", "content", "author", "session")
        }
        return replace(told, **texts)

    def _unknown(self, drafts: list[Draft]) -> list[Draft]:
        """The drafts whose source is not here yet; the others were taken in before."""
        named = {draft.source.id for draft in drafts if isinstance(draft.source, Source) and draft.source.id}
        here = {source.id for source in self._store.of(self._tenant, Source, sorted(named))} if named else set()
        fresh = [one for one in drafts if not (isinstance(one.source, Source) and one.source.id in here)]
        self._result.known += len(drafts) - len(fresh)
        return fresh

    def _tie(self) -> None:
        """Tie memories to the entities they are about and to each other, by their sources."""
        ends = {one[end] for one in self._ties for end in ("from", "to")}
        ends |= {id for id, told in self._about.items() if told}
        found = {memory.source: memory for memory in self._store.of(self._tenant, Memory, sorted(ends), "source")}
        about = [(name, ABOUT, found[id].id) for id, named in self._about.items() if id in found for name in named]
        for start in range(0, len(about), MAX_GIVEN):
            self._result.others += self._graph.attach(about[start : start + MAX_GIVEN])
        for one in self._ties:
            first, second = found.get(one["from"]), found.get(one["to"])
            if not first or not second or first.id == second.id or first.scope.user != second.scope.user:
                continue
            if TRUSTS.index(second.trust) <= TRUSTS.index(self._trust):  # a file ends nothing that is trusted more
                self._writer.link(first, one["relation"], second, one["reason"])

    def _replay(self, entries: list[Entry], nouns: list[Kept]) -> None:
        """History and all, in one transaction; the memories of the file must be what the history leads to."""
        with self._store.transaction(self._tenant, self._actor, self._now()) as changes:
            for entry in entries:
                changes.replay(entry)
            for noun in nouns:
                if isinstance(noun, Memory):
                    found = changes.get(Memory, noun.id)
                    if found is None or found.record() != noun.record():
                        raise BadInput(f"The history does not lead to memory {noun.id} as it is in the file.")
                    self._result.created += 1
        self._store.restore_usage(self._tenant, [noun for noun in nouns if isinstance(noun, Memory)])
        self._result.journal = len(entries)

    def _take(self, nouns: list[Kept], progress: Progress | None) -> None:
        ordered = sorted(nouns, key=lambda noun: (ORDER.index(type(noun)), noun.id))
        for start in range(0, len(ordered), BATCH):
            batch = ordered[start : start + BATCH]
            with self._store.transaction(self._tenant, self._actor, self._now()) as changes:
                parts = self._writer.tombstoned(noun for noun in batch if isinstance(noun, Memory))
                fresh = [noun for noun in batch if self._one(changes, noun, parts)]
            used = [noun for noun in fresh if isinstance(noun, Memory) and (noun.recalled or noun.accessed)]
            if used:
                self._store.restore_usage(self._tenant, used)
            if progress:
                progress(start + len(batch), len(ordered))

    def _take_graph(self, source: Source) -> None:
        """Entities and relations: what is there already gets what is new of it."""
        for start in range(0, len(self._nodes), MAX_GIVEN):
            nodes = self._nodes[start : start + MAX_GIVEN]
            here = {one.name: set(one.observations) for one in self._graph.open([node.name for node in nodes]).nodes}
            fresh = {node.name: node for node in self._graph.create(nodes, source)}
            told = [(node.name, self._unheard(node, here.get(node.name, set()))) for node in nodes if node.name in here]
            said = sum(map(len, self._graph.observe(told, source)))
            self._result.created += said + sum(len(node.observations) for node in fresh.values())
            self._result.others += len(fresh)
        for relation in self._relations:
            try:
                self._result.others += len(self._graph.relate([relation]))
            except NotFound as error:
                self._result.notes.append(f"a relation left out: {error.message}")

    def _unheard(self, node: Node, here: set[str]) -> tuple[str, ...]:
        fresh = tuple(one for one in node.observations if text.clean(one) not in here)
        self._result.known += len(node.observations) - len(fresh)
        return fresh

    def _one(self, changes: Transaction, noun: Kept, parts: set[str]) -> bool:
        """Take one noun in; whether it is new."""
        if isinstance(noun, Tombstone):
            fresh = self._rejections.take(changes, noun)
            self._result.others += fresh
            return fresh
        if changes.get(type(noun), noun.id):
            self._count("known" if isinstance(noun, Memory) else "")
            return False
        if changes.was_purged(noun.id) or not self._whole(changes, noun):
            self._count("refused" if isinstance(noun, Memory) else "")
            return False
        if isinstance(noun, Memory) and noun.state == "rejected" and self._rejections.outlived(changes, noun):
            self._count("refused")
            return False
        if isinstance(noun, Memory) and noun.state in ("active", "pending"):
            if stone := self._writer.rejected(changes, noun, parts):
                changes.note("refuse", stone.id, "the value was rejected before")
                self._count("refused")
                return False
            if same := changes.same(noun.content_hash, noun.scope):
                # Not `observe`: that somebody said it elsewhere, some time ago, is no news of today.
                changes.put(replace(same, observed=same.observed + noun.observed), "import")
                self._count("duplicate")
                return False
        if isinstance(noun, Agent) and self._store.matching(self._tenant, Agent, {"key": noun.key}, limit=1):
            noun = replace(noun, key="")
        changes.put(noun, "import")
        if isinstance(noun, Memory):
            self._count("created")
        else:
            self._result.others += 1
        return True

    def _whole(self, changes: Transaction, noun: Kept) -> bool:
        """Whether what a noun points at is there; nothing is believed without a source."""
        if isinstance(noun, Memory):
            return changes.get(Source, noun.source) is not None
        if isinstance(noun, Evidence):
            return bool(changes.get(Memory, noun.memory) and changes.get(Source, noun.source))
        if isinstance(noun, Pool):
            named = {"user": noun.scope.user, "name": noun.name}
            return not self._store.matching(self._tenant, Pool, named, limit=1)
        if isinstance(noun, Member):
            return bool(changes.get(Pool, noun.pool) and changes.get(Agent, noun.agent))
        if isinstance(noun, Share):
            return bool(changes.get(Pool, noun.pool) and changes.get(Memory, noun.memory))
        if isinstance(noun, Link):
            ends = ((noun.origin_kind, noun.origin), (noun.target_kind, noun.target))
            return all(changes.get(Memory if kind == "memory" else Entity, end) for kind, end in ends)
        return True

    def _count(self, action: str, redacted: tuple[str, ...] = ()) -> None:
        self._redacted.update(redacted)
        if action:
            setattr(self._result, action, getattr(self._result, action) + 1)


def _checked_agent(noun: Any) -> Kept:
    """A noun of agents, with values that there are; a token is of one store, so nobody is tied to one."""
    for name, allowed in (("reach", REACHES), ("permission", PERMISSIONS)):
        if hasattr(noun, name):
            one_of(getattr(noun, name), allowed, name)
    if not isinstance(noun, Agent):
        return cast(Kept, noun)
    one_of(noun.kind, AGENT_KINDS, "kind")
    for capability in noun.can:
        one_of(capability, CAPABILITIES, "capability")
    return replace(noun, key="") if noun.key.startswith("token ") else noun


def _texts(data: dict[str, Any], *names: str) -> list[str]:
    if wrong := [name for name in names if not isinstance(data.get(name), str) or not data[name].strip()]:
        raise BadInput(f"{wrong[0]} must be text.")
    return [data[name] for name in names]


def _list_of_texts(data: dict[str, Any], name: str) -> list[str]:
    said = data.get(name, [])
    if not isinstance(said, list) or not all(isinstance(one, str) and one.strip() for one in said):
        raise BadInput(f"{name} must be a list of texts.")
    return said
