"""Wording: what a text says, with what English lets people choose taken out. Pure.

The same thing is noted with an opening («FYI, …»), as a possession or with «of», as an ongoing act or a habit, and with
one of several set phrases. `plain` writes all of these in one way, so that what compares words sees none of it. It
makes nothing of a text that a reader would take for another claim.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...language import tables, terms

# What introduces a statement and is no part of it.
_OPENING = re.compile(
    r"^[\s\-*•–—>«»\"“”']*(?:(?:fyi|nb|n\.b\.|btw|note|notice|reminder|update|info|tip|hint|heads[ -]up|tl;dr|remember|"
    r"important|correction|confirmed|decided|agreed|decision|fact|by the way|for (?:the|your) (?:record|information)|"
    r"just so you know|so you know|to be clear|in short|as (?:agreed|discussed|mentioned|said|decided|noted)"
    r"(?: before| earlier| yesterday| today)?|please note|note|remember|keep in mind|bear in mind|"
    r"(?:i|we) (?:just )?(?:learned|learnt|heard|found out|were told|was told)|(?:it )?turns out|it is (?:true|known))"
    r"(?:\s+that)?\s*[:,;–—-]+\s*|(?:please note|keep in mind|bear in mind|remember|note|turns out) that\s+)",
    re.IGNORECASE,
)
_CONTRACTED = (
    (re.compile(r"\b(can)['’]t\b", re.I), r"\1not"),
    (re.compile(r"\bwon['’]t\b", re.I), "will not"),
    (re.compile(r"\b(\w+)n['’]t\b", re.I), r"\1 not"),
    (re.compile(r"\b(i)['’]m\b", re.I), r"\1 am"),
    (re.compile(r"\b(we|you|they)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(it|he|she|that|there)['’]s\b", re.I), r"\1 is"),
)
# A thousand is written in several ways; so are units behind a number, and what happens so and so often.
_THOUSANDS = re.compile(r"(?<=\d)[,'’ ](?=\d{3}\b)")
_UNITS = tuple(
    (re.compile(rf"(?<=\d)\s*(?:{short})(?![\w/])", re.I), f" {long}")
    for short, long in (
        ("s|secs?|seconds?", "seconds"), ("mins?|minutes?", "minutes"), ("h|hrs?|hours?", "hours"),
        ("%|per ?cent", "percent"), ("€|eur|euros?", "euros"), ("km|kilomet(?:re|er)s?", "kilometres"),
        ("mb|megabytes?", "megabytes"), ("gb|gigabytes?", "gigabytes"), ("kg|kilos?|kilograms?", "kilograms"),
    )
)  # fmt: skip
_ENDED = re.compile(
    r"\b(?:do(?:es)? not|did not|(?=(?:is|are|was|were) not)\w+ not) ([^,;.]*?)\s*any ?(?:more|longer)\b", re.I
)
_EVERY = re.compile(r"\b(?:per|an?|each|every|/)\s+(year|month|week|day|hour|minute|second)\b", re.I)
_NAME = r"(?:[A-Z][\w&.-]*\w(?: (?:[A-Z][\w&.-]*\w|\d+)){0,3}|[\w./-]*\w)"
_OWNED = re.compile(rf"\b({_NAME})['’]s? ([a-z][\w-]*)")
# What something is done with: «use A to build B», «A is used to build B».
_MEANS = re.compile(r"\b(?:will )?us(?:es?|ing) (\S+(?: \S+)?) (?:to (?=\w)|for (?=\w+ing\b))(.+?)(?=[.!]?$)", re.I)
_SERVES = re.compile(r"^(\S+(?: \S+){0,3}) (?:is|are) used (?:to (?=\w)|for (?=\w+ing\b))(.+?)(?=[.!]?$)", re.I)
# Set phrases that mean one thing. The second form is the one that is compared.
_PHRASES = tuple(
    (re.compile(rf"(?:(?<!\w)|(?=['’]))(?:{said})\b", re.I), plain)
    for said, plain in (
        (r"(?:switched|turned) on|activated", "enabled"), (r"(?:switched|turned) off|deactivated", "disabled"),
        (r"switch(?:es)? on|turns? on|activates?", "enable"), (r"switch(?:es)? off|turns? off", "disable"),
        (r"no longer|not any ?more|not any longer", "no longer"), (r"takes? place|is held|are held", "is"),
        (r"(?:is|are) responsible for|(?:is|are) in charge of|looks? after|takes? care of", "owns"),
        (r"(?:has|have) to|needs? to|(?:is|are) required to|(?:is|are) obliged to", "must"),
        (r"(?:is|are) allowed to|(?:is|are) permitted to", "may"), (r"makes? use of|(?:is|are) using", "uses"),
        (r"in order to", "to"), (r"prior to", "before"), (r"due to|owing to|because of", "because of"),
        (r"resides? in|(?:(?:is|are) )?(?:based|living|resident|at home) in", "lives in"),
        (r"['’]s home is in", " lives in"),
        (r"(?:is|are) employed as|(?:is|are) working as", "works as"), (r"['’]s (?:job|profession) is", " works as"),
        (r"at least|no (?:fewer|less) than|a minimum of", "at least"),
        (r"at most|no more than|a maximum of|up to", "at most"),
        (r"and (?:newer|later|above|up)|or (?:newer|later|above|higher)|and upwards?|on(?:wards?)? from", "and newer"),
        (r"likes? (\S+(?: \S+){0,2}?) (?:better|more) than", r"prefers \1 over"),
        (r"prefers? (\S+(?: \S+){0,2}?) to", r"prefers \1 over"),
        (r"(?<!\bis )(?<!\bare )(?<!\bbe )used to", "formerly"),
        (r"contact person|person to contact", "contact"), (r"you (?:can )?find|can be found|is to be found", "is"),
        (r"twice", "2 times"), (r"once (?=an? |per |each |every )", "1 times "), (r"yearly|annually", "a year"),
    )
)  # fmt: skip
_NUMBERS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
    if number > 1
}
_NUMBER = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.I)
# What cannot be so at the same time of the same thing, in pairs; each word in all its forms.
OPPOSITES = tables.groups("opposites", "statements")

# Words for one another that are nobody's trade.
SYNONYMS = {
    stem: group[0]
    for group in ([terms.terms(word)[-1] for word in line] for line in tables.groups("synonyms", "statements"))
    for stem in group
}


@lru_cache(maxsize=32768)
def plain(text: str) -> str:
    """A text in one of the ways to write it.

    >>> plain("FYI, Ana isn't living in Porto any more.")
    'Ana no longer lives in Porto.'
    >>> plain("Redwood Foods's canteen seats 1,200 people per day")
    'canteen of Redwood Foods seats 1200 people a day'
    >>> plain("Dark mode is switched on for Lumen.")
    'Dark mode is enabled for Lumen.'
    """
    said = _OPENING.sub("", text.strip(), count=1).strip('«»"“” ')
    for contracted, whole in _CONTRACTED:
        said = contracted.sub(whole, said)
    said = figures(_ENDED.sub(r"no longer \1", said))
    for phrase, one in _PHRASES:
        said = phrase.sub(one, said)
    said = _SERVES.sub(r"\2 with \1", _MEANS.sub(r"\2 with \1", said))
    return _OWNED.sub(r"\2 of \1", _EVERY.sub(r"a \1", said))


def figures(text: str) -> str:
    """A text with its numbers and units written in one way.

    >>> figures("Two pumps move 1,200 kg in 5min.")
    '2 pumps move 1200 kilograms in 5 minutes.'
    """
    said = _THOUSANDS.sub("", text)
    for unit, long in _UNITS:
        said = unit.sub(long, said)
    return _NUMBER.sub(lambda found: _NUMBERS[found[0].lower()], said)
