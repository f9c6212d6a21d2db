"""The transcripts and exports below a path, read line by line or conversation by conversation, also if packed."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from ..capture import exports
from ..capture.echo import own_words
from ..capture.transcripts import MAX_LINE, Said, Talk
from ..errors import BadInput
from ..regular_files import files_inside, parse_json
from ..scratch import temporary
from . import talks
from .shelves import open_shelves

SPOKEN = (".md", ".vscdb")  # which only their content tells to be talk
LINES = (".jsonl", ".jsonl.gz", ".ndjson")
DOCUMENTS = (".json", ".json.gz", ".zip")
EXPORT = "conversations.json"  # how ChatGPT and Claude call it
PIECE = 1024 * 1024
# What damaged and encrypted files raise, each kind of packing in its own way.
UNPACKING = (
    gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip


def usual() -> list[Path]:
    """Where assistants write their transcripts, of those places that are there."""
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
    codex = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    return [place for place in (claude, codex) if place.is_dir()]


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files under these paths, each once: of a folder its transcripts and exports, a file whatever it is called."""
    files: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            files |= dict.fromkeys(file for file in files_inside(path, "**/*") if _is_talk(file))
        elif path.is_file():
            if not path.name.endswith((*LINES, *DOCUMENTS)) and not _is_talk(path):
                raise BadInput(
                    f"{path} is neither a transcript nor an export.", fix="Name a .jsonl, .json or .zip file."
                )
            files[path] = None
        else:
            raise BadInput(f"There is no {path}.", fix="Name a file or a folder; with none, the usual places are read.")
    return list(files)


def _is_talk(file: Path) -> bool:
    if file.name == talks.HISTORY or file.suffix == ".md":
        return file.is_file() and bool(talks.told_by(file))
    return file.name.endswith((*LINES, ".vscdb")) or file.name == EXPORT or file.parent.name == "chatSessions"


def said(path: Path, talk: Talk) -> Iterator[tuple[int, Said]]:
    """What was said in a file, with the number of the line or message after which it is known."""
    if path.name.endswith(SPOKEN):
        with temporary() as folder:
            found = talks.markdown(path) if path.suffix == ".md" else talks.cursor(open_shelves(path, folder))
            for one in found:
                yield from _heard(one, talk)
        return
    if path.name.endswith(LINES):
        with _open(path) as file:
            for one in talk.read(_lines(file)):
                yield talk.tally.lines, one
        return
    with _open(path) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", errors="replace")
        pieces = iter(lambda: text.read(PIECE), "")
        for one in exports.read(pieces, talk.session, talk.tally):
            own = talk.echoes.without(one.text) if one.speaker == "assistant" else one.text
            yield talk.tally.lines, replace(one, text=own)


def _heard(one: Said, talk: Talk) -> Iterator[tuple[int, Said]]:
    """What is the speaker's own of something said."""
    talk.tally.lines += 1
    own = talk.echoes.without(own_words(one.text)) if one.speaker == "assistant" else own_words(one.text)
    talk.tally.said += bool(own)
    talk.tally.echoes += not own
    if own:
        yield talk.tally.lines, replace(one, text=own)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file that are whole; of one that is too long only so much that it is seen to be."""
    while line := file.readline(MAX_LINE + 1):
        whole = line.endswith(b"\n")
        rest = line
        while rest and not whole and len(line) > MAX_LINE:
            rest = file.readline(PIECE)
            whole = rest.endswith(b"\n")
        if not whole and not _ends(line):
            return  # half a line: its other half is still to be written
        yield line


def _ends(line: bytes) -> bool:
    """Whether a last line without a line end is a record all the same."""
    try:
        parse_json(line)
    except ValueError:
        return False
    return True


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """A file as it was before it was packed."""
    try:
        if path.name.endswith(".zip"):
            with zipfile.ZipFile(path) as box:
                name = next((n for n in sorted(box.namelist(), key=len) if n.rpartition("/")[2] == EXPORT), None)
                if name is None:
                    raise BadInput(f"There is no {EXPORT} in {path}.")
                with box.open(name) as inside:
                    yield inside  # type: ignore[misc] # a stream of bytes, though its type is another
        elif path.name.endswith(".gz"):
            with gzip.open(path, "rb") as packed:
                yield packed  # type: ignore[misc] # the same
        else:
            with path.open("rb") as file:
                yield file
    except UNPACKING as error:
        raise BadInput(f"{path} cannot be unpacked: {error}.") from error
