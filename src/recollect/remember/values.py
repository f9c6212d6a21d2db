"""Values: what a statement says, however it is dressed up. Pure.

A tombstone is found by a harder key than the one that tells duplicates: look-alike letters of other scripts, digits of
all scripts, marks on Latin letters, invisible characters, spaces and signs that only set text off are folded. What can
change a number or a name stays: a point or space between digits, `+`, `#`, `<`, a minus.
"""

from __future__ import annotations

import re
import unicodedata

from .. import text

_DRAWN_ALIKE = str.maketrans(
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b"
    "\u1d1c\u1d20\u1d21\u028f\u1d22"  # small capitals
    "\u0585\u057d\u0578\u0570\u0581\u0566\u0575\u0563"  # Armenian, then Cherokee
    "\u13aa\u13f4\u13df\u13a0\u13ac\u13c0\u13bb\u13ab\u13e6\u13de\u13b7\u13e2\u13a1\u13da\u13a2\u13d9\u13b3\u13c3"
    "\u043f\u0475\u0461\u044c\u03b7\u03c9\u03b2"  # Cyrillic and Greek that the common fold leaves alone
    "øđłħŧƀɨʉɓɗɠƙƥƭʋ",
    "abcdefghijklmnoprstuvwyz"
    "ounhgqjq"
    "abcdeghjklmprstvwz"
    "nvwbnwb"
    "odlhtbiubdgkptv",
)  # fmt: skip
# Capitals that are drawn like Latin ones while their small letters are like others, or like none.
_CAPITALS = str.maketrans(
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7", "ABEZHIKMNOPTYX"
)
_UNSEEN = frozenset("\u2800")
_LEAD = re.compile(r"\A(?:[\s>#*•]+|[+-]\s+)+")
_SET_OFF = re.compile(
    r"[*_~|\"'`()\[\]{}«»\u2039\u203a\u201c\u201d\u201e\u201a\u2018\u2019;!?…]+|(?<!\d)[.,:]+|[.,:]+(?!\d)|(?<=[^\W\d_])-(?=\w)|(?<=\d)-(?=[^\W\d_])"
)
_SPACE = re.compile(r"(?<!\d) | (?!\d)")


def key(statement: str) -> str:
    """The key of a statement that is rejected.

    >>> key("We run on port 8080.") == key("**We** r\\u1d1cn on port8080!"), key("Use 1.5 GB") == key("Use 15 GB")
    (True, False)
    """
    return text.key(_bare(statement) or statement)


def keys(statement: str) -> tuple[str, ...]:
    """Every key under which a tombstone may forbid a statement; the first is the one that tells duplicates."""
    found = [text.key(statement), key(statement)]
    if (latin := statement.translate(_CAPITALS)) != statement:
        found.append(key(latin))
    return tuple(dict.fromkeys(found))


def _bare(statement: str) -> str:
    folded = text.fold(_LEAD.sub("", _plain(statement)))
    return _SPACE.sub("", " ".join(_SET_OFF.sub(" ", folded.translate(_DRAWN_ALIKE)).split()))


def _plain(statement: str) -> str:
    """Without what cannot be seen and without marks on Latin letters, in digits that all can read."""
    if statement.isascii():
        return statement
    kept: list[str] = []
    for sign in unicodedata.normalize("NFKD", statement):
        sort = unicodedata.category(sign)
        if sort == "Cf" or sign in _UNSEEN or (sort in ("Mn", "Me") and kept and kept[-1].isascii()):
            continue
        kept.append(str(unicodedata.digit(sign)) if sort == "Nd" else sign)
    return "".join(kept)
