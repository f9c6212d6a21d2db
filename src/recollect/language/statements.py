"""Statements: whether a text tells something, so that it could be an answer at all. Pure.

A stored turn may be a question, a greeting, a "yes, continue", a command line or a piece of a tool's output. None of
these answers anything, however many words it shares with what is asked. Each sentence is looked at on its own, and one
that tells something is enough. When in doubt a sentence counts as telling something: a lost answer is worse than a weak
candidate. English, German, French, Spanish, Portuguese, Italian, Russian, Chinese, Japanese and Korean.
"""

from __future__ import annotations

import re

from .. import text
from ..grounding import hedged
from . import tables
from .tables import STOP_WORDS
from .terms import terms

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EDGES = " \t\"'“”„«»()[]*_`~:,;-–—•>"
_DRESS = re.compile(r"^(?:[-*•+]|\d{1,3}[.)]|#{1,6})\s+")

_LEAD = (
    r"^(?:(?:so|and|but|also|hey|hi|hello|ok(?:ay)?|btw|by the way|now|then|well|question|quick question|yes|no|thanks|"
    r"und|aber|also|et|mais|alors|y|pero|entonces|e|mas|então)\b[\s,:;.!-]*)*"
)
_ENDS_ASKING = re.compile(tables.joined("statements", "ends asking"))
_ASKS = re.compile(_LEAD + "(?:" + tables.joined("statements", "asks") + ")", re.IGNORECASE)
# Words that ask only where the sentence goes on to its end in one go: "What matters: latency." tells something.
_OPENS_ASKING = re.compile(
    _LEAD + "(?:" + tables.joined("statements", "opens asking") + r")\b[^,:;.=–—]*$", re.IGNORECASE
)

_FILLER = frozenset(tables.words("words", "filler"))
_FILLER_EAST_ASIAN = re.compile("^(?:" + tables.joined("statements", "filler east asian") + ")+$")
# A short order that is done when the session ends. Longer ones, and "use", "keep" and "never", may be rules.
_ERRAND = re.compile(
    r"^(?:(?:please|pls|now|then|and|also|just|ok|okay|yes|great)\b[\s,]*)*(?:"
    + tables.joined("statements", "errand")
    + r")\b",
    re.IGNORECASE,
)
_ERRAND_WORDS = 4

_COMMAND = re.compile("^(?:" + tables.joined("statements", "command") + ")$")
_PROSE = re.compile(tables.joined("statements", "prose"), re.IGNORECASE)
_OUTPUT = re.compile("^(?:" + tables.joined("statements", "output") + ")", re.IGNORECASE)


def is_statement(said: str, *, firm: bool = False) -> bool:
    """Whether a text tells something: not only questions, greetings, assent, command lines and output of tools.

    With `firm`, a sentence that takes itself back ("I think", "maybe") tells nothing either.

    >>> is_statement("What port does the gateway use?"), is_statement("Hi! The gateway listens on 8443. Why?")
    (False, True)
    >>> [is_statement(said) for said in ("yes, continue", "$ git status", "Welche Datenbank nutzen wir?", "好的，继续")]
    [False, False, False, False]
    >>> is_statement("I think it is 8080."), is_statement("I think it is 8080.", firm=True)
    (True, False)
    """
    return any(not firm or not hedged(sentence) for sentence in told(said))


def is_reply(said: str, asked: str) -> bool:
    """Whether a text tells something firmly, and more than the prompt that it is held against; a question it may
    confirm in the same words.

    >>> is_reply("Draw a fox for the home page", "draw a fox for our home page"), is_reply("Port 80.", "Which port?")
    (False, True)
    >>> is_reply("The port is 80.", "Is the port 80?")
    True
    """
    known = STOP_WORDS if is_question(asked) else {*terms(asked), *STOP_WORDS}
    return any(not known.issuperset(terms(sentence)) for sentence in told(said) if not hedged(sentence))


def told(said: str) -> list[str]:
    """The sentences of a text that tell something.

    >>> told("Hello! Which port?\\n$ make run\\nThe gateway listens on 8443.")
    ['The gateway listens on 8443.']
    """
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", _CODE.sub("\n\n", said)):
        for line in paragraph.splitlines():
            bare = _DRESS.sub("", line.strip())
            if _OUTPUT.match(bare):
                break  # what follows in the same paragraph is its continuation
            if not _is_command(bare):
                found += [part for part in text.sentences(bare) if not is_question(part) and not _is_filler(part)]
    return found


def is_question(sentence: str) -> bool:
    """Whether a sentence asks; many people leave the question mark out.

    >>> is_question("which database does billing use"), is_question("Should be 8080."), is_question("¿Dónde está?")
    (True, False, True)
    >>> is_question("What matters: latency."), is_question("When you deploy, run the migrations first.")
    (False, False)
    """
    bare = sentence.strip().lstrip(_EDGES)
    return bool(_ENDS_ASKING.search(bare) or _ASKS.search(bare) or _OPENS_ASKING.search(bare))


def _is_command(line: str) -> bool:
    return bool(_COMMAND.match(line)) and (line[:1] in "$%❯»!/@" or not _PROSE.search(line))


def _is_filler(sentence: str) -> bool:
    """Whether a sentence only keeps the talk going."""
    if _EAST_ASIAN.search(sentence):
        return bool(_FILLER_EAST_ASIAN.match(sentence.strip())) or len(_EAST_ASIAN.findall(sentence)) < 2
    words = [word.lower() for word in _WORD.findall(sentence)]
    if len(words) < 2 or all(word in _FILLER or len(word) == 1 for word in words):
        return True
    return len(words) <= _ERRAND_WORDS and bool(_ERRAND.match(sentence.strip(_EDGES)))
