"""Documents: markdown by heading, plain text, meeting transcripts, and instructions for assistants. Pure.

A section is a piece. Files that instruct an assistant (CLAUDE.md, AGENTS.md, cursor rules) are read item by item:
orders become rules, preferences become preferences.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .. import text as texts
from ..language import tables
from . import markdown
from .patterns import Patterns
from .piece import Piece

_RE = Patterns("documents")
MAX_PIECE = 6000  # characters of one piece: longer sections are cut between paragraphs
STRETCH = 1500  # characters of a transcript or of plain text that are kept together
MAX_PIECES = 2000  # of one file
MARKDOWN = (".md", ".markdown", ".mdx", ".mdc", ".mkd", ".rst", ".adoc")
CAPTIONS = (".vtt", ".srt")
PLAIN = (".txt", ".text", *CAPTIONS, ".log")
SUFFIXES = (*MARKDOWN, *PLAIN)
PAPERS = ("readme", "news", "changes", "changelog", "history", "contributing", "authors", "install", "upgrading")
_VERSION = re.compile(r"^(?=\S.{0,78}$)(?:[vV]|[vV]ersion |[rR]elease )?\d+(?:\.\d+)+.*(?=\n+[ \t*-])", re.MULTILINE)
_TYPES = {"user": "preference", "feedback": "rule", "project": "fact", "reference": "doc", "preference": "preference",
          "rule": "rule", "fact": "fact", "decision": "decision", "lesson": "lesson",
          "procedure": "procedure"}  # fmt: skip
_NOT_SPEAKERS = frozenset(tables.words("records", "no speakers"))


def instructs(path: str) -> bool:
    """Whether a file is one that tells an assistant how to behave.

    >>> instructs("app/CLAUDE.md"), instructs(".cursor/rules/python.mdc"), instructs("README.md")
    (True, True, False)
    """
    name = path.replace("\\", "/")
    last = name.rpartition("/")[2].lower()
    return (
        last in ("claude.md", "claude.local.md", "agents.md", "gemini.md", ".cursorrules", ".windsurfrules",
                 ".clinerules", "copilot-instructions.md", "conventions.md")
        or last.endswith((".mdc", ".instructions.md"))
        or "/.cursor/rules/" in f"/{name}"
        or "/.claude/rules/" in f"/{name}"
    )  # fmt: skip


def recognises(path: str, text: str) -> float:
    """How sure it is, from 0 to 1, that a text is a document: always a little, where nothing better is known."""
    name = path.lower()
    if instructs(path) or name.endswith(("memory.md", *CAPTIONS)):
        return 1.0
    return 0.45 if name.endswith(SUFFIXES) else 0.0


def read(text: str, path: str) -> list[Piece]:
    """The pieces of any document."""
    front, body = markdown.front_matter(text)
    if path.lower().endswith(CAPTIONS) or body.startswith("WEBVTT"):
        body = _spoken(body)
    title = _title(front, body, path)
    if instructs(path):
        found = list(_instructions(front, body, title))
    elif kind := _TYPES.get(front.get("type", front.get("metadata.type", "")).lower()):
        found = _typed(front, body, kind)
    elif speaking := _speaking(body):
        found = list(_meeting(body, speaking, title, path))
    elif path.lower().endswith(PLAIN):
        found = list(_plain(body, title))
    elif "." not in (name := re.split(r"[\\/]", path)[-1]) and name.lower() in PAPERS:
        found = list(_sections(_VERSION.sub(r"## \g<0>", body), title))
    else:
        found = list(_sections(_without_index(body) if path.lower().endswith("memory.md") else body, title))
    return _distinct(found)[:MAX_PIECES]


def _title(front: dict[str, str], body: str, path: str) -> str:
    first = next((part.title for part in markdown.sections(body) if part.level == 1 and part.title), "")
    name = re.split(r"[\\/]", path)[-1]
    return texts.shorten(front.get("title") or first or name, 120)


def _distinct(pieces: list[Piece]) -> list[Piece]:
    """Each piece under a key of its own: of two headings that are called the same, the second gets a number."""
    seen: Counter[str] = Counter()
    named = []
    for piece in pieces:
        seen[piece.key] += 1
        count = seen[piece.key]
        named.append(piece if count == 1 else replace(piece, key=f"{piece.key} ({count})"))
    return named


def _sections(body: str, title: str, importance: int = 5) -> Iterator[Piece]:
    for part in markdown.sections(body):
        if not part.body.strip("-*_= \n"):
            continue
        path = [name for name in part.path if name]
        key = " > ".join(path) or "opening"
        told = " > ".join(dict.fromkeys((title, *path)))
        for number, cut in enumerate(_cut(part.body)):
            yield Piece(
                content=cut, kind="doc", title=texts.shorten(told, 280), context=told, tags=("document",),
                importance=importance, key=key if not number else f"{key} part {number + 1}",
            )  # fmt: skip


def _cut(body: str, most: int = MAX_PIECE) -> list[str]:
    """A text in parts of at most so many characters, between paragraphs where it can be."""
    if len(body) <= most:
        return [body] if body.strip() else []
    parts: list[str] = []
    for paragraph in re.split(r"\n[ \t]*\n", body):
        while len(paragraph) > most:
            at = max(paragraph.rfind("\n", most // 2, most), paragraph.rfind(" ", most // 2, most))
            at = at if at > 0 else most
            parts.append(paragraph[:at])
            paragraph = paragraph[at:]
        if parts and len(parts[-1]) + len(paragraph) + 2 <= most:
            parts[-1] += f"\n\n{paragraph}"
        else:
            parts.append(paragraph)
    return [part.strip("\n") for part in parts if part.strip()]


def _without_index(body: str) -> str:
    """A memory file without the list of others, which are read by themselves."""
    return "\n".join(line for line in body.split("\n") if not _RE.index.fullmatch(line))


def _typed(front: dict[str, str], body: str, kind: str) -> list[Piece]:
    content = body.strip() or front.get("description", "")
    if not content:
        return []
    title = texts.shorten(front.get("name") or front.get("title") or texts.title_of(content), 280)
    told = front.get("description", "")
    return [
        Piece(cut, kind, title, context=told, tags=("memory-file",), importance=6, key=f"memory {number}")
        for number, cut in enumerate(_cut(content))
    ]


def _instructions(front: dict[str, str], body: str, title: str) -> Iterator[Piece]:
    where = front.get("globs") or front.get("applyto") or front.get("paths") or ""
    for part in markdown.sections(body):
        path = [name for name in part.path if name]
        told = " > ".join(dict.fromkeys((title, *path)))
        key = " > ".join(path) or "opening"
        rest = []
        for number, item in enumerate(_listed(part.body)):
            if not item.order:
                rest.append(item.text)
                continue
            content = item.text if not where else f"{item.text} (for {where})"
            kind = "preference" if _RE.prefers.search(item.text) else "rule"
            yield Piece(
                content=texts.cut(content, MAX_PIECE), kind=kind, title=texts.title_of(item.text), context=told,
                tags=("instruction",), importance=6, key=f"{key} rule {number}",
            )  # fmt: skip
        for number, cut in enumerate(_cut("\n\n".join(rest).strip())):
            yield Piece(
                content=cut, kind="doc", title=texts.shorten(told, 280), context=told, tags=("instruction",),
                importance=6, key=key if not number else f"{key} part {number + 1}",
            )  # fmt: skip


class _Item(NamedTuple):
    """One bullet or paragraph of a section, and whether it orders or prefers something."""

    text: str
    order: bool


def _listed(body: str) -> list[_Item]:
    """The bullets of a section one by one, and everything between them as it stands."""
    found: list[_Item] = []
    bullet: list[str] = []
    loose: list[str] = []

    def close() -> None:
        if bullet:
            told = "\n".join(bullet).strip()
            found.append(_Item(told, True)) if _is_order(told) else loose.append(f"- {told}")
            bullet.clear()

    for line, code in markdown.lines(body):
        mark = None if code else re.fullmatch(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)", line)
        if mark:
            close()
            bullet.append(mark[1])
        elif bullet and (line.startswith((" ", "\t")) and line.strip()):
            bullet.append(line.strip())
        else:
            close()
            loose.append(line)
    close()
    for paragraph in re.split(r"\n[ \t]*\n", "\n".join(loose)):
        told = paragraph.strip()
        if told:
            short = len(told) < 600 and "```" not in told and not told.startswith(("- ", "|", "    "))
            found.append(_Item(told, short and _is_order(told)))
    return found


def _is_order(told: str) -> bool:
    return len(told.split()) > 2 and bool(_RE.orders.search(told) or _RE.prefers.search(told))


def _spoken(body: str) -> str:
    """Captions without their times, numbers, names of cues and tags; who speaks stands before what is said.

    >>> _spoken("WEBVTT\\n\\nc1\\n00:01.000 --> 00:02.000\\n<v Ana Ruiz>We <i>keep</i> R&amp;D.</v>")
    'Ana Ruiz: We keep R&D.'
    """
    lines = body.split("\n")
    named = {n for n, line in enumerate(lines[:-1]) if "-->" in lines[n + 1] and len(line.split()) == 1}
    kept = [line for n, line in enumerate(lines) if n not in named and not _RE.cue.fullmatch(line.strip())]
    said = html.unescape(_RE.tag.sub("", _RE.voice.sub(lambda found: f"{found[1].strip()}: ", "\n".join(kept))))
    return re.sub(r"\n{3,}", "\n\n", said).strip()


def _speaking(body: str) -> frozenset[str]:
    """Those who speak in a transcript; nobody where the text is none."""
    lines = [line for line in body.split("\n") if line.strip() and not _RE.cue.fullmatch(line.strip())]
    said = [found["who"].strip() for line in lines[:5000] if len(line) < 5000 and (found := _RE.said.fullmatch(line))]
    counts = Counter(who for who in said if who.lower().split()[0] not in _NOT_SPEAKERS and len(who) < 60)
    often = {who for who, count in counts.items() if count > 1}
    total = sum(counts[who] for who in often)
    if len(often) < 2 or total < 4 or total < 0.4 * len(lines):
        return frozenset()
    return frozenset(who for who in counts if who in often or (counts[who] == 1 and who[0].isupper()))


def _meeting(body: str, speaking: frozenset[str], title: str, path: str) -> Iterator[Piece]:
    when = markdown.day(re.split(r"[\\/]", path)[-1].replace("_", "-")) or markdown.day(body[:1000])
    lines: list[str] = []
    for line in body.split("\n"):
        found = _RE.said.fullmatch(line) if len(line) < 5000 else None
        if found and found["who"].strip() in speaking:
            lines.append(f"{found['who'].strip()}: {found['said']}")
        elif line.strip() and not _RE.cue.fullmatch(line.strip()):
            lines.append(line.strip())
    for number, stretch in enumerate(_stretches(lines)):
        who = sorted(name for name in speaking if f"{name}: " in stretch)
        yield Piece(
            content=stretch, kind="doc", title=texts.shorten(f"{title}, part {number + 1}", 280), context=title,
            tags=("meeting",), keywords=tuple(name[:60] for name in who[:8]), valid_from=when, key=f"part {number + 1}",
        )  # fmt: skip


def _plain(body: str, title: str) -> Iterator[Piece]:
    for number, stretch in enumerate(_stretches(re.split(r"\n[ \t]*\n", body), "\n\n")):
        yield Piece(
            content=stretch, kind="doc", title=texts.shorten(title, 280), context=title, tags=("document",),
            key=f"part {number + 1}",
        )  # fmt: skip


def _stretches(lines: list[str], between: str = "\n") -> Iterator[str]:
    held: list[str] = []
    size = 0
    for line in lines:
        for part in _cut(line):
            if held and size + len(part) > STRETCH:
                yield between.join(held).strip("\n")
                held, size = [], 0
            held.append(part)
            size += len(part)
    if held:
        yield between.join(held).strip("\n")
