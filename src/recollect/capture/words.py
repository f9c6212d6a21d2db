"""Word lists of seven languages: how people ask to remember, correct, hedge and suppose. They are data: `words.json`.

Rules made of them only forbid, except that an explicit request is always kept.
"""

from __future__ import annotations

import re
from functools import cache

from .data import read

_SEPARATOR = r"[\s,，、:：;.。!！-]*"  # noqa: RUF001 - the signs of other scripts
_LATIN = re.compile(r"[^\W\d_]", re.ASCII)


@cache
def _any(name: str) -> str:
    """A pattern for any entry of a list, the longest first; scripts without spaces have no word boundaries."""
    entries = sorted(read("words")[name], key=len, reverse=True)
    made = (re.escape(one).replace("'", "['’]") + (r"(?!\w)" if _LATIN.search(one[-1]) else "") for one in entries)
    return f"(?:{'|'.join(made)})"


@cache
def _anywhere(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<!\w)|(?<=[\u3040-\u9fff])){_any(name)}", re.IGNORECASE)


@cache
def _opening(name: str, after: str) -> re.Pattern[str]:
    return re.compile(rf"^\W*(?:{_any('polite')}{_SEPARATOR})*(?P<said>{_any(name)}){after}", re.IGNORECASE)


def find(name: str, said: str) -> str:
    """The first entry of a list that stands in a text, or nothing.

    >>> find("temporary", "Use port 80 for now."), find("temporary", "先用这个暂时"), find("temporary", "Use port 80.")
    ('for now', '暂时', '')
    """
    found = _anywhere(name).search(said)
    return found[0] if found else ""


def opens(name: str, said: str) -> str:
    """The entry of a list that a text begins with, after words such as "please"; or nothing.

    >>> opens("pronouns", "So it takes nine seconds."), opens("pronouns", "Iteration takes long.")
    ('it', '')
    """
    found = _opening(name, "").match(said)
    return found["said"] if found else ""


def asked_to_remember(said: str) -> str | None:
    """What somebody asks to remember in so many words, without the request; None where nobody asks.

    >>> asked_to_remember("Please remember: use tabs"), asked_to_remember("Merk dir, dass wir pnpm nutzen.")
    ('use tabs', 'wir pnpm nutzen.')
    >>> asked_to_remember("remember the milk?"), asked_to_remember("テストはpytestだと覚えておいてください。")
    (None, 'テストはpytestだ')
    """
    bare = re.sub(r"(?<!\w)#remember\b:?", "", said).strip()
    if bare != said.strip():
        return bare
    for pattern in (_opening("requests", r"\s*[:：]\s*"), _opening("requests_without_colon", r"[\s,，]*")):  # noqa: RUF001
        if (found := pattern.match(bare)) and len(bare) > found.end():
            return bare[found.end() :]
    end = re.search(rf"[\s,，、;。と]*{_any('requests_at_end')}[\s.。!！]*$", bare, re.IGNORECASE)  # noqa: RUF001
    return bare[: end.start()] if end and end.start() > 3 else None


def corrects(said: str) -> bool:
    """Whether somebody says that something is otherwise than was said before.

    >>> corrects("No, use pnpm."), corrects("Actually we moved"), corrects("No deploys on Fridays.")
    (True, True, False)
    """
    return bool(_correction().match(said) or re.match(r"\W*(?:no |oh |but )?actually\b", said, re.IGNORECASE))


def without_politeness(said: str) -> str:
    """A text without the words that hedge a fact but only make a wish polite.

    >>> without_politeness("I think we should use pnpm."), without_politeness("I think the cache is full.")
    (' we should use pnpm.', 'I think the cache is full.')
    """
    return _polite_wish().sub("", said)


@cache
def _polite_wish() -> re.Pattern[str]:
    start = r"(?:(?<!\w)|(?<=[\u3040-\u9fff]))"
    return re.compile(rf"{start}{_any('soft')}(?=[^.;!?。]{{0,80}}?{start}{_any('wishes')})", re.IGNORECASE)


@cache
def _correction() -> re.Pattern[str]:
    after = r"(?:\s+that\b)?(?:\s*(?:[,，:：;。!！]|[.-](?!\d))+\s*|\s+(?=actually|wait|sorry))"  # noqa: RUF001
    return _opening("corrections", after)


def without_correction(said: str) -> str:
    """What is said instead, without the words that set something right.

    >>> without_correction("Wait sorry, I was wrong: the timeout is 60 seconds."), without_correction("But no deploys.")
    ('the timeout is 60 seconds.', 'But no deploys.')
    """
    while (found := _correction().match(said)) and found.end() < len(said):
        said = said[found.end() :]
    return said


def without_opening(said: str) -> str:
    """A statement without the words that lead into it: polite ones, and those of a correction.

    >>> without_opening("No, actually: the port is 8081"), without_opening("No deploys on Fridays.")
    ('The port is 8081', 'No deploys on Fridays.')
    """
    rest, before = said.strip(), ""
    while rest != before and rest:
        before = rest
        rest = re.sub(rf"^{_any('polite')}[\s,，:：]+(?=\S)", "", _correction().sub("", rest), flags=re.IGNORECASE)  # noqa: RUF001
        rest = re.sub(r"^actually\b[\s,:]*", "", rest, flags=re.IGNORECASE)
    rest = re.sub(rf"[,;:，]?\s+{_any('corrections_at_end')}([.!]?)$", r"\1", rest, flags=re.IGNORECASE)  # noqa: RUF001
    rest = (rest or said).strip(" ,;:-*")
    return rest[0].upper() + rest[1:] if rest[:1].islower() and not re.match(r"\S*[A-Z_/.]\S", rest) else rest


def reason(said: str) -> str:
    """What a statement gives as its reason.

    >>> reason("We use pnpm because npm is slow; see it."), reason("Use tabs.")
    ('npm is slow', '')
    """
    found = re.search(rf"{_anywhere('reasons').pattern}\s*(?P<why>(?:[^.;。]|\.(?=\w))+)", said, re.IGNORECASE)
    return found["why"].strip() if found else ""
