"""Redaction: what looks like a secret is replaced before any text is stored, logged or embedded.

A memory outlives the conversation it came from, so a key that slips in once leaks for years. All that is known about
the look of secrets is one table (`secret_patterns`): a kind, the literals of which one must occur, and a pattern. Most
texts hold none of the literals, and cost some substring searches and nothing else. A pattern without a group is a token
and gets word boundaries; a pattern with a group carries its own context and only the group is replaced, so that
`postgres://app:[redacted:url-password]@db` still tells where the database is.

The last two rules know no format. `assigned-secret` knows that a value is given to something named like a secret,
`nearby-secret` that it stands near a word that speaks of secrets. Both look at the value: words, paths, variables,
placeholders, hashes and prose stay; what no person would write as a word goes.

Invariants, proved by `tests/test_redact.py`: the rules are applied until none finds anything, so redacting twice is
redacting once; text without a secret comes back as the same object; every repetition that could be entered again is
possessive or bounded, so time grows linearly with the text. A secret hidden by zero-width or full-width characters is
looked for in the folded text, and the text is folded only if one is there. `tests/test_secrets_corpus.py` counts how
many are found in texts by other authors. What is not caught: a password of plain letters in a sentence, a secret that
is in pieces.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .secret_patterns import TABLE


class Rule(NamedTuple):
    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int  # what is replaced: 0 a whole token, 1 the group


def _rule(kind: str, hints: str, pattern: str) -> Rule:
    compiled, literals = re.compile(pattern, re.ASCII), tuple(hint.replace("·", " ") for hint in hints.split())
    if compiled.groups:
        return Rule(kind, literals, compiled, 1)
    # Bounded by letters and digits on both sides, two tokens never touch: replacing one cannot uncover another.
    return Rule(kind, literals, re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", re.ASCII), 0)


RULES = tuple(_rule(*row) for row in TABLE)
KINDS: tuple[str, ...] = tuple(dict.fromkeys(rule.kind for rule in RULES))

_GUESS, _NEAR = len(RULES) - 2, len(RULES) - 1
# A token is one long word, so its literals are looked for among the long words only; those of a context anywhere.
_LONG = 20
_TOKEN_HINTS = tuple((hint, n) for n, rule in enumerate(RULES) if rule.group == 0 for hint in rule.hints)
_NEARBY_HINTS = tuple((hint.lower(), n) for n, rule in enumerate(RULES) if rule.group == 1 for hint in rule.hints)
_MARKER = re.compile(rf"\[redacted:(?:{'|'.join(KINDS)})\]")
_MASK = re.compile(r"[xX]{8}|[*•]{3}|\.\.\.|…")  # a token someone has hidden already
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
    likely = {n for hint, n in _NEARBY_HINTS if hint in low}
    if long := " ".join([word for word in text.split() if len(word) >= _LONG]):
        likely.update([n for hint, n in _TOKEN_HINTS if hint in long])
    found: set[str] = set()
    for n in sorted(likely):
        rule = RULES[n]
        spans = list(_assigned(text) if n == _GUESS else _nearby(text) if n == _NEAR else _known(rule, text))
        if spans:
            found.add(rule.kind)
            text = _cut(text, spans, f"[redacted:{rule.kind}]")
    return text, found


def _cut(text: str, spans: list[tuple[int, int]], marker: str) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], marker]
        at = end
    return "".join([*pieces, text[at:]])


def _known(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    check = _CHECKS.get(rule.kind, _unmasked)
    for match in rule.pattern.finditer(text):
        group = match.lastindex or 0
        if check(value := match[group]) and not _is_marker(value):
            yield match.span(group)


def _is_marker(value: str) -> bool:
    """Nothing of it is left to hide: what an earlier rule has replaced stays as it is."""
    return "[redacted:" in value and not any(c.isalnum() for c in _MARKER.sub("", value))


# The value after a name: quoted up to the same quote, or bare up to where a value ends in code, a shell and a query.
_VALUE = re.compile(
    r"""(?:[bru]{1,2}(?=["'])|(?P<call>[\w.\[\]]{1,40}\()(?=["'`]))?(?:(?P<quote>\\?["'`])(?P<inner>[^\n]{1"""
    r""",4096}?)(?P=quote)"""
    r"""|(?P<bare>(?:[^\s"'`,;<>(){}\[\]|\\&]|&(?![\w.-]{1,40}=)){6,128}+)(?![(\[{]))""",
    re.ASCII,
)
_REST = re.compile(r"""[^\s"'`,;<>(){}\[\]|\\&]*+""")
_FLAG = re.compile(r"--?[\w-]{0,30}$", re.ASCII)


def _assigned(text: str) -> Iterator[tuple[int, int]]:
    """Where a value that looks like a secret is given to a name that sounds like one."""
    low = text.lower()
    if len(low) != len(text):  # `İ` alone grows when lower-cased, and would shift every position after it
        low = text.replace("\u0130", "i").lower()
    done = 0
    for key in RULES[_GUESS].pattern.finditer(low):
        start = key.start()
        if start < done or not (value := _VALUE.match(text, key.end())):
            continue
        before = low[max(0, start - 32) : start]
        if before.endswith(":") and before[-2:-1].isalnum():
            continue  # a part of a longer name: `arn:aws:secretsmanager:eu-west-1:1234:secret:db-a1b2c3`
        if (key["pair"] or ">") != ">" and not key["shut"]:
            continue  # "(token, x)": a word among words
        if key[0].startswith("token") and before.rstrip(" _-").endswith(_PLAIN):
            continue
        quoted = value["quote"] is not None
        secret = value["inner"] if quoted else value["bare"].rstrip(".:?")
        password = key["word"] is not None
        if key["gap"] and not _FLAG.search(before) and not (password and (quoted or _opaque(secret))):
            continue  # "token bucket"
        if (value["call"] or key["split"] or (key["said"] and not password)) and not _opaque(secret):
            continue
        if not _is_secret(secret, password=password, quoted=quoted):
            continue
        start = value.start("inner" if quoted else "bare")
        done = start + len(secret)
        if len(secret) == 128 and not quoted and (rest := _REST.match(text, done)):
            done = rest.end()
        yield start, done


# A value that nobody would write as a word, near a word that speaks of secrets.
_SPOKEN = re.compile(
    r"(?i)pass(?:w|phrase|code|\b)|\bpw\b|kennwort|contrase|senha|wachtwoord|login|cred|secret|token|auth|api"
    r".?key|private.?key|access.?key"
    r"|license.?key|\bkey (?:is|we|for)|bearer|webhook|jwt|hmac|\bwif\b|xprv|nsec|session.?id|passw"
)
_SHORT = re.compile(r"(?i)pass(?:w|phrase|code|\b)|\bpw\b|kennwort|contrase|senha|wachtwoord|login|cred|auth\b")
_PUBLIC = re.compile(
    r"(?i)\barn:|finger|checksum|digest|commit|public|integrity|etag|sha\d|md5|hash|request|trace|certificate"
    r"|tokeniz|publishable|\bid\b|uuid|nonce"
)
_CANDIDATE = re.compile(r"(?<![\w/.~+=$%@#-])[A-Za-z0-9_~+/=.$!@#%^*-]{10,}+", re.ASCII)
_SUM = re.compile(r"(?i)(?:h\d|sha\d{1,3}|md5)[:-]$|base64,$|ssh-\w+ $")
_HEX = re.compile(r"(?:0x)?[0-9a-f]{32,}", re.ASCII)


def _nearby(text: str) -> Iterator[tuple[int, int]]:
    for match in _CANDIDATE.finditer(text):
        value = match[0].rstrip(".,:;!?=")
        if "/" in value and ("." in value or len(value) < 32):
            continue
        short = len(value) < 20
        if not _random(value, 10 if short else 20) and not (_HEX.fullmatch(value) and _entropy(value) >= 3):
            continue
        start, end = match.start(), match.start() + len(value)
        line = text.rfind("\n", 0, start) + 1
        if text.startswith("|", line):  # a row of a table, below its head
            line = max(start - 200, text.rfind("\n\n", 0, start) + 1)
        elif not text[line:start].strip(" `>-*"):  # alone on its line, it may belong to the line before
            line = max(0, start - 60, text.rfind("\n", 0, max(0, line - 1)) + 1)
        else:
            line = max(line, start - 60)
        stop = text.find("\n", end)
        around = text[line:start] + " " + text[end : min(len(text) if stop < 0 else stop, end + 40)]
        if _SUM.search(text, max(0, start - 8), start) or text.rfind("-----BEGIN", 0, start) > text.rfind(
            "-----END", 0, start
        ):
            continue
        if (_SHORT if short else _SPOKEN).search(around) and not _PUBLIC.search(around):
            yield start, end


def _jumpy(value: str) -> bool:
    """The case changes all the time, which it does in no word and no name."""
    return value.isalnum() and len(value) >= 10 and len(_CASE.findall(value)) * 5 >= len(value) * 2


def _random(value: str, least: int) -> bool:
    """Letters and digits, or capitals and small letters, that change places as they do in no word or name.

    >>> [_random(v, 10) for v in ("eQ8bvUBezSFd", "getAccessToken2", "ledger-api-01", "KQcfGMDpyVwx")]
    [True, False, False, True]
    """
    if len(value) < least or _STAND_IN.search(value) or _MAIL.fullmatch(value):
        return False
    if _WORDS.fullmatch(value):
        return _jumpy(value)
    turns = len(_CASE.findall(value)) + len(_CHANGE.findall(value))
    mixed = any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)
    return turns * (3 if mixed else 2.5) >= len(value) and _entropy(value) >= 2.9


# What is a secret: each check answers for the value alone.
_WORD = r"(?:\d{0,3}[A-Za-z]+\d{0,5}|\d{1,8})"
_WORDS = re.compile(rf"[-_./:~@|]*+{_WORD}(?:[-_./:~@|]++{_WORD})*+[-_./:~@|]*+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_@]\w*+(?:(?:\??\.|::|->)[A-Za-z_]\w*+)*+", re.ASCII)  # a variable, an attribute
_MAIL = re.compile(r"[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[A-Za-z]{2,}", re.ASCII)
_CHANGE = re.compile(r"[a-zA-Z](?=\d)|\d(?=[a-zA-Z])", re.ASCII)
_UNEVEN = re.compile(r"\d|[a-z][A-Z]|[!@#$%^*&+]", re.ASCII)  # without one of these it is a word
_CASE = re.compile("(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24}", re.ASCII)
_STAND_IN = re.compile(  # a reference to a value, or the place for one
    r"^[$<{%^\[]|\$\{|\{[\w.]*\}|example|placeholder|change[_-]?(?:me|this)|replace[_-]?(?:me|this|with)|your"
    r"[_-]|dummy|redacted"
    r"|x{4}|\*{3}|\.{3}|…|env[.\[(:]|environ|getenv|secrets?\.|vars?\.|://|vault:|file:|arn:|sha\d{1,3}[:-]|^"
    r"\d{4}-\d\d-\d\d",
    re.ASCII | re.I,
)
_TERM = re.compile(  # `sha256`, `argon2id`, `uint64`, `oauth2`, `12chars`: terms that carry a number
    r"(?:sha|md|aes|argon|bcrypt|scrypt|pbkdf|hmac|oauth|base|utf|rsa|ed|[hrep]s|u?int|float|char|varchar|jwt"
    r")[-_]?\d+\w*"
    r"|\d+[a-z]+",
    re.ASCII | re.I,
)
# Tokens that are no secrets: of language models, of paging, of retries.
_PLAIN = ("page", "next", "prev", "continuation", "cursor", "sync", "starting", "forward", "backward", "first", "last",
          "pad", "eos", "bos", "unk", "sep", "mask", "cls", "stop", "special",
          "idempotency", "request", "client", "change", "lock", "publickey")  # fmt: skip


def _entropy(value: str) -> float:
    """Bits per character.

    >>> _entropy("aaaa") == 0, _entropy("abcd")
    (True, 2.0)
    """
    size = len(value)
    return -sum((p := value.count(c) / size) * math.log2(p) for c in set(value))


def _is_secret(value: str, *, password: bool, quoted: bool) -> bool:
    if not _UNEVEN.search(value) or len(value.split()) != 1 or _STAND_IN.search(value) or _MAIL.fullmatch(value):
        return False
    if not quoted and _NAME.fullmatch(value):  # in code this may be a variable
        named = password and not re.search(r"[.:>]|(?i:pass|pwd|secret|token|key|cred)|[a-z]{3}[A-Z][a-z]{2}", value)
        if not named and len(_CHANGE.findall(value)) < 3 and not _restless(value):
            return False
    return _opaque(value) or (password and _simple(value))


def _opaque(value: str) -> bool:
    """No person would write it as a word: letters and digits mixed, or the case changing all the time.

    >>> [_opaque(v) for v in ("9f8Kd02mQz71", "db-creds-prod-01", "getAccessTokenFromCookie", "qWeRtZuIoPaSdFgHjKlYx")]
    [True, False, False, True]
    """
    if _STAND_IN.search(value):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if _jumpy(value):
        return True
    if not (mixed and len(value) >= 8 and not _WORDS.fullmatch(value)):
        return _restless(value)
    return _entropy(value) >= 2.9


def _restless(value: str) -> bool:
    """Long, and going up and down more often than any camelCase does."""
    humps = len(re.findall("[a-z](?=[A-Z])", value))
    return len(value) >= 20 and humps * 5 >= len(value) and _entropy(value) >= 3.5


def _simple(value: str) -> bool:
    """A password may be shorter and simpler than a key, but it is still no word.

    >>> [_simple(v) for v in ("hunter2", "Sommer!Abend", "current-password", "sha256", "required|min:8")]
    [True, True, False, False, False]
    """
    if len(value) < 6 or len(set(value)) < 4 or _TERM.fullmatch(value):
        return False
    if any(c.isdigit() for c in value):
        return any(c.isalpha() for c in value) and (not re.search(r"[-_./:|]", value) or not _WORDS.fullmatch(value))
    return any(c in "!@#$%^*&+" for c in value[1:]) and value.upper() != value != value.lower()


def _password(value: str) -> bool:
    """What somebody says after "password" without an equals sign."""
    return _written(value) and not _STAND_IN.search(value) and (_opaque(value) or (len(value) >= 8 and _simple(value)))


_NO_PASSWORD = re.compile(  # words that stand after "password:" and are none
    r"(?i)(?:pass|pwd|kenn?w|secret|token|cred|string|text|char|byte|null|undefined|require|option|hidden|mas"
    r"k|redact|change|exampl|sampl"
    r"|place|default|empty|unset|abled|valid|miss|wrong|correct|unknown|crypt|hash|expire|prompt|input|vault|"
    r"stdin|envir|keychain"
    r"|extern|genera|random|forbid|number|bool|object|buffer|sensitiv|confid|intern|public|private|contrase|s"
    r"enha|mot|salasana|lozinka"
    r"|heslo|parol|value|field|label|config|setting|strong|weak|short|reset|update|login|your|manda|never|always|plain)"
)


def _word(value: str) -> bool:
    """A single word that was given as a password, and is neither a type nor a state nor a name for one."""
    return _NO_PASSWORD.search(value) is None and len(set(value.lower())) >= 3 and not re.search("[a-z][A-Z]", value)


def _phrase(value: str) -> bool:
    """Words that are a passphrase, not what a person is asked for."""
    return not re.match(
        r"(?i)(?:enter|your|the|please|choose|type|must|confirm|repeat|wrong|invalid|incorrec"
        r"t|no|missing|at)\b",
        value,
    )


def _encoded(value: str) -> bool:
    """Base64 of a name and a password, or of a private key."""
    try:
        told = base64.b64decode(value[: len(value) // 4 * 4], validate=True)
    except ValueError:
        return False
    return (b":" in told and told.isascii() and told.decode().isprintable()) or b"PRIVATE" in told


def _basic(value: str) -> bool:
    """Base64 of `user:password` mixes its letters; the words that stand for it do not."""
    words = re.search(r"base64|credential|encoded|string|password", value, re.I)
    return not words and value[1:] != value[1:].lower() and value != value.upper()


def _written(value: str) -> bool:
    """A value, not a variable or a mask."""
    return re.match(r"[$<{%\[(*]|\w{0,3}\*\*|[xX.]+$|…", value) is None or _MARKER.match(value) is not None


def _unmasked(value: str) -> bool:
    return _MASK.search(value) is None


def _key_block(value: str) -> bool:
    if value.startswith("LS0t"):
        return _encoded(value)
    return _BASE64.search(value, value.find("KEY-")) is not None


_CHECKS: dict[str, Callable[[str], bool]] = {
    "gcp-service-account": _key_block,
    "private-key": _key_block,
    "cloudflare-key": _opaque,
    "bearer-token": _opaque,
    "session-cookie": _opaque,
    "basic-auth": _basic,
    "url-password": _written,
    "curl-password": _written,
    "netrc-password": _written,
    "command-password": lambda value: (
        _written(value) and value[0] not in "-/" and not re.fullmatch(r"[\d:./-]+", value)
    ),
    "pgpass-password": _written,
    "device-password": _written,
    "login-password": _password,
    "named-value": lambda value: _written(value) and (_opaque(value) or _simple(value)),
    "registry-auth": _encoded,
    "prefixed-token": lambda value: _random(re.split(r"[_.-]", value)[-1], 24),
    "positional-secret": _opaque,
    "wifi-key": _password,
    "said-password": _password,
    "plain-password": _word,
    "passphrase": _phrase,
}
