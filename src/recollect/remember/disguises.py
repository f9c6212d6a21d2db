"""Disguises: what a text says beneath what covers it up. Pure.

A rejected value must not come back under HTML, encodings of URLs and JSON, letters for digits, quotation, or a few
words around it that say nothing. Words that deny it, doubt it, narrow it down or make a name longer leave another
statement, so only words from a list are taken away. `values` knows the statement that is left in any dress.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Callable, Iterator
from urllib.parse import unquote, unquote_plus

from .. import text
from ..language.tables import joined

MAX_LAYERS = 3  # encodings within encodings
REJECTED = "[rejected]."
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,500}?-->", re.DOTALL)
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,500}\)")
# A box to tick, a day, pictures, what a reference stands in.
_EDGES = re.compile(
    r"\A(?:[-*]\s+)?(?:\[[ xX]\]|\d{4}-\d\d-\d\d[:,]?)\s+|\s*\[[\w, ]{1,40}\]\Z|"
    r"[\s\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]+\Z"
)
_ESCAPED = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_JOINED = re.compile(r"\S+(?:\+\S+){2,}")
_MIXED = re.compile(r"(?<![\w.@$!])(?=\w*(?:\d|[^\W\d_][@$!]\w))(?=\w*[^\W\d_])\w+(?:[@$!]\w+)*+(?![@$]|\.\w)")
_LIKE_DIGITS = re.compile(r"[\dOolI]+")
_TO_DIGITS = str.maketrans("OolI", "0011")
_TO_LETTERS = tuple(str.maketrans(f"0{one}34578@$!", f"o{letter}eastbasi") for one, letter in ("1l", "1i"))
_QUOTED = re.compile(
    r"[\"\u201c\u201e\u00ab\u2039](?P<double>[^\"\u201d\u201c\u00bb\u203a\n]{8,600})[\"\u201d\u201c\u00bb\u203a]|"
    r"(?<!\w)['\u2018\u201a](?P<single>[^\n]{8,600}?)['\u2019\u2018](?!\w)|`(?P<code>[^`\n]{8,600})`"
)
_LITTLE = f"(?:{joined('disguises', 'little')})"
_LEADING = re.compile(rf"\A(?:{_LITTLE}\b[\s,:.!-]*)+", re.IGNORECASE)
_TRAILING = re.compile(rf"(?:[\s,.!?():;-]+{_LITTLE})+[\s.!?)]*\Z", re.IGNORECASE)
_PIECES = re.compile(r"((?<=[.!?\u2026])\s+|\n+|(?<=;)\s+)")
_REASON = re.compile(r",?\s+(?:because|since|so that|which|thanks to|due to)\s", re.IGNORECASE)
_UNSAID = re.compile(rf"\b(?:{joined('disguises', 'unsaid')})\b|\?", re.IGNORECASE)


def statements(content: str) -> list[str]:
    """A text and what it says beneath its disguises, each part by itself.

    >>> "We use pnpm here." in statements("<p>We use&#32;pnpm here.</p>")
    True
    >>> "port 8080 is ours" in statements("port 8O8O is ours, as always")
    True
    >>> statements('Do not say "we use pnpm here" again.')
    ['Do not say "we use pnpm here" again.', 'Do not say "we use pnpm here"']
    """
    found: dict[str, None] = {}
    for plain in _uncover(content):
        for part in (plain, *text.parts(plain), *_find_quoted(plain)):
            found |= dict.fromkeys((part, *_trim(part)))
    return list(found)


def blank(content: str, is_rejected: Callable[[str], bool]) -> str:
    """A text without the sentences that say something rejected, one way or another."""
    if not content or not is_rejected(content):
        return content
    pieces = _PIECES.split(content)
    made = "".join(REJECTED if piece.strip() and is_rejected(piece) else piece for piece in pieces)
    return REJECTED if is_rejected(made) or not made.replace(REJECTED, "").strip() else made


def _uncover(content: str) -> Iterator[str]:
    """The text as it is, and as it is once tags, entities, encodings and letters for digits are taken away."""
    seen = {content: None}
    layer = [content]
    for _ in range(MAX_LAYERS):
        layer = [made for one in layer for made in _decode(one) if made not in seen]
        seen |= dict.fromkeys(layer)
    yield from seen
    for one in list(seen):
        for made in (_MIXED.sub(_to_digits, one), *(_to_letters(one, table) for table in _TO_LETTERS)):
            if made not in seen:
                seen[made] = None
                yield made


def _decode(content: str) -> Iterator[str]:
    if "&" in content:
        yield html.unescape(content)
    if "<" in content and _TAG.search(content):
        yield text.clean(_TAG.sub("", content))
        yield text.clean(_TAG.sub(" ", content))
    if "](" in content:
        yield _LINK.sub(r"\1", content)
    if _ENCODED.search(content):
        yield text.clean(unquote(content))
    if "\\" in content and _ESCAPED.search(content):
        yield text.clean(_ESCAPED.sub(_escaped, content).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if "+" in content and _JOINED.search(content):
        yield text.clean(unquote_plus(content))


def _escaped(found: re.Match[str]) -> str:
    """The character of an escape of JSON, of Python or of JavaScript."""
    number = int(found[1] or found[2] or found[3], 16)
    return chr(number) if number <= sys.maxunicode else found[0]


def _to_digits(found: re.Match[str]) -> str:
    return found[0].translate(_TO_DIGITS) if _LIKE_DIGITS.fullmatch(found[0]) else found[0]


def _to_letters(content: str, table: dict[int, int]) -> str:
    def spell(found: re.Match[str]) -> str:
        letters = sum(sign.isalpha() for sign in found[0])
        return found[0].translate(table) if 2 * letters > len(found[0]) else found[0]

    return _MIXED.sub(spell, content)


def _trim(part: str) -> Iterator[str]:
    """A statement without the words before and behind it that say nothing, and without the reason for it."""
    for one in (part, _REASON.split(part, 1)[0]):
        made = _LEADING.sub("", _TRAILING.sub("", _EDGES.sub("", one.strip())))
        if made != part and len(made.split()) >= text.MIN_PART:
            yield made


def _find_quoted(plain: str) -> Iterator[str]:
    """What stands in quotation marks, unless the words around it deny it."""
    for found in _QUOTED.finditer(plain):
        around = f"{plain[max(0, found.start() - 200) : found.start()]} {plain[found.end() : found.end() + 200]}"
        inner = found["double"] or found["single"] or found["code"]
        if not _UNSAID.search(around) and len(inner.split()) >= text.MIN_PART:
            yield inner
