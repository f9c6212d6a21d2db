"""Citations and branches: whether what a memory cites still stands, and where the memory applies.

    src/pool.py              a file            commit:1a2b3c…            a commit
    src/pool.py::Pool.take   a symbol in it    blob:src/pool.py@9f8e…    its content when it was cited

`verify` compares the citations of a project; a memory with a changed citation gets the tag `stale` until all stand
again. It is compared with its own branch, or else also with the default branch, so that switching marks nothing.
When a branch is merged, its memories apply to the project; when it is deleted unmerged, they are archived.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..agents.places import Seen
from ..checks import MAX_TAGS
from ..engine import Engine
from ..errors import BadInput
from ..grounding import STALE
from ..recall.query import MAX_LIMIT
from ..remember.drafts import MAX_REF, MAX_REFS
from ..types import Memory, Noun, Scope
from .git import Repository
from .ingest import outdated_memories

TAG = "stale"
CHANGED = "its file changed since it was read"
MAX_SQUASHED = 500  # files of a branch that are compared with the default branch
_BLOB = re.compile(r"blob:(?P<place>.+)@(?P<hash>[0-9a-f]{40,64})")
_COMMIT = re.compile(r"commit:(?P<sha>[0-9a-f]{7,64})")
_DEFINES = (
    r"\s*(?:[\w@<>\[\],*&:()\"]+\s+)*(?:def|class|function\*?|func|fn|struct|interface|type|enum|trait|impl|module|"
    r"const|let|var|val|func\s*\([^)]*\))\s+"
)
_NO_HEAD = "(?:return|if|elif|else|for|while|raise|throw|assert|await|yield|import|from|print|case|new|del|not)"
_OTHER = re.compile(r"[A-Za-z][\w+.-]*:|#|@")  # a URL, a ticket, a person: nothing of the repository


@dataclass(frozen=True, slots=True)
class Stale(Noun):
    """A memory that needs a look, and why."""

    id: str
    title: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verified(Noun):
    """What a look at the citations found: how many memories cite something, those that are stale, those no longer."""

    checked: int = 0
    stale: tuple[Stale, ...] = ()
    recovered: tuple[str, ...] = ()


def files_of(refs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What of a repository references may name: paths, each with the symbol in it or nothing.

    >>> list(files_of(["src/a.py", "src/b.py::Pool.take", "https://x.example/a.py", "commit:1a2b3c4"]))
    [('src/a.py', ''), ('src/b.py', 'Pool.take')]
    """
    for ref in refs:
        path, _, symbol = ref.partition("::")
        if path.strip() and not _OTHER.match(path) and "\n" not in path:
            yield path.strip(), symbol.strip()


def with_blobs(refs: Sequence[str], repository: Repository) -> tuple[str, ...]:
    """The references, with what each file and symbol of the repository among them is now."""
    known = {match["place"] for ref in refs if (match := _BLOB.fullmatch(ref))}
    wanted: dict[str, str] = {}
    for path, symbol in files_of(refs):
        try:
            own = repository.inside(path)
        except BadInput:  # outside: not ours to look at
            continue
        if (place := f"{own}::{symbol}" if symbol else own) not in known:
            wanted[place] = own
    hashes = repository.hashes(list(dict.fromkeys(wanted.values())))
    blobs = []
    for place, path in wanted.items():
        symbol = place[len(path) + 2 :]
        now = hash_of(repository.text_at("", path), symbol) if symbol and path in hashes else hashes.get(path)
        blobs += [f"blob:{place}@{now}"] if now else []
    return (*refs, *blobs[: max(0, MAX_REFS - 1 - len(refs))])  # one is left for `stale`


def accept(engine: Engine, repository: Repository, id: str) -> Memory:
    """Somebody looked and it is still true: cite what the files are now."""
    memory = engine.get(id, peek=True)
    kept = [ref for ref in memory.refs if not _BLOB.fullmatch(ref) and not ref.startswith(STALE)]
    tags = tuple(tag for tag in memory.tags if tag != TAG)
    refs = with_blobs(kept, repository)
    if (refs, tags) == (memory.refs, memory.tags):
        return memory
    return engine.edit(memory.id, refs=refs, tags=tags, reason="looked at: still true")


def hash_of(text: str, symbol: str) -> str | None:
    """What a symbol is in a text: the hash of its definition, without the blanks at the ends of lines. Pure.

    >>> hash_of("def a():\\n    pass\\n", "a") == hash_of("import os\\n\\ndef a():\\n    pass\\n\\nb = 1\\n", "a")
    True
    >>> hash_of("def a():\\n    pass\\n", "b") is None
    True
    """
    block = definition(text, symbol)
    return hashlib.sha1(block.encode("utf-8", "replace"), usedforsecurity=False).hexdigest() if block else None


def definition(text: str, symbol: str) -> str:
    """The lines that define a symbol: its head and what is indented below it, in whichever language. Pure.

    >>> definition("class A {\\n  int b() {\\n    return 1;\\n  }\\n  int c;\\n}\\n", "A.b")
    '  int b() {\\n    return 1;\\n  }'
    """
    name = re.escape(re.split(r"[.:#]+", symbol.rstrip("()"))[-1])
    lines = text.splitlines()
    heads = (rf"{_DEFINES}[*&]?{name}\b", rf"\s*(?!{_NO_HEAD}\b)(?:[\w<>\[\]*&:,?]+\s+)*[*&]?{name}\s*[(=:<{{]")
    start = next((n for head in heads for n, line in enumerate(lines) if re.match(head, line)), None)
    if start is None:
        return ""
    depth = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines):
        line = lines[end].strip()
        deeper = len(lines[end]) - len(lines[end].lstrip()) > depth
        if line and not deeper and not re.match(r"[)\]}{]|end\b", line):
            break
        end += 1
        if line and not deeper and re.match(r"}|end\b", line):
            break
    return "\n".join(line.rstrip() for line in lines[start:end]).rstrip()


def verify(engine: Engine, repository: Repository, project: str, *, mark: bool = True) -> Verified:
    """Look at every citation of a project's memories; with `mark`, what is stale is marked and what stands cleared."""
    look = CitationCheck(repository)
    citing = [one for one in memories(engine, project) if one.refs and one.kind != "turn"]  # what was said stays said
    look.learn(citing)
    changed = set() if repository.bare else outdated_memories(engine, repository.root, project)
    checked, stale, recovered = 0, list[Stale](), list[str]()
    for memory in citing:
        reasons = look.at(memory)
        if memory.id in changed:
            reasons = [*(reasons or ()), CHANGED]
        elif reasons is None and any(ref.startswith(STALE) and CHANGED in ref for ref in memory.refs):
            reasons = []
        checked += reasons is not None
        if reasons:
            stale.append(Stale(memory.id, memory.title or memory.content[:80], tuple(reasons)))
        elif reasons is not None and TAG in memory.tags:
            recovered.append(memory.id)
        if mark and reasons is not None:
            _mark(engine, memory, reasons)
    return Verified(checked, tuple(stale), tuple(recovered))


def memories(engine: Engine, project: str) -> Iterator[Memory]:
    """Everything active of a project, of every user and branch."""
    return every(engine, scope=Scope(project=project))


def every(engine: Engine, **asked: Any) -> Iterator[Memory]:
    """All pages of a list."""
    cursor: str | None = None
    while True:
        page = engine.list(limit=MAX_LIMIT, cursor=cursor, **asked)
        yield from page.memories
        if not (cursor := page.cursor):
            return


def _mark(engine: Engine, memory: Memory, reasons: Sequence[str]) -> None:
    told = f"{STALE}{'; '.join(reasons)}"[:MAX_REF]
    plain = tuple(ref for ref in memory.refs if not ref.startswith(STALE))
    tags = tuple(tag for tag in memory.tags if tag != TAG)
    if reasons:
        refs, tags = (*plain[: MAX_REFS - 1], told), (*tags, TAG)[:MAX_TAGS]
    else:
        refs = plain
    if (refs, tags) != (memory.refs, memory.tags):
        why = f"stale: {'; '.join(reasons)}" if reasons else "what it cites stands again"
        engine.edit(memory.id, refs=refs, tags=tags, reason=why[:1000])


@dataclass
class CitationCheck:
    """One look at a repository: what was asked once is not asked again."""

    repository: Repository
    _hashes: dict[tuple[str, str], str | None] = field(default_factory=dict)
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)
    _commits: dict[str, str] = field(default_factory=dict)

    @cached_property
    def refs(self) -> dict[str, str]:
        return self.repository.refs()

    @cached_property
    def branch(self) -> str:
        told = self.repository.ask("symbolic-ref", "-q", "--short", "HEAD", fine=(0, 1, 128))
        return told.strip()

    @cached_property
    def default(self) -> str:
        return self.repository.default(self.refs)

    def learn(self, memories: Sequence[Memory]) -> None:
        """Ask for all files that memories cite at once: a process for each would take its time."""
        wanted: dict[str, dict[str, None]] = {}
        for memory in memories:
            for place, _ in _blobs(memory):
                for version in self._versions(memory):
                    wanted.setdefault(version, {})[place.partition("::")[0]] = None
        for version, paths in wanted.items():
            here = self.repository.hashes_at(version, list(paths)) if version else self.repository.hashes(list(paths))
            self._hashes.update({(version, path): here.get(path) for path in paths})

    def at(self, memory: Memory) -> list[str] | None:
        """Why a memory is stale; an empty list where all it cites stands, nothing where it cites nothing of ours."""
        versions = self._versions(memory)
        found = []
        for place, wanted in _blobs(memory) if versions else ():
            told = [self._stands(version, place, wanted) for version in versions]
            found.append("" if "" in told else told[0])
        found += [self._commit(match["sha"]) for ref in memory.refs if (match := _COMMIT.fullmatch(ref))]
        return list(dict.fromkeys(one for one in found if one)) if found else None

    def _versions(self, memory: Memory) -> list[str]:
        """The versions of the code that a memory is about, the first being what it is told by; '' is the work tree."""
        own = memory.scope.branch
        if own and own != self.branch:
            tip = tip_of(self.refs, own)
            return [tip] if tip else []
        work = [] if self.repository.bare else [""]
        aside = not own and self.default and self.branch != self.default
        tip = tip_of(self.refs, self.default) if aside or self.repository.bare else ""
        return [*work, tip] if tip else work

    def _stands(self, at: str, place: str, wanted: str) -> str:
        path, _, symbol = place.partition("::")
        now = self._hashes.get((at, path))
        if now is None:
            return f"{path} is gone"
        if not symbol:
            return "" if now == wanted else f"{path} changed since"
        own = hash_of(self._text(at, path), symbol)
        if own is None:
            return f"{symbol} is gone from {path}"
        return "" if own == wanted else f"{symbol} in {path} changed since"

    def _commit(self, sha: str) -> str:
        if sha not in self._commits:
            whole = self.repository.resolve(sha)
            if not whole:  # of a shallow clone nobody knows what was before
                self._commits[sha] = "" if self.repository.shallow else f"commit {sha[:12]} is not in the repository"
            else:
                words = ("for-each-ref", "--count=1", "--format=x", "--contains", whole)
                held = self.repository.contains(whole, "HEAD") or self.repository.ask(*words).strip()
                self._commits[sha] = "" if held else f"commit {sha[:12]} is on no branch"
        return self._commits[sha]

    def _text(self, at: str, path: str) -> str:
        if (at, path) not in self._texts:
            self._texts[at, path] = self.repository.text_at(at, path)
        return self._texts[at, path]


def _blobs(memory: Memory) -> list[tuple[str, str]]:
    """The files and symbols that a memory cites, with what they were."""
    return [(match["place"], match["hash"]) for ref in memory.refs if (match := _BLOB.fullmatch(ref))]


def tip_of(refs: dict[str, str], branch: str) -> str:
    """Where a branch stands: here, or on a remote as it was last seen."""
    if not branch:
        return ""
    here = refs.get(f"refs/heads/{branch}", "")
    return here or next((sha for name, sha in refs.items() if re.fullmatch(_remote(branch), name)), "")


def _remote(branch: str) -> str:
    return rf"refs/remotes/[^/]+/{re.escape(branch)}"


def follow_branches(engine: Engine, repository: Repository, project: str, seen: Seen) -> tuple[list[str], list[str]]:
    """Promote what was learnt on branches that are merged, archive that of deleted ones; the ids of both."""
    refs = repository.refs()
    default = repository.default(refs)
    base = tip_of(refs, default)
    staged = [memory for memory in memories(engine, project) if memory.scope.branch not in ("", default)]
    if not base:
        return [], []
    branches = _Branches(repository, base, seen)
    local = {name.removeprefix("refs/heads/"): sha for name, sha in refs.items() if name.startswith("refs/heads/")}
    for name in {memory.scope.branch for memory in staged} | local.keys() - {default}:
        if tip := tip_of(refs, name):
            branches.saw(name, tip)
    promoted, archived = list[str](), list[str]()
    for branch in dict.fromkeys(memory.scope.branch for memory in staged):
        there, last = tip_of(refs, branch), seen.branches.get(branch, "")
        if not last or (there and not branches.merged(branch, last)):
            continue
        merged = there or branches.merged(branch, last)
        own = [one for one in staged if one.scope.branch == branch]
        if not merged and (name := branches.renamed(branch, local)):
            for memory in own:
                engine.edit(
                    memory.id, scope=replace(memory.scope, branch=name), reason=f"branch {branch} is now {name}"
                )
            seen.branches.pop(branch, None)
            continue
        for memory in own:
            keep = (merged and memory.kind != "task") or memory.kind == "turn"
            why = f"branch {branch} was {'merged' if merged else 'deleted without being merged'}"
            (promoted if _promote_or_archive(engine, memory, why, keep=keep) else archived).append(memory.id)
        if merged and branch in seen.ahead:
            seen.ahead.remove(branch)
        if not there:
            seen.branches.pop(branch, None)
    return promoted, archived


def _promote_or_archive(engine: Engine, memory: Memory, why: str, *, keep: bool) -> bool:
    """Let a memory hold for the project, or archive it; says whether it was kept."""
    if keep:
        try:
            engine.edit(memory.id, scope=replace(memory.scope, branch=""), reason=why)
        except BadInput as error:  # the project knows it already
            why = f"{why}; {error.message}"
        else:
            return True
    engine.edit(memory.id, state="archived", reason=why[:1000])
    return False


@dataclass
class _Branches:
    """What became of branches, seen from the tip of the default one."""

    repository: Repository
    base: str
    seen: Seen

    @cached_property
    def _trunk(self) -> set[str]:
        """The commits that the default branch itself went through."""
        return set(self.repository.ask("rev-list", "--first-parent", "--max-count=5000", self.base).split())

    def saw(self, name: str, tip: str) -> None:
        self.seen.branches[name] = tip
        if name not in self.seen.ahead and not self.repository.contains(tip, self.base):
            self.seen.ahead.append(name)

    def merged(self, name: str, tip: str) -> bool:
        """Whether what was done on a branch is in the default one; a branch on which nothing was done is not."""
        if not self.repository.resolve(tip):
            return self._said_so(name)
        if self.repository.contains(tip, self.base):
            return name in self.seen.ahead or tip not in self._trunk
        return self._squashed(tip)

    def renamed(self, name: str, local: Iterable[str]) -> str:
        """What a branch that is gone is called now, or nothing: git notes it in the log of the new name."""
        for other in local:
            words = ("log", "--walk-reflogs", "--format=%gs", "--fixed-strings", f"--grep-reflog=refs/heads/{name} to ")
            told = self.repository.ask(*words, f"refs/heads/{other}", "--", fine=(0, 128))
            if f"Branch: renamed refs/heads/{name} to refs/heads/{other}" in told.splitlines():
                return other
        return ""

    def _squashed(self, tip: str) -> bool:
        """Whether every file that the branch changed is the same on the default branch, which has moved on since."""
        fork = self.repository.ask("merge-base", tip, self.base, fine=(0, 1)).strip()
        if not fork or fork == self.base:
            return False
        told = self.repository.ask("diff", "--name-only", "-z", "--no-renames", fork, tip)
        changed = [path for path in told.split("\0") if path]
        if not changed or len(changed) > MAX_SQUASHED:
            return False
        return self.repository.says("diff", "--quiet", "--no-ext-diff", self.base, tip, "--", *changed)

    def _said_so(self, name: str) -> bool:
        """Whether a merge of the default branch names it: for a branch of which nothing is left."""
        words = ("log", "--merges", "--fixed-strings", "--max-count=1", "--format=%H")
        greps = (f"--grep=Merge branch '{name}'", f"--grep=/{name}")
        return bool(self.repository.ask(*words, *greps, self.base, "--").strip())
