"""Understanding a question: its time, its hints, what must stay whole, and how else it could be said. Pure.

A *hint* narrows a search: `project:shop`, `kind:decision`, `tag:auth`, `#auth`, `user:`, `session:`, `branch:`. It is
taken out of the text that is searched with. Developers write colons for other reasons, so a hint needs a key from the
table at the start of a word and a plain word, or a quoted text, right behind it: `std::string`, `12:30`, a URL,
`user: x` and `type:int` are text. Taking hints out twice is taking them out once.

Time words stay in the text: a memory may say «in March» too. *Phrases* and *identifiers* are what a person expects to
find letter by letter. *Variants* say the text in other words of the lexicon, leaving those two alone.

Every scan is one pass of a pattern that never looks back over what it has read, so the cost is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from ..language import terms, when
from ..types import KINDS
from . import lexicon

MAX_VALUE = 128  # characters of a hint's value, a phrase or an identifier
MAX_VALUES = 16  # of one hint, and phrases
MAX_IDENTIFIERS = 32
MAX_VARIANTS = 3
MAX_REWRITTEN = 2048  # characters of a text that is worth saying in other words
MAX_REPLACED = 8  # terms replaced in one variant

KEYS = {"project": "project", "kind": "kind", "type": "kind", "tag": "tag", "user": "user", "session": "session",
        "branch": "branch"}  # fmt: skip
NO_WORDS: Mapping[str, Sequence[str]] = MappingProxyType({})

_HINT = re.compile(
    r"""(?<![^\s,;])(?:(?P<key>project|kind|type|tag|user|session|branch):
          (?:"(?P<quoted>[^"\n]{1,128})"|(?P<plain>\w(?:[\w.+@/-]{0,126}\w)?))
        |\#(?P<tag>[^\W\d_](?:[\w-]{0,62}\w)?))
        (?=[\s,;.!?)]|$)[,;]?[ \t]*
    |"[^"\n]*"|“[^“”\n]*”|`[^`\n]*`""",
    re.IGNORECASE | re.VERBOSE,
)
_NOT_TAGS = frozenset("include define undef ifdef ifndef if elif else endif pragma error region endregion line".split())
_COLOUR = re.compile(r"[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8}", re.IGNORECASE)
_PHRASE = re.compile(
    r"\"([^\"\n]*)\"|“([^“”\n]*)”|(?<!\w)'(?=\S)([^'\n]{1,100}(?:(?<=\w)'\w[^'\n]{0,100}){0,3})(?<=\S)'(?!\w)"
)
_WHOLE = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|`[^`\n]*`")
_CODE = re.compile(r"`([^`\s]+)`")
_RUN = re.compile(r"\S+")
_IDENTIFIER = re.compile(
    r"""--[a-z][\w-]+                                   # --flag
    |[\w.+-]+://\S+                                     # a URL
    |[~.]{0,2}/?[\w.@+-]+(?:[/\\][\w.@+-]+)+/?          # a path
    |~?/[\w.@+-]+/?
    |\w+(?:::\w+)+                                      # std::string
    |_*[^\W_]+(?:_+[^\W_]+)+_*|__\w+__                  # snake_case
    |[a-z]+[a-z0-9]*[A-Z]\w*|[A-Z]\w*[a-z0-9][A-Z]\w*   # getUserName, HttpServer
    |[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*-\d[\w.-]*   # ADR-005, CVE-2024-1234, incident-123
    |[A-Z]{1,6}\d{2,8}                                  # E1234, TS2322
    |E(?:NO|ACC|PERM|CONN|ADDR|PIPE|EXIST|TIMED|AGAIN|INVAL|BUSY|MFILE|HOST)[A-Z]*
    |v\d+(?:\.\d+)*(?:[-+][\w.]+)?|\d+(?:\.\d+)+(?:[-+][\w.]+)?       # v1.2.3, 3.11
    |@[\w-]+/[\w.-]+                                    # @scope/package
    |[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+                    # os.path, token_store.py
    |\#\d+                                              # an issue
    |(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}             # a commit""",
    re.VERBOSE,
)
# Where a sentence asks on: «, and who …», «; what …», «, when was …».
_ASKS_ON = re.compile(
    r"(?:[,;]\s+|\s+)(?:and\s+|but\s+|or\s+)(?=(?:in |to |for |from |with )?(?:who|what|where|when|which|how|why)\w*\b)"
    r"|[,;?]\s+(?=(?:who|what|where|when|which|how|why)\w*\b)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\b(?:it|its|that|this|they|them|their|those|these|things)\b", re.IGNORECASE)
MAX_ASKED, MAX_PARTS, MIN_PART = 1000, 3, 2
_CALL = re.compile(r"[A-Za-z_][\w.]*\(\)")
_COUNTED = frozenset(("http", "https", "errno", "error", "status", "sqlstate", "signal", "code"))
_EDGES = "\"'“”’`.,;:!?()[]{}<>*"


@dataclass(frozen=True, slots=True)
class Understood:
    """`text` is what to search with: the question without its hints."""

    text: str
    when: when.When | None
    hints: dict[str, tuple[str, ...]]
    phrases: tuple[str, ...]
    identifiers: tuple[str, ...]
    variants: tuple[str, ...]
    parts: tuple[str, ...] = ()


def understand(
    text: str, now: datetime, lexicon: Mapping[str, Sequence[str]] = NO_WORDS, anchor: when.Anchor = when.unknown,
    told: when.Anchor = when.unknown,
) -> Understood:  # fmt: skip
    """
    >>> from datetime import UTC
    >>> found = understand('project:shop why did the k8s "blue green" deploy fail?', datetime(2026, 3, 1, tzinfo=UTC))
    >>> found.text, found.hints, found.phrases
    ('why did the k8s "blue green" deploy fail?', {'project': ('shop',)}, ('blue green',))
    >>> found.variants[0]
    'why did the kubernetes "blue green" release fail?'
    """
    plain, hints = _without_hints(text)
    if hints and not plain.strip():  # nothing but hints is what is asked for
        plain, hints = text, {}
    return Understood(
        text=plain,
        when=when.find(plain, now, anchor, told),
        hints=hints,
        phrases=_phrases(plain),
        identifiers=_identifiers(plain),
        variants=variants(plain, lexicon),
        parts=parts(plain),
    )


def parts(text: str) -> tuple[str, ...]:
    """The questions that one sentence asks together; none when it asks one.

    >>> parts("What replaced the old broker, and who owns the queue?")
    ('What replaced the old broker', 'who owns the queue?')
    >>> parts("Which tools and libraries do we use?")
    ()
    """
    found = [part.strip(" ,;") for part in _ASKS_ON.split(text[:MAX_ASKED])]
    # «… and who switched it off?» means nothing without what «it» is.
    spelt = [f"{found[0]} {part}" if n and _POINTS_BACK.search(part) else part for n, part in enumerate(found)]
    whole = tuple(part for part in spelt if len(terms.of_query(part)) >= MIN_PART)
    return whole[:MAX_PARTS] if len(whole) > 1 else ()


def _without_hints(text: str) -> tuple[str, dict[str, tuple[str, ...]]]:
    found: dict[str, list[str]] = {}
    kept: list[str] = []
    at = 0
    for match in _HINT.finditer(text):
        hint = _hint(match)
        if hint is None:
            continue
        kept.append(text[at : match.start()])
        at = match.end()
        values = found.setdefault(hint[0], [])
        if hint[1] not in values and len(values) < MAX_VALUES:
            values.append(hint[1])
    kept.append(text[at:])
    return "".join(kept).strip(), {key: tuple(values) for key, values in found.items()}


def _hint(match: re.Match[str]) -> tuple[str, str] | None:
    """The key and value of a hint; None for what only looks like one, and for quoted text."""
    if tag := match["tag"]:
        return None if tag.lower() in _NOT_TAGS or _COLOUR.fullmatch(tag) else ("tag", tag)
    if not match["key"]:
        return None
    key, value = KEYS[match["key"].lower()], (match["quoted"] or match["plain"] or "").strip()
    if key == "kind":
        singular = value.lower().removesuffix("s")
        value = value.lower() if value.lower() in KINDS else singular if singular in KINDS else ""
    if not value or ("/" in value and match["plain"] and key != "branch"):
        return None
    return key, value


def _phrases(text: str) -> tuple[str, ...]:
    said = ((match[1] or match[2] or match[3] or "").strip() for match in _PHRASE.finditer(text))
    return tuple(dict.fromkeys(phrase for phrase in said if 0 < len(phrase) <= MAX_VALUE))[:MAX_VALUES]


def _identifiers(text: str) -> tuple[str, ...]:
    """Names, paths, codes and versions, each once: those in backticks, then the others in the order of the text."""
    found = dict.fromkeys(match[1] for match in _CODE.finditer(text) if len(match[1]) <= MAX_VALUE)
    before = ""
    for match in _RUN.finditer(text):
        run = match[0] if len(match[0]) <= MAX_VALUE + 2 * len(_EDGES) else ""
        name = run.strip(_EDGES.replace(".", "")).rstrip(".")
        if _CALL.fullmatch(run.strip("`\"'“”.,;:!?")):
            found.setdefault(run.strip("`\"'“”.,;:!?")[:-2])
        elif _IDENTIFIER.fullmatch(name):
            found.setdefault(name)
        elif before.lower() in _COUNTED and name.isascii() and name.isdigit():
            found.setdefault(f"{before} {name}")
        before = run
        if len(found) >= MAX_IDENTIFIERS:
            break
    return tuple(name for name in found if len(name) <= MAX_VALUE)[:MAX_IDENTIFIERS]


def variants(text: str, extra: Mapping[str, Sequence[str]] = NO_WORDS) -> tuple[str, ...]:
    """The text in other words, most useful first: all terms by their closest alternative, then by the next ones.

    >>> variants("the prod db is slow")[0], variants("hello world")
    ('the production database is sluggish', ())
    """
    if len(text) > MAX_REWRITTEN:
        return ()
    table = lexicon.lookup(extra)
    places = [place for place, _ in zip(_terms(text, table), range(MAX_REPLACED), strict=False)]
    said: list[str] = []
    for rank in range(MAX_VARIANTS if places else 0):
        pieces, at = [], 0
        for start, end, others in places:
            if rank < len(others):
                pieces += [text[at:start], others[rank]]
                at = end
        rewritten = "".join((*pieces, text[at:]))
        if rewritten != text and rewritten not in said:
            said.append(rewritten)
    return tuple(said)


def _terms(text: str, table: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Where terms of the lexicon stand outside quotes and code, the longest first, with what to say instead."""
    whole = [match.span() for match in _WHOLE.finditer(text)]
    words = [_bare(match) for match in _RUN.finditer(text)]
    words = [word for word in words if not any(start < word[1] and word[0] < end for start, end in whole)]
    said = f" {' '.join(text[start:end].casefold() for start, end in words)} "
    at = 0
    while at < len(words):
        for size in range(min(lexicon.MAX_WORDS, len(words) - at), 0, -1):
            first, last = words[at], words[at + size - 1]
            name = text[first[0] : last[1]].casefold()
            others = table.get(" ".join(name.split())) or _plural(name, table)
            if others and (fresh := tuple(other for other in others if f" {other} " not in said)):
                yield first[0], last[1], fresh
                at += size - 1
                break
        at += 1


def _bare(match: re.Match[str]) -> tuple[int, int]:
    """Where a word stands without the punctuation around it."""
    run = match[0]
    left = len(run) - len(run.lstrip(_EDGES.replace(".", "")))
    return match.start() + left, max(match.start() + left, match.start() + len(run.rstrip(_EDGES)))


def _plural(name: str, table: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """
    >>> _plural("repos", {"repo": ("repository", "tree")})
    ('repositories', 'trees')
    """
    several = name.endswith("s") and not name.endswith("ss") and name not in terms.STOP_WORDS
    others = table.get(name[:-1], ()) if several else ()
    ends = ((other, other[-1:]) for other in others)
    return tuple(f"{other[:-1]}ies" if last == "y" else other if last == "s" else f"{other}s" for other, last in ends)
