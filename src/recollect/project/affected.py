"""The services that an incident report names as affected. Pure.

They come from fields and headings ("Affected services"), else from the title, else from the summary. A word counts as a
name only if it is written or used like one, because a wrong service is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .. import text as texts
from ..language import tables
from . import markdown
from .markdown import Section
from .patterns import Patterns

_RE = Patterns("affected")
MAX_SERVICES = 8
MAX_TITLE, MAX_LEAD = 300, 4000  # characters that are looked at
MAX_WORDS = 5  # of one name; what is longer is a sentence
_BEFORE = frozenset(tables.words("records", "before a service"))
_AFTER = frozenset(tables.words("records", "after a service"))
_NOUNS = frozenset(tables.words("records", "service nouns"))
_NOT_NAMES = frozenset(tables.words("records", "no services"))


def affected_services(title: str, fields: Mapping[str, str], parts: Sequence[Section], lead: str) -> tuple[str, ...]:
    """The affected services by name; `lead` is what the report says in short: its summary and impact."""
    body = "\n".join(part.body for part in parts)
    ways = (_listed, _headed, _in_sections)
    named = next((found for way in ways if (found := way(fields, parts))), None)
    found = named or _in_title(title, body) or _in_words(lead, body)
    return tuple(dict.fromkeys(texts.shorten(one, 80) for one in found))[:MAX_SERVICES]


def names_services(label: str) -> bool:
    return _RE.label.fullmatch(label) is not None


def label(name: str) -> str:
    """A field's name as it is compared."""
    return re.sub(r"[\s_-]+", " ", re.sub(r"[?:*`]|^[\d.)\s]+", "", name)).strip().lower()


def _listed(fields: Mapping[str, str], parts: Sequence[Section]) -> list[str]:
    return next(
        (found for name, value in fields.items() if names_services(label(name)) and (found := _names(value))), []
    )


def _headed(fields: Mapping[str, str], parts: Sequence[Section]) -> list[str]:
    """What stands below a heading of such a name: the bullets, or the first line."""
    for part in parts:
        if part.level > 1 and names_services(label(part.title)) and part.body:
            listed = part.body.lstrip().startswith(("-", "*", "+"))
            told = markdown.items(part.body) if listed else [part.body.split("\n")[0]]
            if found := [name for one in told for name in _names(re.split(r"\s[-–—(:]\s?|:\s", one)[0])]:
                return found
    return []


def _in_sections(fields: Mapping[str, str], parts: Sequence[Section]) -> list[str]:
    """Fields inside sections, such as those of an impact: only those whose name leaves no doubt."""
    told = [pair for part in parts for pair in markdown.fields(part.body).items()]
    return next((found for name, value in told if _RE.sure_label.search(label(name)) and (found := _names(value))), [])


def _names(value: str) -> list[str]:
    """The names that a value lists.

    >>> _names("billing, `search` and Mail (partly)"), _names("All services"), _names("[list of services]")
    (['billing', 'search', 'Mail'], [], [])
    >>> _names("Customers could not log in for two hours"), _names("CI/CD")
    ([], ['CI/CD'])
    """
    if markdown.unnamed(value) or re.fullmatch(r"\W*\[[^\[\]]*\]\W*", value):
        return []
    plain = re.sub(r"\([^()]*\)", "", markdown.plain(value))
    parts = [re.sub(r"^(?:the|our)\s+", "", part.strip(" .:*-"), flags=re.IGNORECASE) for part in _RE.part.split(plain)]
    parts = [part for part in parts if part and not _RE.none.fullmatch(part)]
    if any(len(part.split()) > MAX_WORDS for part in parts):
        return []
    return [part for part in parts if not _RE.vague.match(part)]


def _in_title(title: str, body: str) -> list[str]:
    """What a title says broke.

    >>> _in_title("KIAM Service disruption", "KIAM was down."), _in_title("Alcide causing Kafka timeouts", "on Kafka")
    (['KIAM'], ['Kafka'])
    >>> _in_title("Outage of the payment gateway", "The payment gateway"), _in_title("All services returning 503", "")
    (['payment gateway'], [])
    """
    told = _RE.report.sub("", markdown.plain(title)[:MAX_TITLE])
    clause = _RE.causing.sub("", told)
    for found in (_RE.broke.match(clause), _RE.break_of.search(clause), _RE.taken_down.search(told)):
        parts = re.split(r"\s+(?:and|&)\s+|,\s*", found["name"]) if found else []
        if names := [name for part in parts if (name := _name(part.split(), body))]:
            return names
    return []


def _in_words(lead: str, body: str) -> list[str]:
    """What the first words say was down."""
    for found in _RE.said.finditer(markdown.prose(lead[:MAX_LEAD])):
        words = found["name"].strip("`")
        if found["name"].startswith("`"):
            return [words]
        if name := _name(words.split(), body):
            return [name]
        if found["noun"] and len(words.split()) < 3 and not _generic(words.split()):
            return [f"{words} {found['noun']}"]
    return []


def _generic(words: Iterable[str]) -> bool:
    return all(word.lower() in _BEFORE | _AFTER | _NOT_NAMES for word in words)


def _name(words: list[str], body: str) -> str:
    """The name that some words are, without what only describes it; nothing where they are none."""
    while words and words[0].lower() in _BEFORE:
        words = words[1:]
    while words and words[-1].lower() in _AFTER:
        words = words[:-1]
    phrase = " ".join(words).strip("`'\" ")
    if not words or len(words) > 3 or not re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", body, re.IGNORECASE):
        return ""
    used = re.search(rf"(?<!\w){re.escape(phrase)}\s+(?:service|API|server|cluster|system)\b", body, re.IGNORECASE)
    named = words[-1].lower() in _NOUNS or used or all(_is_name(word.strip("`'\""), body) for word in words)
    return phrase if named and not all(word.lower() in _NOT_NAMES for word in words) else ""


def _is_name(word: str, body: str) -> bool:
    """Whether a word is written like a name, or with a capital inside of sentences."""
    if word.lower() in _NOT_NAMES or re.search(r"\d{4}", word):
        return False
    if _RE.made.fullmatch(word):
        return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", body) is not None
    return word[:1].isupper() and re.search(rf"[a-z,;)] {re.escape(word)}(?!\w)", body) is not None
