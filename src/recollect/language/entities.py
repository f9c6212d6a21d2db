"""Entities: the services, people, teams, files and other things that a text names. Pure.

Names are found by how they are written (`auth-service`, `AuthService`, `/v2/charge`, `ADR-005`, "the auth service",
"Team Kilo", "Dana Reyes") and by a list of technologies. A word that is merely written with a capital is no entity
unless it is a name of two words, or a relation needs it (`relations.py`): a missing node is better than a wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from . import tables
from .tables import MONTHS, STOP_WORDS, WEEKDAYS

KINDS = (
    "service", "dependency", "api", "pattern", "framework", "config", "person", "team", "repository", "file", "symbol",
    "ticket", "environment", "datastore", "event",
)  # fmt: skip
UNKNOWN = ""  # the kind of a name that only its relations can tell
SURE, LIKELY, POSSIBLE = 0.95, 0.85, 0.7
MAX_TEXT = 20_000  # characters of a memory that are read
MAX_NAME = 80

_NO_TITLES = ("ticket", "pattern", "framework", "api", "team", "environment")
_NOUNS = {noun: kind for kind, nouns in tables.named("graph", "nouns").items() for noun in nouns}
_KNOWN = {name: kind for kind, names in tables.named("graph", "technologies").items() for name in names}
_ENDS = frozenset(tables.words("graph", "ordinary ends"))
_STARTS = frozenset(tables.words("graph", "ordinary starts"))
_NO_NAMES = frozenset(tables.words("graph", "not names"))
_GIVEN = frozenset(tables.words("graph", "given names"))
_NO_PEOPLE = frozenset(tables.words("graph", "no people"))
_DATES = frozenset((*MONTHS, *WEEKDAYS, *(month[:3] for month in MONTHS)))
_EXTENSION = (
    "py|pyi|ts|tsx|js|jsx|mjs|go|rs|java|kt|rb|php|cs|c|h|cc|cpp|hpp|swift|scala|ex|sql|ya?ml|toml|json|ini|env|conf"
    "|md|rst|txt|tf|tfvars|sh|proto|html|css|scss|vue|lock|cfg|xml|gradle|ipynb|csv|parquet"
)
_NOUN = "|".join(sorted(map(re.escape, _NOUNS), key=len, reverse=True))
_TITLES = _NOUNS | {noun: kind for kind, nouns in tables.named("graph", "titles").items() for noun in nouns}
_TITLE = "|".join(sorted((re.escape(n) for n in _TITLES if _TITLES[n] not in _NO_TITLES), key=len, reverse=True))
_TECHNOLOGY = "|".join(sorted((re.escape(name) for name in _KNOWN), key=len, reverse=True))
_CODES = "UTF|SHA|ISO|AES|RSA|TLS|HTTP|ES|CP|IPV|GPT|BASE|MD|EC|ED|RS|HS|COVID|UTC|GMT|X|P|T|V"
_PROPER = r"[A-Z][a-zà-öø-ÿ]+(?:[-'’](?!s\b)[A-Z]?[a-zà-öø-ÿ]+)*|(?:Mc|Mac|O')[A-Z][a-z]+"
_SPAN = re.compile(
    rf"""`(?P<code>[^`\n]{{1,{MAX_NAME}}})`
    |(?P<file>\b(?:Docker|Make|Jenkins|Proc|Vagrant|Code)(?:file|owners)(?:\.\w+)?\b
      |(?<![\w/])(?:\.{{0,2}}/)?[\w@.-]+(?:/[\w@.-]+)*\.(?:{_EXTENSION})(?![\w/-])(?!\.\w))
    |(?P<api>(?:\b(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+)?(?<![\w./<])/[A-Za-z][\w{{}}:.-]*(?:/[\w{{}}:.*-]+)*)
    |(?P<ticket>\b(?!(?:{_CODES})-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,6}}\b|\b(?:ADR|RFC|Adr|Rfc)[ -]?\#?\d+\b
      |\b(?:PR|MR|[Ii]ssue|[Ii]ncident|[Tt]icket|[Pp]ull\ request)\s?\#?\d+\b|(?<![\w&])\#\d{{2,6}}\b)
    |(?P<commit>\bcommit\ [0-9a-f]{{7,40}}\b)
    |(?P<config>\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b)
    |(?P<version>\b[A-Za-z][\w-]*[ ]v?\d+(?:\.\d+)+\b|\b[a-z][\w-]*[ ]v\d+\b)
    |(?P<happening>(?:[A-Z]\w+[ ]){{1,2}}(?:outage|incident|storm|meltdown|crash|failure)\b)
    |(?P<call>\b[A-Za-z_]\w*(?:(?:\.|::)\w+)*\(\))
    |(?P<region>\b(?:us|eu|ap|sa|ca|me|af)-(?:north|south|east|west|central)+-\d[a-z]?\b)
    |(?P<handle>(?<![\w.])@[A-Za-z][\w-]{{1,38}}(?![\w/]))
    |(?P<team>\b(?:[Tt]eam|[Ss]quad|[Gg]uild|[Cc]rew)\s+(?:{_PROPER}|[A-Z]{{2,}})|\b(?:[A-Z][\w&-]*\s+){{1,3}}(?:Team|Squad|Guild|Crew|Tribe|Chapter)\b)
    |(?P<titled>\b(?:{_TITLE})\s+(?:(?:called|named)\s+(?:["“'](?P<a>[^"”'\n]{{2,40}})["”']|(?P<b>[\w-]+))
      |["“](?P<c>[\w][\w .-]{{1,38}})["”]|(?P<d>(?:{_PROPER})(?![\w-])|[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)))
    |(?P<dotted>\b[A-Za-z][A-Za-z0-9_-]+(?:\.[a-z][A-Za-z0-9_-]+)+\b(?!/))
    |(?P<camel>\b[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+\b|\b[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b)
    |(?P<snake>\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b)
    |(?P<kebab>(?<![\w/.@-])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+(?![\w/-]))
    |(?P<known>(?<![\w-])(?:{_TECHNOLOGY})(?![\w-]))
    |(?P<proper>(?<![\w'’-])(?:{_PROPER})(?:[ ](?:{_PROPER}|[A-Z][A-Za-z]*))*(?![\w-]))
    |(?P<word>(?<![\w'’-])(?:[A-Z]{{2,6}}|[a-z][a-z0-9]+)(?![\w-]))""",
    re.VERBOSE,
)
_NOUN_AFTER = re.compile(rf"\s+((?:{_NOUN}))\b(?![-_/])", re.IGNORECASE)
_PATTERN = re.compile(r" patterns?\b")
_DETERMINER = re.compile(
    r"(?:\b(?:the|our|The|Our|'s|’s|and|both)\s+(?:(?:old|new|legacy|existing|current|internal)\s+)?)$"
)
_CAMEL_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_SUBJECT = re.compile(rf"(?:['’]s \w+ is|\s\(| (?:also |now |still |only )?(?:{tables.joined('graph', 'subjects')})\b)")
# A word without an article where an object stands, as names do: "is invoked by cart on every change".
_BARE = re.compile(r"(?:\b(?:by|on|to|for|from|calls|owns|and) )\Z")
_BARE_END = re.compile(r"(?: (?:on|for|at|in|and|via|over|when|before|after|with)\b|[.,;)]|$)")
_ABSTRACT = re.compile(
    rf"(?:ing|[st]ion|ment|ness|ity|ly|[ae]nce|ship|ism|ed|s)$|^(?:{tables.joined('graph', 'no bare names')})$"
)
_PARTICIPLE = re.compile(r"(?:ed|sent|paid|built|shipped|lost|made|sold|set)$")
_PLAIN = ("service", "datastore", "team", "repository", "person", "file")  # kinds that ordinary words may name
_GROUPS = ("team", "squad", "guild", "crew", "tribe", "chapter", "group")
_METHOD = re.compile(r"^(?:GET|POST|PUT|PATCH|DELETE|HEAD)\s+")
_NUMBERED = re.compile(r"([A-Za-z]+(?: request)?)[ -]?#?0*(\d+)|#0*(\d+)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text, where it stands, and what kind of thing it is; `key` is the same for all ways to write it."""

    name: str
    kind: str
    key: str
    start: int
    end: int
    confidence: float
    weak: bool = False  # an entity only if a relation needs it


@lru_cache(maxsize=4096)
def key_of(name: str, kind: str = UNKNOWN) -> str:
    """What makes two names the same entity: case, separators, plural and "service" do not count; API paths keep case.

    >>> key_of("AuthService"), key_of("auth-service"), key_of("the auth services"), key_of("ADR-005"), key_of("adr 5")
    ('auth', 'auth', 'auth', 'adr 5', 'adr 5')
    >>> key_of("POST /v2/Charge"), key_of("Team Kilo"), key_of("the Kilo team"), key_of("payments"), key_of("auth db")
    ('/v2/Charge', 'team kilo', 'team kilo', 'payment', 'auth db')
    """
    name = _METHOD.sub("", name.strip().strip("`\"'"))
    if name.startswith("/") or (kind == "api" and "/" in name):
        return name.rstrip("/") or name
    if kind == "file" or re.fullmatch(rf"[\w@./-]+\.(?:{_EXTENSION})", name):
        return name.removeprefix("./")
    if numbered := _NUMBERED.fullmatch(name):
        return f"{(numbered[1] or 'pr').lower().replace('pull request', 'pr')} {numbered[2] or numbered[3]}"
    parts = [part.lower() for word in re.split(r"[\s_./:@-]+", name.removesuffix("()")) for part in _camel(word)]
    while len(parts) > 1 and parts[0] in ("the", "our", "a", "an"):
        parts = parts[1:]
    while len(parts) > 1 and parts[-1] in ("service", "services", "microservice", "svc"):
        parts = parts[:-1]
    if len(parts) > 1 and parts[-1] in ("pattern", "patterns"):
        parts = parts[:-1]
    if len(parts) > 1 and parts[-1] in _GROUPS:
        parts = ["team", *parts[:-1]]
    elif len(parts) > 1 and parts[0] in _GROUPS:
        parts[0] = "team"
    elif kind == "team":
        parts = ["team", *parts]
    if parts and kind != "person" and parts[0] != "team":
        parts[-1] = _singular(parts[-1])
    return " ".join(parts)


def short_of(key: str, kind: str) -> str:
    """By what else people may call it: a person by the first name, a team by its name alone, others by nothing."""
    first, _, rest = key.partition(" ")
    return first if kind == "person" and rest else rest if kind == "team" and first == "team" else ""


def _camel(word: str) -> list[str]:
    if word.lower() in _KNOWN or not re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]", word):
        return [word] if word else []
    return _CAMEL_PARTS.findall(word)


def _singular(word: str) -> str:
    plural = len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "us", "is", "es", "ws"))
    return word[:-1] if plural or (len(word) > 5 and word.endswith(("ces", "ges", "tes", "res", "les"))) else word


def find(text: str) -> list[Mention]:
    """Every name in a text in order; those that are `weak` count only where a relation needs them.

    >>> [(one.name, one.kind) for one in find("The auth service calls /v2/charge; Team Kilo owns it since ADR-005.")]
    [('auth service', 'service'), ('/v2/charge', 'api'), ('Team Kilo', 'team'), ('ADR-005', 'ticket')]
    """
    found: list[Mention] = []
    at = 0
    text = text[:MAX_TEXT]
    while match := _SPAN.search(text, at):
        one = _classify(text, match)
        at = max(one.end if one else match.end(), at + 1)
        if one and (not found or one.start >= found[-1].end):
            found.append(one)
    return [one for one in found if len(one.name) <= MAX_NAME and one.key]


def _classify(text: str, match: re.Match[str]) -> Mention | None:
    form, name = str(match.lastgroup), match[0]
    if form == "code":
        return _in_code(text, match)
    if form in ("word", "known", "proper", "kebab", "snake"):
        return _named(text, match, form, name)
    if form == "dotted":
        if name.lower() in _KNOWN:
            return _make(match, name, _KNOWN[name.lower()], SURE)
        last = name.rpartition(".")[2]
        domain = last in ("com", "org", "net", "io", "dev", "g", "e", "internal", "local", "example", "co")
        kind = "event" if _PARTICIPLE.search(last) else _noun_after(text, match.end()) or "symbol"
        return None if domain else _make(match, name, kind, LIKELY)
    if form == "camel":
        return _make(match, name, *_camel_kind(text, name, match.end()))
    if form == "file" and (name.lower() in _KNOWN or re.fullmatch(r"[A-Z]\w+\.js", name)):
        return _make(match, name, _KNOWN.get(name.lower(), "dependency"), SURE)
    if form == "titled":
        return _titled(match)
    if form == "version":
        return _versioned(match, name)
    if form == "happening":
        return None if name.split(" ")[0].lower() in STOP_WORDS else _make(match, name, "event", LIKELY)
    if form == "ticket" and name.startswith("#") and text[max(0, match.start() - 1) : match.start()] in ("#", "&"):
        return None
    kind = {"call": "symbol", "region": "environment", "handle": "person", "commit": "ticket"}.get(form, form)
    return _make(match, name.removesuffix("()") if form == "call" else name, kind, SURE)


def _titled(match: re.Match[str]) -> Mention | None:
    """ "the service Kestrel", 'a cron called "weekly-digest"'."""
    noun = match[0].split()[0]
    name = match["a"] or match["b"] or match["c"] or match["d"]
    folded = name.lower()
    if folded in _NOUNS or folded in _DATES or folded in STOP_WORDS or folded in _NO_NAMES or folded in _GIVEN:
        return None
    kind = _KNOWN.get(folded) or _TITLES[noun.lower()]
    return Mention(name, kind, key_of(name, kind), match.start(), match.end(), LIKELY)


def _versioned(match: re.Match[str], name: str) -> Mention | None:
    """ "libtaxes 2.4" is a dependency, "auth v2" an API."""
    base, _, version = name.rpartition(" ")
    if base.lower() in STOP_WORDS or base.lower() in _NO_NAMES or base.lower() in _NOUNS or base.lower() in _DATES:
        return None
    if version.startswith("v") and "." not in version:
        return _make(match, name, "api", POSSIBLE)
    kind = _KNOWN.get(base.lower(), "dependency")
    return replace(_at(base, kind, match.start(), LIKELY), weak=base.lower() not in _KNOWN)


def _camel_kind(text: str, name: str, end: int) -> tuple[str, float]:
    if name.lower() in _KNOWN:
        return _KNOWN[name.lower()], SURE
    parts = [part.lower() for part in _CAMEL_PARTS.findall(name)]
    last = parts[-1]
    if last in ("service", "gateway", "api", "db"):
        return _NOUNS[last], SURE
    if last == "event" or (_PARTICIPLE.search(last) and name[0].isupper()):
        return "event", LIKELY
    return _noun_after(text, end) or "symbol", LIKELY


def _in_code(text: str, match: re.Match[str]) -> Mention | None:
    """What stands in backticks is a name; its form, or the noun after it, tells of what."""
    inside = match["code"].strip()
    if not re.search(r"[A-Za-z]", inside) or (" " in inside and not _METHOD.match(inside)):
        return None
    inner = _SPAN.fullmatch(inside)
    found = _classify(inside, inner) if inner and inner.lastgroup not in ("code", "word", "proper") else None
    kind = found.kind if found else _KNOWN.get(inside.lower(), "")
    kind = _noun_after(text, match.end()) or kind or ("config" if inside.isupper() else "symbol")
    if found is None and inner is None and not re.fullmatch(r"[\w@./:-]+", inside):
        return None
    return _make(match, inside, kind, LIKELY)


def _named(text: str, match: re.Match[str], form: str, name: str) -> Mention | None:
    """Names in words: a technology, a compound, a capitalised name, or words before a noun that tells the kind."""
    if form != "kebab" and form != "snake" and (typed := _typed(text, match)):
        return typed
    if name.lower() in _KNOWN:
        end = (
            match.end() + len(_match(_PATTERN, text, match.end())) if _KNOWN[name.lower()] == "pattern" else match.end()
        )
        return _span(text, match.start(), end, _KNOWN[name.lower()], LIKELY)
    if form == "snake":
        return _make(match, name, _noun_after(text, match.end()) or "symbol", LIKELY)
    if form == "kebab":
        return _compound(text, match, name)
    if form == "proper":
        return _capitalised(text, match, name)
    begins = form == "word" and _starts_sentence(text, match.start())
    bare = form == "word" and _BARE.search(text, 0, match.start()) and _BARE_END.match(text, match.end())
    if (bare or (begins and _SUBJECT.match(text, match.end()))) and not _ABSTRACT.search(name):
        known = name in STOP_WORDS or name in _NO_NAMES or name in _NOUNS or name in _DATES or len(name) < 3
        return None if known else replace(_make(match, name, UNKNOWN, POSSIBLE), weak=True)
    if form == "word" and name.isupper() and name.lower() not in _NO_NAMES:
        return replace(_make(match, name, UNKNOWN, POSSIBLE), weak=True)
    return None


def _compound(text: str, match: re.Match[str], name: str) -> Mention | None:
    parts = name.lower().split("-")
    kind = _noun_after(text, match.end())
    if name.lower() in _KNOWN:
        return _make(match, name, _KNOWN[name.lower()], SURE)
    if parts[-1] in _NOUNS and parts[0] not in ("sub", "pre", "re", "non", "multi", "cross"):
        return _make(match, name, "service" if parts[-1] == "api" else _NOUNS[parts[-1]], SURE)
    if parts[0] in ("production", "prod", "staging", "sandbox"):
        return _make(match, name, "environment", LIKELY)
    if kind and parts[0] not in _STARTS and parts[-1] not in _ENDS:
        end = match.end() + len(_match(_NOUN_AFTER, text, match.end()))
        return _make(match, name, kind, SURE) if kind != "team" else _span(text, match.start(), end, kind, SURE)
    ordinary = parts[-1] in _ENDS or parts[0] in _STARTS or re.search(r"\w{3}(?:ing|ed|ly|ful|less)$", parts[-1])
    followed = re.match(r"\s+[a-z]{3,}", text[match.end() :])
    if ordinary:
        return None
    return replace(_make(match, name, "service", LIKELY if not followed else POSSIBLE), weak=bool(name[0].isupper()))


def _capitalised(text: str, match: re.Match[str], name: str) -> Mention | None:
    words = name.split(" ")
    first = _starts_sentence(text, match.start())
    start = match.start()
    while words and (words[0].lower() in STOP_WORDS or words[0].lower() in _NO_NAMES or words[0].lower() in _DATES):
        start += len(words[0]) + 1
        words, first = words[1:], False
    if not words or any(word.lower() in _DATES for word in words):
        return None
    name = " ".join(words)
    if name.lower() in _KNOWN:
        return _at(name, _KNOWN[name.lower()], start, SURE)
    typed = [word for word in words if word.lower() in _NOUNS]
    if len(words) > 1 and words[-1].lower() in _NOUNS:
        return _at(name, _NOUNS[words[-1].lower()], start, LIKELY)
    if words[0].lower() in _GIVEN and not typed and len(words) < 4:
        return _at(name, "person", start, LIKELY)
    if any(word.lower() in _GIVEN for word in words[1:]) and words[0].lower() not in _NO_PEOPLE and first:
        start, words = start + len(words[0]) + 1, words[1:]  # "Thanks Ruth"
        return _at(" ".join(words), "person", start, LIKELY)
    strange = any(word.lower() in _KNOWN or word.lower() in _NO_PEOPLE or len(word) < 3 for word in words)
    if len(words) == 2 and not typed and not strange and not first:
        return _at(name, "person", start, POSSIBLE)
    return replace(_at(name, UNKNOWN, start, POSSIBLE), weak=True)


def _typed(text: str, match: re.Match[str]) -> Mention | None:
    """ "the auth service", "the data platform team", "Kilo squad", "orders table": words, then the noun of a kind."""
    start, end = match.start(), match.end()
    words = match[0].split(" ")
    if any(word.lower() in _NO_NAMES or word.lower() in _DATES for word in words) or words[-1].lower() in _NOUNS:
        return None
    known = _DETERMINER.search(text[max(0, start - 16) : start])
    after = _NOUN_AFTER.match(text, end)
    if after is None:  # "the data platform team": one more word between
        more = re.compile(r" ([a-z][a-z0-9]+)(?= )").match(text, end)
        if not known or not more or more[1] in _NO_NAMES or more[1] in STOP_WORDS or more[1] in _NOUNS:
            return None
        after = _NOUN_AFTER.match(text, more.end())
        if after is None or _NOUNS[after[1].lower()] not in ("team", "service"):
            return None
    noun = after[1].lower()
    kind = _NOUNS[noun]
    if not (known or match[0][0].isupper()) or (_starts_sentence(text, start) and match[0].lower() in STOP_WORDS):
        return None
    if kind not in _PLAIN and (not match[0][0].isupper() or _starts_sentence(text, start)):
        return None
    if match[0].lower() in _KNOWN and kind != "team":
        return None
    chained = _NOUN_AFTER.match(text, after.end())
    if chained and _NOUNS[chained[1].lower()] in ("team", "service", "datastore"):  # "the auth service team"
        after, kind = chained, _NOUNS[chained[1].lower()]
    return _span(text, start, after.end(), kind, LIKELY)


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"'(*_-")
    return not before or before[-1] in ".!?:;\n•"


def _noun_after(text: str, end: int) -> str:
    found = _NOUN_AFTER.match(text, end)
    return _NOUNS[found[1].lower()] if found else ""


def _match(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def _make(match: re.Match[str], name: str, kind: str, confidence: float) -> Mention:
    return Mention(name, kind, key_of(name, kind), match.start(), match.end(), confidence)


def _at(name: str, kind: str, start: int, confidence: float) -> Mention:
    return Mention(name, kind, key_of(name, kind), start, start + len(name), confidence)


def _span(text: str, start: int, end: int, kind: str, confidence: float) -> Mention:
    return _at(text[start:end], kind, start, confidence)
