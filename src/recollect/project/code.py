"""Code: the functions and types of a file as pieces. Pure; never raises.

Each function and type is a piece, and so is the file if it has more to tell. Calls and imports become links. Code
without a grammar is split at blank lines. Line numbers are not kept, because they move with every edit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from ..language import terms
from .languages import OTHERS, Language, language_of
from .piece import Piece
from .symbols import Outline, Symbol, missing, outline

MAX_CONTENT = 4000  # characters of a symbol that are kept: the head says what it is, the rest is in the file
MAX_OVERVIEW = 4000
MAX_BLOCK = 1500
MAX_BLOCKS = 400
MAX_KEYWORDS, MAX_KEYWORD = 10, 64
MAX_TITLE, MAX_REF = 300, 1024
MAX_LINKS = 60
# From this many characters a line, on average, no person wrote a file that is large.
MACHINE_MADE, LARGE = 400, 20_000
IMPORTANCE, IMPORTANCE_TEST = 4, 3
Links = tuple[tuple[str, str], ...]
FILE = ""  # the key of the piece that tells of the file as a whole
_TEST = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_|[._]test\.|[._]spec\.|Tests?\.java$")
_JOINT = re.compile(r"\.|::|->")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SUMMARY = re.compile(r"\n[ \t]*\n|\n[ \t]*[:@\\]|(?<=[.!?])\s")


def unparsed(path: str, text: str = "") -> str:
    """Why a file is read as plain text, in words; nothing where it is read by a parser."""
    if language_of(path, text) is None:
        language = OTHERS.get(PurePosixPath(path).suffix.lower(), "")
        return f"no grammar for {language}" if language else ""
    package = missing(path, text)
    return f"{package} is not installed: pip install {package}" if package else ""


def read(text: str, path: str) -> list[Piece]:
    """The pieces of a file of code, in its order; the file itself first."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return []
    if len(text) > max(LARGE, MACHINE_MADE * (text.count("\n") + 1)):
        return [_machine_made(text, path)]
    found = outline(text, path)
    if found is None or not found.symbols:
        return _blocks(text, path)
    pieces = _pieces(found, path)
    return pieces + _blocks("\n\n".join(found.statements), path, [piece.key for piece in pieces])


def _pieces(found: Outline, path: str) -> list[Piece]:
    keys = _keys(found.symbols)
    known = {symbol.name: key for symbol, key in zip(reversed(found.symbols), reversed(keys), strict=True)}
    depends = _depends(found, path)
    pieces = [
        _of_symbol(symbol, key, found, path, _calls(symbol, key, known, found, path))
        for symbol, key in zip(found.symbols, keys, strict=True)
    ]
    if len(pieces) == 1 and not found.doc:  # the one symbol says all that the file does
        return [replace(pieces[0], links=(*pieces[0].links, *depends)[:MAX_LINKS])]
    return [_overview(found, path, depends), *pieces]


def _keys(symbols: Sequence[Symbol]) -> list[str]:
    """A name for each symbol inside its file: its own, with a number where it is told several times."""
    seen: Counter[str] = Counter()
    keys = []
    for symbol in symbols:
        seen[symbol.name] += 1
        keys.append(symbol.name if seen[symbol.name] == 1 else f"{symbol.name}#{seen[symbol.name]}")
    return keys


def _of_symbol(symbol: Symbol, key: str, found: Outline, path: str, links: Links) -> Piece:
    return Piece(
        content=trimmed(symbol.source or symbol.signature or symbol.name, MAX_CONTENT),
        kind="code",
        title=_title(symbol),
        context=_context(path, _used(symbol, found)),
        tags=(found.language.name,),
        refs=_refs(path, symbol.name),
        keywords=keywords(symbol.name),
        importance=_importance(path),
        key=key,
        links=links,
    )


def _title(symbol: Symbol) -> str:
    """Its name and what it is for: the title stands before every chunk that is embedded, and counts double in text."""
    first = summary(symbol.doc)
    return f"{symbol.name}: {first}"[:MAX_TITLE] if first else symbol.name[:MAX_TITLE]


def _overview(found: Outline, path: str, depends: Links) -> Piece:
    """What a file is for, and what is in it: its own words, then the head of each symbol with its first sentence."""
    lines = [found.doc] if found.doc else []
    for symbol in found.symbols:
        first = summary(symbol.doc)
        lines.append(f"- {symbol.name}: {first}" if first else f"- {symbol.signature or symbol.name}")
    return Piece(
        content=trimmed("\n".join(lines), MAX_OVERVIEW),
        kind="code",
        title=path[:MAX_TITLE],
        context=_context("", [one.module for one in found.imports]),
        tags=(found.language.name,),
        refs=(path[:MAX_REF],),
        keywords=keywords(PurePosixPath(path).stem),
        importance=_importance(path),
        key=FILE,
        links=depends,
    )


def _context(path: str, modules: Iterable[str]) -> str:
    imports = ", ".join(dict.fromkeys(modules))[:500]
    return "\n".join(part for part in (path, f"imports {imports}" if imports else "") if part)


def _refs(path: str, name: str) -> tuple[str, ...]:
    return tuple(ref for ref in (path, f"{path}::{name}") if len(ref) <= MAX_REF)


def _importance(path: str) -> int:
    return IMPORTANCE_TEST if _TEST.search(path) else IMPORTANCE


def _used(symbol: Symbol, found: Outline) -> list[str]:
    """The modules of the file's imports whose names occur in a symbol."""
    words = set(_WORD.findall(symbol.source))
    return [one.module for one in found.imports if words.intersection(one.names)]


def _depends(found: Outline, path: str) -> Links:
    """The files and the foreign modules that a file needs."""
    targets: list[str] = []
    for one in found.imports:
        names = f"#{','.join(one.names)}" if path.endswith(".py") and not one.whole else ""
        targets += [f"file:{file}" for file in one.files(path)] or (
            [f"module:{one.module}{names}"] if one.foreign(path) else []
        )
    return tuple(("depends_on", target) for target in dict.fromkeys(targets))[:MAX_LINKS]


def _calls(symbol: Symbol, key: str, known: dict[str, str], found: Outline, path: str) -> Links:
    """What a symbol calls in its own file and in those it imports, as far as the names alone can tell."""
    joint, imported = found.language.joint, {name: one for one in found.imports for name in one.names}
    targets: list[str] = []
    for call in symbol.calls:
        if target := _called(call, symbol, known, found.language):
            targets.append(target)
        elif one := imported.get((parts := _JOINT.split(call))[0]):
            name = joint.join(parts[1:] if one.whole else parts)
            targets += [f"file:{file}#{name}" for file in one.files(path) if name]
    return tuple(("calls", target) for target in dict.fromkeys(targets) if target != key)[:MAX_LINKS]


def _called(call: str, symbol: Symbol, known: dict[str, str], language: Language) -> str:
    joint, implied = language.joint, language.implied
    parts = _JOINT.split(call)
    if len(parts) == 2 and parts[0] in symbol.own:
        return known.get(f"{symbol.parent}{joint}{parts[1]}", "")
    name = joint.join(parts)
    space = symbol.parent
    while space:  # what is nearest is meant; but in most languages a bare name is no method of the type around it
        found = known.get(f"{space}{joint}{name}", "")
        if found and (implied or len(parts) > 1 or space not in known):
            return found
        space = space.rpartition(joint)[0]
    return known.get(name, "")


def keywords(name: str) -> tuple[str, ...]:
    """What a symbol is found by beside its text: the words of its name.

    >>> keywords("Parser.read_next_line")
    ('parser', 'read', 'next', 'line')
    """
    words = dict.fromkeys(
        word for word in map(str.lower, _PART.findall(name)) if len(word) > 1 and word not in terms.STOP_WORDS
    )
    return tuple(word[:MAX_KEYWORD] for word in words)[:MAX_KEYWORDS]


def summary(doc: str) -> str:
    """The first sentence of a comment.

    >>> summary("Reads a line.\\n\\n:param x: y"), summary("one\\ntwo")
    ('Reads a line.', 'one two')
    """
    return " ".join(_SUMMARY.split(doc.strip(), maxsplit=1)[0].split())[:300]


def trimmed(text: str, most: int) -> str:
    """A text cut at the end of a line, saying how much was left out."""
    if len(text) <= most:
        return text
    kept = text[: most - 40]
    kept = kept[: kept.rfind("\n")] if kept.rfind("\n") > most // 2 else kept
    return f"{kept}\n… {text.count(chr(10), len(kept)) + 1} more lines"


def _blocks(text: str, path: str, taken: Iterable[str] = ()) -> list[Piece]:
    """A text cut at its blank lines, small neighbours together; `taken` are the keys that the file has already."""
    language = language_of(path, text)
    tag = language.name if language else OTHERS.get(PurePosixPath(path).suffix.lower(), "")
    seen = Counter(taken)
    pieces = []
    for block in _joined_blocks(text):
        # Named by its first line: a number would name another block as soon as one is put before it.
        name = next(line.strip() for line in block.split("\n") if line.strip())[:80]
        seen[name] += 1
        pieces.append(
            Piece(
                content=block.strip("\n"),
                kind="code",
                title=f"{PurePosixPath(path).name}: {name}"[:MAX_TITLE],
                context=path,
                tags=(tag,) if tag else (),
                refs=(path[:MAX_REF],),
                importance=_importance(path),
                key=name if seen[name] == 1 else f"{name}#{seen[name]}",
            )
        )
    return pieces


def _joined_blocks(text: str) -> Iterator[str]:
    held, count = "", 0
    for block in (part for whole in _BLANK.split(text.strip("\n")) for part in _cut(whole)):
        if held and len(held) + len(block) > MAX_BLOCK:
            yield held
            count += 1
            if count >= MAX_BLOCKS:
                return
            held = ""
        held = f"{held}\n\n{block}" if held else block
    if held.strip():
        yield held


def _cut(block: str) -> Iterator[str]:
    """A block in parts of bearable size, cut at line ends where there are any."""
    while len(block) > MAX_BLOCK:
        at = block.rfind("\n", MAX_BLOCK // 2, MAX_BLOCK)
        at = at if at > 0 else MAX_BLOCK
        yield block[:at]
        block = block[at:].lstrip("\n")
    if block.strip():
        yield block


def _machine_made(text: str, path: str) -> Piece:
    """A minified or generated file: that it is there, and nothing of what is in it."""
    size = f"{len(text)} characters in {text.count(chr(10)) + 1} lines"
    return Piece(
        content=f"{path} was made by a program ({size}) and is not taken apart.",
        kind="code", title=path[:MAX_TITLE], refs=(path[:MAX_REF],), importance=1, key=FILE,
    )  # fmt: skip
