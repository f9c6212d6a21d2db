"""Intent: what kind of memory a question asks for. Pure.

«What broke in January?» asks for incidents and «how do I roll back?» for a procedure, whatever words the memories use.
It is a hint and no filter: a memory of the kind gains a little, and others are found as before.
"""

from __future__ import annotations

import re

from ..language import terms
from ..types import NETWORKS

_PERSON = r"(?:i|we|you|one|anyone|anybody|someone|somebody|people)"
KINDS_ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\b(?:incidents?|outages?|broke|broken|breaks?|crash(?:ed|es)?|went (?:wrong|down)|go(?:es)? wrong"
     r"|fail(?:ed|ures?)|post-?mortems?|root causes?|downtime|accidents?|leak(?:ed|s)?|breach(?:ed|es)?|corrupt(?:ed)?"
     r"|(?:what|which) (?:\w+ ){0,2}caused?|caused by|what (?:has )?happened|(?:did|has|have|was|were) [^?]{1,80}\bever"
     r"|(?:seen|happened|had) (?:this |that |it )?before|ran out|stopped working|unreachable|unavailable)\b",
     ("incident", "lesson")),
    (r"\b(?:decid(?:e|ed|es|ing)|decisions?|agree[ds]?|chose|choose|chosen|settled?|picked|adopt(?:ed)?|planned|plans?"
     r"|why|what made (?:us|you|them)|reasons?|rationale|rather than|instead of|do we (?:still )?use)\b",
     ("decision",)),
    (r"\b(?:how (?:do|can|should|to)|how (?:is|are) (?:\w+ ){1,5}?(?:\w{2,}ed|done|made|run|set|put|built|sent)"
     r"|steps?|procedure|runbook|command|now what|what (?:do|should) (?:i|we) (?:do|run))\b", ("procedure",)),
    (r"\b(?:prefer(?:s|red|ence)?|likes?|dislikes?|favou?rites?|want(?:s|ed)?|good (?:day|time|moment|idea))\b",
     ("preference", "rule")),
    (r"\b(?:allowed|forbidden|permitted|permission|must|supposed to|have to|(?:may|can|could|should) " + _PERSON +
     r"|is it (?:all right|alright|ok|okay|fine|safe|possible)|rules?|policy|convention)\b", ("rule", "preference")),
    (r"\b(?:lessons?|learn(?:ed|t)?)\b", ("lesson", "insight")),
    (r"\b(?:where is the code|where in the code|in code|which (?:file|function|class|module|method)"
     r"|what (?:returns|raises|calls|throws)|who (?:returns|raises|calls|throws))\b", ("code",)),
)  # fmt: skip
# What a list is asked of: "decisions made in Q4", "which outages did we have". It binds, unlike the patterns above.
LISTED = {
    "decisions": "decision", "incidents": "incident", "outages": "incident", "postmortems": "incident",
    "commits": "commit", "lessons": "lesson", "preferences": "preference", "procedures": "procedure",
    "runbooks": "procedure", "tasks": "task", "opinions": "opinion", "observations": "observation",
}  # fmt: skip
_LIST = re.compile(
    r"^(?:(?:please|list|show|give|tell|name|find|me|us|which|what|all|any|every|the|our|of|were|are|is|there|in|order)\s+)*"
    rf"({'|'.join(LISTED)})\b(?! (?:service|table|api|page|queue|board|file))",
    re.IGNORECASE,
)
KIND_WORDS = frozenset(terms.terms(" ".join(LISTED)))
# Other words for an incident, which bind only where one of several is meant: "the last glitch before Christmas".
TROUBLE = (
    "failures crashes bugs glitches problems breakdowns disturbances disruptions faults hiccups mishaps breakages"
).split()
KIND_WORDS |= frozenset(terms.terms(" ".join(TROUBLE)))
_KINDS = LISTED | dict.fromkeys(TROUBLE, "incident")
# One of them, by its place in time: "the last incident before Christmas", "which decision followed the outage".
_ONE = "|".join(sorted({name.removesuffix("s") for name in _KINDS} | {"crash", "glitch"}, reverse=True))
_LAST, _FIRST = "last|latest|most recent|newest|final", "first|earliest|oldest|next"
_BROKE = r"(?:went|gone|goes) (?:wrong|down)|broke(?: down)?|failed|crashed|blew up|fell over|was hit"
_NTH = re.compile(
    rf"\b(?:(?P<last>{_LAST})|(?P<first>{_FIRST})) (?:\w+ )?(?P<kind>{_ONE})\b"
    rf"|^which (?P<asked>{_ONE}) (?:\w+ )?(?:(?P<after>followed|came (?:\w+ )?after)|preceded|came (?:\w+ )?before)\b"
    rf"|\b(?:(?:last|latest) thing (?:that |to )?(?:{_BROKE}|break|fail|go wrong)"
    rf"|(?P<thing>(?:first|next) thing (?:that |to )?(?:{_BROKE}|break|fail|go wrong))"
    rf"|what (?:{_BROKE}) (?:(?P<soon>first|next|(?:just|right|shortly|immediately) (?:after|following))"
    r"|last|(?:just|right|shortly|immediately) (?:before|ahead|prior)))\b",
    re.IGNORECASE,
)
# Words that say nothing of a subject: that something happened, to whom in general, and that it is to be listed.
EMPTY = frozenset(
    terms.terms(
        "happen happened occur occurred go going thing things team anything something change changed different new"
        " list tell give show walk order chronological chronologically history sequence timeline"
        " first last next latest recent oldest newest earliest final bad big most went wrong broke fail crash"
    )
)
_ASKED = tuple((re.compile(pattern, re.IGNORECASE), kinds) for pattern, kinds in KINDS_ASKED)


def kinds(question: str) -> dict[str, float]:
    """The kinds a question asks for: the first of a line in full, the others by half.

    >>> kinds("What broke in January?"), kinds("Who owns billing?")
    ({'incident': 1.0, 'lesson': 0.5}, {})
    >>> kinds("Is it all right to deploy today?")
    {'rule': 1.0, 'preference': 0.5}
    """
    found: dict[str, float] = {}
    for pattern, asked in _ASKED:
        if pattern.search(question):
            for place, kind in enumerate(asked):
                found[kind] = max(found.get(kind, 0.0), 0.5 if place else 1.0)
    return found


def listed(question: str) -> dict[str, tuple[str, ...]]:
    """The kind or network that a question wants a list of, as a hint.

    >>> listed("decisions made in Q4 2025"), listed("Which outages did we have?"), listed("Who owns billing?")
    ({'kind': ('decision',)}, {'kind': ('incident',)}, {})
    >>> listed("opinions about the cache")
    {'network': ('opinion',)}
    """
    found, one = _LIST.match(question.strip()), _NTH.search(question)
    name = LISTED[found[1].lower()] if found else _kind_of(one) if one else ""
    return {"network" if name in NETWORKS else "kind": (name,)} if name else {}


def _kind_of(one: re.Match[str]) -> str:
    """The kind of which one is meant."""
    said = (one["kind"] or one["asked"] or "incident").lower()
    return _KINDS.get(f"{said}s") or _KINDS[f"{said}es"]


def nth(question: str) -> str:
    """Whether a question wants the first or the last of a kind; nothing where it wants neither.

    >>> nth("What was the last incident before May?"), nth("Which decision followed the outage?"), nth("Which task?")
    ('last', 'first', '')
    >>> nth("What broke right before the move?"), listed("Last bad glitch before the launch?")
    ('last', {'kind': ('incident',)})
    """
    one = _NTH.search(question)
    return "" if one is None else "first" if any(one[name] for name in ("first", "after", "thing", "soon")) else "last"


def bare(question: str, time: str) -> float:
    """How little a question says beside its time and the kind it asks for.

    >>> bare("What broke in January?", "in January"), bare("When did Redis break in January?", "in January")
    (1.0, 0.25)
    """
    rest = question.replace(time, " ")
    for pattern, _ in _ASKED:
        rest = pattern.sub(" ", rest)
    said = {term for term in terms.terms(rest) if term not in terms.STOP_WORDS} - EMPTY
    return 1 / (1 + len(said)) ** 2
