"""Redaction: what looks like a secret is replaced before any text is stored, logged or embedded.

What secrets look like is data (`secret_patterns.toml`): a kind, the literals of which one must occur, a pattern, and
the check of `secret_values.py` that the value must pass. A pattern is compiled when one of its literals is first met.
Of a context only the value is replaced: `postgres://app:[redacted:url-password]@db`.

The last four rules know no format: a value given to a name like a secret's, near a word that speaks of secrets, in a
column of a table whose head does, or an argument of a call that logs in, signs or encrypts.

Invariants (`tests/test_redact.py`): redacting twice is redacting once; text without a secret comes back as the same
object; time grows linearly with the text; a secret hidden by zero-width or full-width characters is found. Not caught:
a password of plain letters in a sentence, a secret that is spread over several sentences.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from . import secret_values as values

_DATA = values.DATA
_NAMES: dict[str, str] = _DATA["names"] | {
    name.upper(): "|".join(_DATA[name].split()) for name in ("passwords", "secrets", "loose")
}


class Rule(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    source: str
    check: str
    is_token: bool


def _rule(is_token: bool, kind: str, literals: str, pattern: str, check: str = "unmasked") -> Rule:
    pattern = re.sub("%([A-Z_]+)%", lambda name: _NAMES[name[1]], pattern)
    if is_token:  # bounded by letters and digits on both sides, two tokens never touch: replacing one uncovers none
        pattern = rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])"
    return Rule(kind, tuple(one.replace("·", " ") for one in literals.split()), pattern, check, is_token)


RULES = tuple(
    _rule(part == "tokens", *row) for part in ("blocks", "tokens", "contexts", "guesses") for row in _DATA[part]
)
KINDS: tuple[str, ...] = tuple(dict.fromkeys(rule.kind for rule in RULES))

# A token is one long word, so its literals are looked for among the long words only; those of a context anywhere.
_LONG = 20
_TOKEN_LITERALS = tuple((one, n) for n, rule in enumerate(RULES) if rule.is_token for one in rule.literals)
_OTHER_LITERALS = tuple((one.lower(), n) for n, rule in enumerate(RULES) if not rule.is_token for one in rule.literals)
_PUBLIC_PREFIXES = tuple(str(_DATA["public_prefixes"]).split())
_VENDORS = frozenset(str(_DATA["vendors"]).split())
_VENDOR_RULE = next(n for n, rule in enumerate(RULES) if rule.kind == "vendor-secret")
_PASSES = 8  # three suffice for every text tried; the bound is for the texts that were not

_HIDDEN = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\uff01-\uff5e]")
_INVISIBLE = (0xAD, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF)
_FOLD: dict[int, int | None] = {**dict.fromkeys(_INVISIBLE), **{n: n - 0xFEE0 for n in range(0xFF01, 0xFF5F)}}


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text without its secrets, and the kinds found, sorted.

    >>> redact("deploy with " + "gh" + "p_" + "a1B2" * 9 + ", then tag")
    ('deploy with [redacted:github-token], then tag', ('github-token',))
    >>> redact("postgres://app:hunter2@db/prod")
    ('postgres://app:[redacted:url-password]@db/prod', ('url-password',))
    >>> redact("the password is stored hashed")
    ('the password is stored hashed', ())
    """
    clean, found = _until_clean(text)
    if not clean.isascii() and _HIDDEN.search(clean):
        bare, hidden = _until_clean(clean.translate(_FOLD))
        if hidden:
            return bare, tuple(sorted(found | hidden))
    return clean, tuple(sorted(found))


def _until_clean(text: str) -> tuple[str, set[str]]:
    found: set[str] = set()
    for _ in range(_PASSES):
        text, kinds = _once(text)
        if not kinds:
            break
        found |= kinds
    return text, found


def _once(text: str) -> tuple[str, set[str]]:
    """Every rule whose literal occurs, once, in the order of the table."""
    low = f" {text.lower()} "
    likely = {n for literal, n in _OTHER_LITERALS if literal in low}
    if long := " ".join([word for word in text.split() if len(word) >= _LONG]):
        likely.update([n for literal, n in _TOKEN_LITERALS if literal in long])
        if not _VENDORS.isdisjoint(_NAME_OF_VENDOR.findall(low)):
            likely.add(_VENDOR_RULE)
    found: set[str] = set()
    for n in sorted(likely):
        rule = RULES[n]
        if spans := list(_GUESSES.get(rule.kind, _find_known)(rule, text)):
            found.add(rule.kind)
            text = _cut(text, spans, f"[redacted:{rule.kind}]")
    return text, found


def _cut(text: str, spans: list[tuple[int, int]], marker: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], marker]
        at = end
    return "".join([*pieces, text[at:]])


@functools.cache
def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


def _find_known(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    check = values.CHECKS[rule.check]
    for match in _compile(rule.source).finditer(text):
        group = match.lastindex or 0
        value = match[group]
        if check(value) and not values.is_marker(value) and not (rule.is_token and value.startswith(_PUBLIC_PREFIXES)):
            yield match.span(group)


# The value after a name: quoted up to the same quote, or bare up to where a value ends in code, a shell and a query.
_VALUE = re.compile(
    r"""(?:[a-zA-Z@$]{1,2}(?=["'])|![\w/-]{1,20}[ ]|(?P<call>[\w.\[\]]{1,40}\()(?=["'`]))?"""
    r"""(?:(?P<quote>\\?["'`])(?P<inner>[^\n]{1,4096}?)(?P=quote)"""
    r"""|(?P<bare>(?:[^\s"'`,;<>(){}\[\]|\\&]|&(?![\w.-]{1,40}=)){6,128}+)(?![(\[{]))""",
    re.ASCII,
)
_REST = re.compile(r"""[^\s"'`,;<>(){}\[\]|\\&]*+""")
_CONTINUED = re.compile(
    r"""["'`][ \t]{0,4}[+.\\]?[ \t]{0,4}\r?\n[ \t]{0,24}[+.]?[ \t]{0,4}["'`]([^\s"'`]{4,256})(?=["'`])"""
)
_FLAG = re.compile(r"--?[\w-]{0,30}$", re.ASCII)
_HARMLESS = tuple(str(_DATA["harmless"]).split())


def _find_assigned(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """Where a value that looks like a secret is given to a name that sounds like one."""
    low = text.lower()
    if len(low) != len(text):  # `İ` alone grows when lower-cased, and would shift every position after it
        low = text.replace("\u0130", "i").lower()
    done = 0
    for name in _compile(rule.source).finditer(low):
        if name.start() < done or not (value := _VALUE.match(text, name.end())):
            continue
        before = low[max(0, name.start() - 32) : name.start()]
        if before.endswith(":") and before[-2:-1].isalnum():
            continue  # a part of a longer name: `arn:aws:secretsmanager:eu-west-1:1234:secret:db-a1b2c3`
        if name[0].startswith("token") and before.rstrip(" _-").endswith(_HARMLESS):
            continue
        part = "inner" if value["quote"] else "bare"
        secret = value[part] if value["quote"] else value[part].rstrip(".:?")
        if not _fits(name, value, secret, before):
            continue
        start = value.start(part)
        done = start + len(secret)
        if len(secret) == 128 and not value["quote"] and (rest := _REST.match(text, done)):
            done = rest.end()
        yield start, done
        while value["quote"] and (more := _CONTINUED.match(text, done)):
            done = more.end(1)
            yield more.span(1)


def _fits(name: re.Match[str], value: re.Match[str], secret: str, before: str) -> bool:
    """Whether the value is what this name, joined to it in this way, would have."""
    password = name["password"] is not None
    flag = _FLAG.search(before) is not None or before.endswith("-d")
    quoted = value["quote"] is not None or flag or name["said"] is not None  # otherwise it may be a variable
    if name["pair"] not in (None, ">") and not name["shut"]:
        return False  # "(token, x)": a word among words
    if name["loose"]:
        joined = name["said"] is None and (name["gap"] is None or values.is_random(secret, 20))
        harmless = name[0].startswith(_HARMLESS) and re.search("key|token", name[0])
        return joined and not harmless and values.is_long(secret)
    if name["gap"] and values.is_random(secret, 14):
        return True
    if name["said"] and not secret.isascii() and not value["quote"]:
        return False  # a sentence in a language without spaces goes on
    if name["gap"] and not flag and not (password and (quoted or values.is_strong(secret))):
        shared = name["secret"] == "secret" and len(secret) >= 8
        worded = values.is_worded(secret) and values.classes(secret) >= 3
        return (password or shared) and (values.is_common(secret) or (password and worded))  # not "token bucket"
    if name["said"] and password and (strong := values.is_strong(secret)) | ("pass" in secret.lower()):
        return strong  # "password manager: 1Password"
    if (value["call"] or name["split"] or (name["said"] and not password)) and not values.is_opaque(secret):
        return False
    if values.is_secret(secret, password=password, quoted=quoted):
        return True
    if name["gap"] or name["said"] or name["pair"]:
        return password and values.is_worded(secret) and values.classes(secret) >= 3
    if name["secret"] == "secret" and values.is_leet(secret):
        return True
    chosen = name["secret"] == "secret" and value["quote"] and values.classes(secret) >= 3  # by a person
    return (password or bool(chosen)) and (values.is_worded(secret) or (bool(chosen) and values.is_simple(secret)))


_BESIDE: dict[str, str] = _DATA["beside"]
_SUM = re.compile(r"(?i)(?:h\d|sha\d{1,3}|md5)[:-]$|base64,$|ssh-\w+ $")
_LABELLED_SUM = re.compile(r"(?i)(?:sha\d{1,3}|md5)=")


def _find_nearby(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    for match in _compile(rule.source).finditer(text):
        value = match[0].rstrip(".,:;!?=*").lstrip("*!")
        if ("/" in value and ("." in value or len(value) < 32)) or _LABELLED_SUM.match(value):
            continue
        if not (like := _likeness(value)):
            continue
        start = match.start() + match[0].index(value)
        end = start + len(value)
        if _SUM.search(text, max(0, start - 8), start):
            continue
        if text.rfind("-----BEGIN", 0, start) > text.rfind("-----END", 0, start) or value.startswith(_PUBLIC_PREFIXES):
            continue
        around = _around(text, start, end)
        if _compile(_BESIDE[like]).search(around) and not _compile(_BESIDE["public"]).search(around):
            yield start, end


def _likeness(value: str) -> str:
    """Which words must be said beside a value of this look for it to be a secret; empty if it cannot be one."""
    if values.is_uuid(value):
        return "uuid"
    if values.is_random(value, 20) or (values.HEX.fullmatch(value) and values.is_long(value)):
        return "long" if values.is_long(value) else "random"
    return "short" if len(value) < 20 and (values.is_random(value) or values.is_signed(value)) else ""


def _around(text: str, start: int, end: int) -> str:
    """What is said of a value: its line, or the head of its table, or the line before if it stands alone."""
    line = text.rfind("\n", 0, start) + 1
    if text.startswith("|", line):  # a row of a table, below its head
        line = max(start - 200, text.rfind("\n\n", 0, start) + 1)
    elif not text[line:start].strip(" `>-*"):  # alone on its line, it may belong to the line before
        line = max(0, start - 60, text.rfind("\n", 0, max(0, line - 1)) + 1)
    else:
        line = max(line, start - 60)
    stop = text.find("\n", end)
    return f"{text[line:start]} " + text[end : min(len(text) if stop < 0 else stop, end + 40)]


_NAME_OF_VENDOR = re.compile("[a-z][a-z0-9]+")
_OF_A_KEY = frozenset(str(_DATA["key_words"]).split())
_VENDOR_SPAN = 60  # characters before a value in which the name of its service stands


def _find_of_vendors(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """A random value on the line and behind the name of a service, unless it is said to be something public."""
    for match in _compile(rule.source).finditer(text):
        value = match[0].rstrip(".,:;!?=")
        is_id = values.is_uuid(value)
        if not (is_id or values.is_random(value, 16) or values.is_long(value)) or ("/" in value and "." in value):
            continue
        line = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _VENDOR_SPAN)
        before = text[line : match.start()].lower()
        words = _NAME_OF_VENDOR.findall(before)
        named = next((n for n in range(1, len(words) + 1) if words[-n] in _VENDORS), 0)
        if not named or _SUM.search(before) or not _OF_A_KEY.issuperset(words[len(words) - named + 1 :]):
            continue
        if not value.startswith(_PUBLIC_PREFIXES):
            yield match.start(), match.start() + len(value)


_ARGUMENT = re.compile(r"""(?<=[(,\s=b])["']([^"'\s]{8,128})["'](?=\s{0,2}[,)])""")


def _find_called(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """Quoted arguments of a call that looks as if it took a secret; the first one may be a name or an address."""
    done = 0
    for call in _compile(rule.source).finditer(text):
        for argument in _ARGUMENT.finditer(text, max(done, call.start("arguments") - 1), call.end()):
            value = argument[1]
            later = call["login"] is not None and argument.start() > call.start("arguments")
            if (values.is_strong(value) or (later and values.is_given(value))) and "://" not in value:
                done = argument.end()
                yield argument.span(1)


_MAX_CELLS = 40


def _find_in_columns(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """Cells of a CSV file below a head that names a secret."""
    column, size, separator, at = -1, 0, "", 0
    for line in text.splitlines(keepends=True):
        cells = re.split(separator or "[,;\t]", line.rstrip("\r\n"))
        if column < 0 and 2 <= len(cells) <= _MAX_CELLS:
            heads = [n for n, cell in enumerate(cells) if _compile(rule.source).fullmatch(cell.strip(' "').lower())]
            if heads and all(re.fullmatch(r'[ "]*[A-Za-z][\w ]{0,30}[ "]*', cell) for cell in cells):
                column, size = heads[0], len(cells)
                separator = next(one for one in ",;\t" if one in line)
        elif column >= 0 and len(cells) == size:
            cell = cells[column].strip(' "')
            if values.is_given(cell) or (cell.isalpha() and len(cell) >= 6 and values.is_word(cell)):
                start = at + sum(len(one) + 1 for one in cells[:column]) + cells[column].index(cell)
                yield start, start + len(cell)
        else:
            column, separator = -1, ""
        at += len(line)


_GUESSES = {
    "positional-secret": _find_called,
    "assigned-secret": _find_assigned,
    "column-secret": _find_in_columns,
    "nearby-secret": _find_nearby,
    "vendor-secret": _find_of_vendors,
}
