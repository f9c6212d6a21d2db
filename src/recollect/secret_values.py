"""Whether a value can be a secret, judged by the value alone: words, paths, variables and placeholders cannot. Pure.

Each check in `CHECKS` is named by rows of `secret_patterns.toml`, where the context says how much the value must show.
"""

from __future__ import annotations

import base64
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("secret_patterns.toml").read_text("utf-8"))
MARKER = re.compile(r"\[redacted:[\w-]{1,40}\]")
HEX = re.compile(r"(?:0x)?[0-9a-f]{32,}", re.ASCII | re.I)
_MASK = re.compile(r"[xX]{8}|[*•]{3}|\.\.\.|…|EXAMPLE")  # a token that was hidden already, or one from a manual
_WORD = r"(?:\d{0,3}[A-Za-z]+\d{0,5}|\d{1,8})"
_WORDS = re.compile(rf"[-_./:~@|]*+{_WORD}(?:[-_./:~@|]++{_WORD})*+[-_./:~@|]*+", re.ASCII)
_NAME = re.compile(r"[A-Za-z_@]\w*+(?:(?:\??\.|::|->)[A-Za-z_]\w*+)*+", re.ASCII)  # a variable, an attribute
_MAIL = re.compile(r"[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[A-Za-z]{2,}", re.ASCII)
_CHANGE = re.compile(r"[a-zA-Z](?=\d)|\d(?=[a-zA-Z])", re.ASCII)
_UNEVEN = re.compile(r"\d|[a-z][A-Z]|[!@#$%^*&+]", re.ASCII)  # without one of these it is a word
_CASE = re.compile("(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_CAMEL = re.compile(r"[a-z]{0,20}(?:[A-Z][a-z]+|[A-Z]{1,5}(?=[A-Z][a-z]|\d|\Z)|\d{1,3}(?!\d))*+", re.ASCII)
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", re.ASCII)
_LEET = re.compile(r"[A-Za-z]\d[A-Za-z]", re.ASCII)
_TECHNICAL = re.compile(
    r"(?i)base64|oauth2|sha\d|utf8|md5|s3|ec2|k8s|i18n|x509|auth0|web3|(?<![a-z])v\d(?![a-z])|2fa|p12|int\d|h2"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24}", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_STAND_IN = re.compile(DATA["no_secret"]["stand_in"], re.ASCII | re.I)
_TERM = re.compile(DATA["no_secret"]["term"], re.ASCII | re.I)
_NO_PASSWORD = re.compile(DATA["no_secret"]["no_password"])
_CODE = re.compile(DATA["no_secret"]["code"])
_NO_PHRASE = re.compile(DATA["no_secret"]["no_phrase"])
_STANDARD = frozenset("password pass passwd pwd secret username user pw passwort kennwort mypassword".split())


def entropy(value: str) -> float:
    """Bits per character.

    >>> entropy("aaaa") == 0, entropy("abcd")
    (True, 2.0)
    """
    size = len(value)
    return -sum((p := value.count(c) / size) * math.log2(p) for c in set(value))


def is_marker(value: str) -> bool:
    """Nothing of it is left to hide: what an earlier rule has replaced stays as it is."""
    return "[redacted:" in value and not any(c.isalnum() for c in MARKER.sub("", value))


def classes(value: str) -> int:
    """How many of these it has: small letters, capitals, digits, signs."""
    return sum(
        any(test(c) for c in value) for test in (str.islower, str.isupper, str.isdigit, "!@#$%^*&+?~".__contains__)
    )


def _is_camel(value: str) -> bool:
    """A name of several words: `getAccessToken2`, `Uint8ClampedArray`."""
    return _CAMEL.fullmatch(value) is not None and len(_HUMP.findall(value)) * 3 <= len(value)


def _is_jumpy(value: str) -> bool:
    """The case changes all the time, which it does in no word and no name."""
    if not value.isalnum() or len(value) < 10 or _is_camel(value):
        return False
    return len(_CASE.findall(value)) * (4 if len(value) >= 24 else 2.5) >= len(value)


def is_random(value: str, least: int = 10) -> bool:
    """Letters and digits, or capitals and small letters, that change places as they do in no word or name.

    >>> [is_random(v) for v in ("eQ8bvUBezSFd", "getAccessToken2", "ledger-api-01", "KQcfGMDpyVwx")]
    [True, False, False, True]
    """
    if len(value) < least or _STAND_IN.search(value) or _MAIL.fullmatch(value):
        return False
    if _WORDS.fullmatch(value):
        return _is_jumpy(re.sub("[+/_=-]", "", value) if len(value) >= 32 else value)
    if _is_camel(value):
        return False
    turns = len(_CASE.findall(value)) + len(_CHANGE.findall(value))
    even = 3 if classes(value) >= 3 or len(value) >= 16 else 2.5
    if value.isalnum() and len(value) >= (20 if value.isupper() else 24):
        even = 4.5
    return turns * even >= len(value) and entropy(value) >= 2.9


def is_long(value: str) -> bool:
    """Random, or a long hexadecimal number, and no UUID, which mostly is the id of something."""
    return not _UUID.fullmatch(value) and (
        is_random(value, 16) or (HEX.fullmatch(value) is not None and entropy(value) >= 3)
    )


def is_opaque(value: str) -> bool:
    """No person would write it as a word: letters and digits mixed, or the case changing all the time.

    >>> [is_opaque(v) for v in ("9f8Kd02mQz71", "db-creds-prod-01", "getAccessTokenFromCookie", "qWeRtZuIoPaSdFgHjK")]
    [True, False, False, True]
    """
    if _STAND_IN.search(value):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    if _is_jumpy(value) or _is_jumpy(value.strip("0123456789")):
        return True
    if _is_camel(value):
        return False
    if not (mixed and len(value) >= 8 and not _WORDS.fullmatch(value)):
        return _is_restless(value)
    return entropy(value) >= 2.9


def _is_restless(value: str) -> bool:
    """Long, and going up and down more often than any camelCase does."""
    humps = len(re.findall("[a-z](?=[A-Z])", value))
    return len(value) >= 20 and humps * 5 >= len(value) and entropy(value) >= 3.5


def is_strong(value: str) -> bool:
    """What the rules for passwords ask for: eight characters of three classes, signs among them.

    >>> [is_strong(v) for v in ("Geheim!77", "Vault2", "OAuth2.0", "https://a.b/C1")]
    [True, False, False, False]
    """
    if len(value) < 8 or _STAND_IN.search(value) or _MAIL.fullmatch(value) or "/" in value or "(" in value:
        return False
    return is_opaque(value) or (classes(value) >= 3 and re.search(r"[!@#$%^*&+?~]", value[1:]) is not None)


def is_simple(value: str) -> bool:
    """A password may be shorter and simpler than a key, but it is still no word.

    >>> [is_simple(v) for v in ("hunter2", "Sommer!Abend", "current-password", "sha256", "required|min:8")]
    [True, True, False, False, False]
    """
    if len(value) < 6 or len(set(value)) < 4 or _TERM.fullmatch(value):
        return False
    if any(c.isdigit() for c in value):
        return any(c.isalpha() for c in value) and (not re.search(r"[-_./:|]", value) or not _WORDS.fullmatch(value))
    return any(c in "!@#$%^*&+" for c in value[1:]) and value.upper() != value != value.lower()


def is_leet(value: str) -> bool:
    """A word with a digit in its midst, which no term of the trade has: `r4diusShared`, `k3x9q2`.

    >>> [is_leet(v) for v in ("e4pPass99", "oauth2Token", "step2", "a1b")]
    [True, False, False, False]
    """
    inside = value.isalnum() and len(value) >= 6 and _LEET.search(value) is not None
    return inside and _TECHNICAL.search(value) is None and is_simple(value)


def is_signed(value: str) -> bool:
    """Strong, with a sign in its midst that neither code nor an address would have there."""
    return is_strong(value) and re.search(r"\w[!#$%^&*]|\w@[a-z]{3,}\d[a-z]", value) is not None and "=" not in value


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def is_worded(value: str) -> bool:
    """Words and a number, joined, as people make passwords: `backup-Horse-9`."""
    joined = re.fullmatch(r"(?=.*[A-Za-z]{3})(?=.*\d)[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+){1,5}", value)
    return joined is not None and is_word(value) and not _TECHNICAL.search(value)


def is_secret(value: str, *, password: bool, quoted: bool) -> bool:
    """Whether it can be the value of something that is named like a secret."""
    if not _UNEVEN.search(value) or len(value.split()) != 1 or _STAND_IN.search(value) or _MAIL.fullmatch(value):
        return False
    if not quoted and _NAME.fullmatch(value):  # in code this may be a variable
        named = password and not re.search(r"[.:>]|(?i:pass|pwd|secret|token|key|cred)|[a-z]{3}[A-Z][a-z]{2}", value)
        leet = password and is_leet(value)
        if not (named or leet or len(_CHANGE.findall(value)) >= 3 or _is_restless(value) or is_random(value, 20)):
            return False
    return is_opaque(value) or (password and is_simple(value))


def is_password(value: str) -> bool:
    """What somebody says after "password" without an equals sign."""
    return len(value) >= 8 and (is_given(value) or (is_worded(value) and classes(value) >= 3))


def is_given(value: str) -> bool:
    """A value that stands where only a password can."""
    worded = is_worded(value) and classes(value) >= 3
    return _is_written(value) and not _STAND_IN.search(value) and (is_opaque(value) or is_simple(value) or worded)


def is_flagged(value: str) -> bool:
    """A value of a flag, a tag or a sentence that names a password: words alone may be a sentence's next."""
    return is_given(value) or (_is_written(value) and is_worded(value) and not _STAND_IN.search(value))


def is_told(value: str) -> bool:
    """What follows "the password is" in a sentence: more than a word, and no term of the trade."""
    value = value.rstrip(".!?:")
    if not _is_written(value) or _STAND_IN.search(value):
        return False
    chosen = (is_worded(value) and classes(value) >= 3) or (is_simple(value) and not _TECHNICAL.search(value))
    return is_strong(value) or (chosen and "pass" not in value.lower())


def _is_tailed(value: str) -> bool:
    """Something random behind a word that stands before keys."""
    tail = re.split(r"(?<=[a-z])[_-](?=[A-Za-z0-9_-]{16})", value)[-1]
    return is_random(tail.replace("_", "").replace("-", ""), 16) and not _UUID.fullmatch(tail)


def is_common(value: str) -> bool:
    """As many people make one: a word and some digits, or digits among its letters, and no term of the trade.

    >>> [is_common(v) for v in ("letmein88", "zebra99llama", "rfc2898", "sha256", "page2")]
    [True, True, False, False, False]
    """
    plain = re.fullmatch(r"(?=(?:\D*\d){2})[A-Za-z]{4,20}\d{2,6}[A-Za-z]{0,12}[!?.#$]?", value) is not None
    no_term = not _TECHNICAL.search(value) and not _TERM.fullmatch(value) and not _STAND_IN.search(value)
    worded = is_worded(value) and classes(value) >= 3
    return is_leet(value) or is_signed(value) or worded or (plain and no_term and "pass" not in value.lower())


def is_word(value: str) -> bool:
    """A single word that was given as a password, and is neither a type nor a state nor a name for one."""
    return _NO_PASSWORD.search(value) is None and len(set(value.lower())) >= 3 and not re.search("[a-z][A-Z]", value)


def is_chosen(value: str) -> bool:
    """Three words, two with a sign between them, or a word and a number, where none is a word of programs.

    >>> [is_chosen(v) for v in ("nine-tall-lamps", "crocusBulb11", "pepperMillStreet", "user-input", "dbConfig")]
    [True, True, True, False, False]
    """
    if not _is_written(value) or _STAND_IN.search(value) or _TERM.fullmatch(value) or _TECHNICAL.search(value):
        return False
    words = re.findall(r"[^\W\d_]{3,}", re.sub("([a-z])(?=[A-Z])", r"\1 ", value))
    if not re.fullmatch(r"[^\W_]+(?:[-_.][^\W_]+)*", value) or not _is_free(words):
        return False
    is_signed_pair = len(words) == 2 and re.search(r"[-_]|[A-Z][a-z]+\.[A-Z]", value) is not None
    return len(words) >= 3 or is_signed_pair or (bool(words) and any(c.isdigit() for c in value))


def _is_free(words: list[str]) -> bool:
    """No word of programs, and none that is said of passwords."""
    return not any(_CODE.match(one) or _NO_PASSWORD.match(one) for one in words)


def _is_encoded(value: str) -> bool:
    """Base64 of a name and a password, or of a private key."""
    try:
        told = base64.b64decode(value[: len(value) // 4 * 4], validate=True)
    except ValueError:
        return False
    return (b":" in told and told.isascii() and told.decode().isprintable()) or b"PRIVATE" in told


def _is_basic(value: str) -> bool:
    """Base64 of `user:password` mixes its letters; the words that stand for it do not."""
    words = re.search(r"base64|credential|encoded|string|password", value, re.I)
    return not words and value[1:] != value[1:].lower() and value != value.upper()


def _is_written(value: str) -> bool:
    """A value: no variable, no mask, and not the word "password" itself."""
    if value.lower() in _STANDARD:
        return False
    return re.match(r"[$<{%\[(*]|\w{0,3}\*\*|[xX.]+$|…", value) is None or MARKER.match(value) is not None


def _is_argument(value: str) -> bool:
    return _is_written(value) and value[0] not in "-/" and not re.fullmatch(r"[\d:./-]+", value)


def _is_key_block(value: str) -> bool:
    return _is_encoded(value) if value.startswith("LS0t") else _BASE64.search(value, value.find("KEY-")) is not None


def _is_gibberish(value: str) -> bool:
    """Four groups of four letters of which one at least cannot be spoken."""
    return any(not set("aeiouy") & set(group) for group in re.split("[ -]", value.lower()))


def _is_prefixed(value: str) -> bool:
    """A prefix and something random; what is hexadecimal after a dash is the name of a build or of a file."""
    tail = re.split(r"[_.-]", value)[-1]
    return is_random(tail, 24) and (HEX.fullmatch(tail) is None or value[-len(tail) - 1] == "_")


def _is_keypair(value: str) -> bool:
    """32 or 64 bytes, written as numbers, that are neither small nor in order."""
    bytes = [int(one) for one in value.split(",")]
    return max(bytes) in range(128, 256) and len(set(bytes)) > len(bytes) // 2 and sorted(bytes) != bytes


CHECKS: dict[str, Callable[[str], bool]] = {
    "argument": _is_argument,
    "basic": _is_basic,
    "chosen": is_chosen,
    "common": is_common,
    "encoded": _is_encoded,
    "flagged": is_flagged,
    "gibberish": _is_gibberish,
    "given": is_given,
    "leet": lambda value: is_leet(value) or is_signed(value) or (is_worded(value) and classes(value) >= 3),
    "key_block": _is_key_block,
    "keypair": _is_keypair,
    "long": is_long,
    "mixed": lambda value: is_random(value, 20) and classes(value) >= 3 and HEX.fullmatch(value) is None,
    "opaque": is_opaque,
    "password": is_password,
    "phrase": lambda value: _NO_PHRASE.match(value) is None,
    "prefixed": _is_prefixed,
    "random": is_random,
    "serial": lambda value: any(c.isdigit() for c in value) and any(c.isalpha() for c in value),
    "signed": is_signed,
    "strong": is_strong,
    "tailed": _is_tailed,
    "told": is_told,
    "unmasked": lambda value: _MASK.search(value) is None,
    "word": is_word,
    "words": lambda value: _is_free(re.split("[ -]", value)),
    "written": _is_written,
}
