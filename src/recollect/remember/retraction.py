"""Retraction: a statement that something is not, or is no longer, with nothing in its place. Pure.

"I do not have a sister" ends "My sister lives in Porto", and leaves "Ana's sister lives in Porto" alone. A question, a
condition, a wish and a rule for others take nothing back. A hedged one waits for a person.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

from ..language.tables import joined, lines
from ..language.terms import STOP_WORDS, terms

_PARTS = dict(line.split(" = ", 1) for line in lines("retractions", "parts"))
_FORMS = tuple(
    re.compile(f"^{_PARTS['LEAD']}{form.format_map(_PARTS)}$", re.IGNORECASE) for form in lines("retractions", "forms")
)
# What is asked, wished, supposed or ruled is not said; and what has an exception is not gone.
_TAIL, _UNSAID, _HEDGED, _THEIRS, _FORGET, _OVER = (
    re.compile(joined("retractions", name), re.IGNORECASE)
    for name in ("tail", "not said", "hedged", "of others", "forget", "over")
)
_ARTICLE = re.compile(r"^(?:a|an|any|the|our|my|that|this|single|such)\s+", re.I)
_MINE = re.compile(r"\b(?:i|my|me|mine|i['’]\w+)\b", re.I)
_OURS = re.compile(r"\b(?:we|our|ours|us|we['’]\w+)\b", re.I)
_TOKEN = re.compile(r"[^\W_]+(?:['’_\-./\\:@#+]+[^\W_]+)*")
MAX_LEAD = 3  # words before the first word of what is taken back, where a statement begins with it


class Retraction(NamedTuple):
    """Who speaks (`i`, `we`, or nobody), the words of what is taken back, and whether it is said without a hedge."""

    who: str
    what: frozenset[str]
    is_sure: bool


def retraction(statement: str) -> Retraction | None:
    """What a statement takes back, or None.

    >>> retraction("I do not have a sister.").what == frozenset(["sister"])
    True
    >>> retraction("If we had no staging server, we would deploy."), retraction("We use pnpm.")
    (None, None)
    """
    said = " ".join(statement.split()).strip(" .!")
    is_sure = not _HEDGED.search(said)
    said = _HEDGED.sub("", said).strip(" ,")
    if len(said) > 200 or _UNSAID.search(_TAIL.sub("", said)) or said.endswith("?"):
        return None
    for form in _FORMS:
        if found := form.match(said):
            what = _words(_ARTICLE.sub("", _TAIL.sub("", found["what"].strip())))
            who = (found.groupdict().get("who") or "").lower()
            return Retraction(who, what, is_sure) if what and not re.search(r"\b(?:and|or)\b", found["what"]) else None
    if not _OVER.search(said) or re.search(r"\b(?:and|or)\b", said):
        return None
    rest = _TAIL.sub("", _OVER.sub("", said, count=1)).strip()
    speaker = re.match(r"(?:i|we)\b", rest, re.I)
    what = _words(rest[speaker.end() :] if speaker else rest)
    return Retraction(speaker[0].lower() if speaker else "", what, is_sure) if len(what) > 1 else None


def forgets(sentence: str) -> str:
    """What a person takes back without saying anything in its place.

    >>> forgets("Forget what I said about the nightly job.")
    'the nightly job'
    """
    found = _FORGET.search(sentence)
    return found["what"].strip() if found else ""


def ends(taken_back: Retraction, statement: str) -> bool:
    """Whether a statement says what was taken back, of the same subject, and nothing besides.

    >>> no_sister = retraction("I do not have a sister.")
    >>> ends(no_sister, "My sister lives in Porto."), ends(no_sister, "Ana's sister lives in Porto.")
    (True, False)
    """
    if not taken_back.what <= _words(statement) or _THEIRS.search(statement) or statement.rstrip().endswith("?"):
        return False
    if retraction(statement) or re.search(r"\b(?:and|also|or)\b", statement, re.I):
        return False
    if taken_back.who == "i":
        return _MINE.search(statement) is not None
    begins = [terms(word) for word in statement.split()[: MAX_LEAD + 1]]
    named = any(set(found) & taken_back.what for found in begins)
    return named or _OURS.search(statement) is not None or statement.lower().startswith("there ")


def differ_in_one_place(one: str, other: str) -> bool:
    """Whether two statements are the same but for one place, in which each says something.

    >>> differ_in_one_place("Use yarn.", "Use pnpm."), differ_in_one_place("Use yarn.", "Deploy on Fridays.")
    (True, False)
    """
    rows = [_TOKEN.findall(said.lower()) for said in (one, other)]
    places = [place for place in SequenceMatcher(None, rows[0], rows[1], False).get_opcodes() if place[0] != "equal"]
    if len(places) != 1 or not {*rows[0]} & {*rows[1]}:
        return False
    _, first, last, start, end = places[0]
    return bool(_words(" ".join(rows[0][first:last])) and _words(" ".join(rows[1][start:end])))


def of_another(statement: str, said: str) -> bool:
    """Whether a statement is about somebody else's, and what was said is not."""
    return bool(_THEIRS.search(statement)) and not _THEIRS.search(said)


def _words(statement: str) -> frozenset[str]:
    return frozenset(term for term in terms(statement) if term not in STOP_WORDS)
