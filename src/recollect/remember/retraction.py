"""Retraction: a statement that something is not, or is no longer, with nothing in its place. Pure.

"I do not have a sister" ends "My sister lives in Porto", and leaves "Ana's sister lives in Porto" alone: what is taken
back must be said of the same subject, with every word of the retraction. A question, a condition, a wish and a rule for
others take nothing back. A hedged one takes nothing back by itself, and waits for a person.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..language.tables import WEEKDAY
from ..language.terms import STOP_WORDS, terms

_NOT = r"(?:do not|don['’]?t|does not|doesn['’]?t|did not|didn['’]?t|no longer|never)"
_HAS = r"(?:have|had|own|use|used|run|need|keep|operate|maintain|support|offer|got|work with|deploy)"
_LEAD = (
    r"(?:(?:no|sorry|actually|wait|well|ok(?:ay)?|correction|i misspoke|my mistake|scratch that|as it turns out|"
    r"it turns out(?: that)?|to be clear|in fact|for the record|just so you know|fyi|note that|please note(?: that)?)"
    r"\b[\s,:;.!-]*)*"
)
_GONE = (
    r"(?:no longer exists?|do(?:es)?(?: not|n['’]?t) exist|(?:is|are) gone|"
    r"(?:was|were|has been|have been) (?:removed|dropped|retired|decommissioned|shut down|abandoned))"
)
_ENDED = r"(?:stopped using|dropped|got(?:ten)? rid of|abandoned|retired|shut down|decommissioned|switched off|gave up)"
_NONE = r"(?:no longer (?:a|an|any)?|no|never (?:a|an|any)?|not (?:a|an|any))"
_FORMS = tuple(
    re.compile(f"^{_LEAD}{form}$", re.IGNORECASE)
    for form in (
        rf"(?P<who>i|we)\s+(?:really |actually )?{_NOT}\s+(?:really |actually )?{_HAS}\s+(?P<what>.+)",
        r"(?P<who>i|we)(?:['’]ve| have)? (?:got )?(?:have |had )?no(?: longer (?:a|an|any))? (?P<what>.+)",
        rf"(?P<who>i|we)(?:['’]ve| have)? {_ENDED}\s+(?P<what>.+)",
        rf"there(?:['’]s| is| are| was| were)(?: actually)? {_NONE}\s+(?P<what>.+)",
        r"there (?:isn['’]?t|aren['’]?t|wasn['’]?t|never was|never were) (?:a |an |any )?(?P<what>.+)",
        rf"(?P<what>(?:the|our|my|that)\s+.+?)\s+{_GONE}(?: any ?more| now)?",
    )
)
_TAIL = re.compile(
    r"(?:,?\s+(?:any ?more|any longer|at all|now|either|these days|today|here|since .+|because .+|sorry))+$", re.I
)
_ARTICLE = re.compile(r"^(?:a|an|any|the|our|my|that|this|single|such)\s+", re.I)
# What is asked, wished, supposed or ruled is not said; and what has an exception is not gone.
_UNSAID = re.compile(
    r"\?|\b(?:if|whether|unless|until|when|whenever|suppose|imagine|assume|would|could|should|might|must|wish|hope|want|"
    rf"wanted|pretend|yet|only|except|but|other than|besides|on {WEEKDAY}|"
    r"enough|much|many|time|idea|clue|problem|issue|doubt|reason|need to|way to|access to|as (?:a|an))\b", re.I
)  # fmt: skip
_HEDGED = re.compile(
    r"\b(?:i think|maybe|perhaps|probably|possibly|i guess|i believe|not sure|apparently|seems?)\b", re.IGNORECASE
)
_MINE = re.compile(r"\b(?:i|my|me|mine|i['’]\w+)\b", re.I)
_OURS = re.compile(r"\b(?:we|our|ours|us|we['’]\w+)\b", re.I)
_THEIRS = re.compile(
    r"\b(?!(?:it|that|there|what|let|here)['’])\w+['’]s\b|\b(?:his|her|their|your|clients?|customers?)\b", re.I
)
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
    return None


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


def of_another(statement: str, said: str) -> bool:
    """Whether a statement is about somebody else's, and what was said is not."""
    return bool(_THEIRS.search(statement)) and not _THEIRS.search(said)


def _words(statement: str) -> frozenset[str]:
    return frozenset(term for term in terms(statement) if term not in STOP_WORDS)
