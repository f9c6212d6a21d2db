"""Text: cleaning, keys, chunks and token estimates. Pure.

The *stored* form of a text is in NFC, without control characters. The *key* is folded hard and hashed: it decides
whether two texts are the same, so that a rejected value cannot come back with a Cyrillic "а". The *chunks* are what an
embedder reads. The words that full text search sees are made in `language/terms.py`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ud800-\udfff]")
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
_ACCENT = re.compile(r"[\u0300-\u036f]")
_SPACE = re.compile(r"\s+")
_TOKEN = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]|_|\n+", re.UNICODE)
_LABEL = re.compile(r"\A(?:[-*>#\s]+|[^\n:]{1,200}:\s+)")
_THAT = re.compile(r"\A(?P<who>[^\n.;:]{1,60}?) that\s+", re.IGNORECASE)  # "the user confirmed that …"
_DENIES = re.compile(r"\b(?:not|never|no|false|wrong|untrue|doubts?|\w+n['’]t)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;|]\s*|\s+[—–-]{1,2}\s+|,\s+(?:and|but)\s+|\n+|(?<=[.!?…])\s+")
MAX_PARTS, MIN_PART = 500, 3  # statements of a text that are looked at, and words that make one
_DRESS = re.compile(r"\A(?:[#*>•-]+\s+)+")  # and not the sign of "-1 means no limit"
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|\n+")

# Letters of other scripts that are drawn like Latin ones. NFKC folds width and ligatures; it leaves these alone.
_LOOKALIKES = str.maketrans(
    "аеорсухіѕјԁһӏԛԝкмтвнгαοερνικτυхγɑɡıḷⅼꞌʼ`´‘’“”‐‑‒–—−",
    "aeopcyxisjdhlqwkmtbhraoepviktuxyagill''''''\"\"------",
)


def clean(text: str) -> str:
    """The form that is stored: NFC, `\\n` line ends, no control characters, no lone surrogates, trimmed.

    >>> clean("  cafe\\u0301\\x00\\r\\nnext ")
    'café\\nnext'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", _CONTROL.sub("", text)).strip()


def fold(text: str) -> str:
    """The form that is compared.

    >>> fold("Ｕse  p\\u200bnpm!") == fold("use pnpm") == fold("use рnpm")
    True
    """
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    text = unicodedata.normalize("NFKD", text).translate(_LOOKALIKES)
    return _SPACE.sub(" ", _ACCENT.sub("", text)).strip(" .,;:!\"'")


def key(text: str) -> str:
    """A hash of the folded form; equal keys mean the same value.

    >>> key("Use pnpm.") == key("use PNPM"), len(key(""))
    (True, 32)
    """
    return hashlib.sha256((fold(text) or text).encode("utf-8", "replace")).hexdigest()[:32]


def tokens(text: str) -> int:
    """An estimate of how many tokens a language model counts, on the safe side: long words cost more than one.

    >>> tokens("The deploy failed."), tokens("")
    (4, 0)
    """
    return sum(1 + (len(piece) - 1) // 7 for piece in _TOKEN.findall(text))


def sentences(text: str) -> list[str]:
    """
    >>> sentences("One. Two?\\nThree")
    ['One.', 'Two?', 'Three']
    """
    return [part for part in (piece.strip() for piece in _SENTENCE.split(text)) if part]


def parts(content: str) -> list[str]:
    """The statements inside a text, each of which may be what matters in it: sentences, and what follows a label.

    >>> parts("billing: It runs on port 80."), parts("Use pnpm here.")
    (['It runs on port 80.'], [])
    >>> parts("The user said that we use pnpm."), parts("It is not true that we use pnpm.")
    (['we use pnpm.'], [])
    """
    told = [content.partition("\n")[2].strip(), *sentences(content)[:MAX_PARTS]]
    told += [part for piece in _CLAUSE.split(content, MAX_PARTS) if (part := piece.strip())]
    bare = [_LABEL.sub("", part) for part in (content, *told)]
    bare += [
        part[found.end() :]
        for part in (*told, *bare)
        if (found := _THAT.match(part)) and not _DENIES.search(found["who"])
    ]
    return [part for part in dict.fromkeys((*told, *bare)) if part != content and len(part.split()) >= MIN_PART]


def title_of(content: str, width: int = 72) -> str:
    """The first sentence, cut to a line: what stands for a memory that was given no title.

    >>> title_of("# Use pnpm\\nbecause npm is slow")
    'Use pnpm'
    >>> title_of("-1 means no limit")
    '-1 means no limit'
    """
    first = next(iter(sentences(content)), content)
    return shorten(_DRESS.sub("", first), width)


def shorten(text: str, width: int) -> str:
    """One line, at most `width` characters, cut at a word.

    >>> shorten("the quick brown fox", 12)
    'the quick…'
    """
    line = _SPACE.sub(" ", text).strip()
    if len(line) <= width:
        return line
    cut = line[: width - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > width // 2 else cut).rstrip(" ,;:.") + "…"


def cut(text: str, most: int) -> str:
    """At most `most` characters in whole sentences, so that no "not" or "unless" is cut off its sentence.

    >>> cut("We deploy. We deploy on Friday unless CI is red.", 36)
    'We deploy. …'
    """
    if len(text) <= most:
        return text
    ends = [found.start() for found in _SENTENCE.finditer(text, 0, most - 1)]
    return f"{text[: ends[-1]].rstrip() if ends else shorten(text, most - 2).rstrip('…')} …"


def strip_quotes(text: str) -> str:
    """A statement without a pair of quotation marks around it, and without one that has lost its other half.

    >>> strip_quotes('"We use pnpm."'), strip_quotes('It is fast."'), strip_quotes('Say "no" to it')
    ('We use pnpm.', 'It is fast.', 'Say "no" to it')
    """
    for begin, end in ('""', "\u201c\u201d", "\u00ab\u00bb"):
        whole = text.strip()
        if len(whole) > 1 and whole[0] == begin and whole[-1] == end and not {begin, end} & set(whole[1:-1]):
            return whole[1:-1].strip()
        alone = [place for place, mark in enumerate(text) if mark in (begin, end)]
        if len(alone) == 1 and not text[: alone[0]][-1:].isdigit():  # which may be inches
            text = text.replace(text[alone[0]], "")
    return text.strip()


def strings(value: object) -> Iterator[str]:
    """The texts inside a value of JSON, each by itself: the name of a field is no part of them.

    >>> list(strings({"a": ["x", 1], "b": "y"}))
    ['x', 'y']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from strings(part)


def chunks(text: str, size: int = 1400, overlap: int = 150) -> list[str]:
    """Pieces of at most `size` characters for an embedder, cut at paragraphs, sentences or words, overlapping a little.

    >>> chunks("short"), [len(c) for c in chunks("word " * 600)]
    (['short'], [1399, 1399, 489])
    """
    if len(text) <= size:
        return [text]
    pieces, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            window = text[start:end]
            for mark in ("\n\n", "\n", ". ", " "):
                cut = window.rfind(mark, size // 2)
                if cut > 0:
                    end = start + cut + len(mark)
                    break
        pieces.append(text[start:end].strip())
        if end >= len(text):
            break
        back = text.find(" ", max(start + 1, end - overlap), end)
        start = back + 1 if back >= 0 else end
    return [piece for piece in pieces if piece]
