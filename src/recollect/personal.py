"""Personal data: e-mail addresses, phone, card and account numbers, and national ids, found in a text. Pure.

What they look like is data (`personal.toml`). Numbers must pass their checksum: the one of Luhn for cards, ISO 7064 for
accounts, each country's own for ids. Not found: names, postal addresses, dates of birth, and numbers that have neither
a checksum nor their name before them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("personal.toml").read_text("utf-8"))
_IBAN = {one[:2]: int(one[2:]) for one in _DATA["iban"].split()}
_FILES = frozenset(_DATA["files"].split())
KINDS: tuple[str, ...] = tuple(dict.fromkeys(str(rule[0]) for rule in _DATA["rules"]))
_DIGIT = re.compile(r"\d")


def find(text: str) -> list[tuple[int, int, str]]:
    """Where personal data stands, from the left, and of which kind.

    >>> [kind for *_, kind in find("ana@example.org, card 4111 1111 1111 1111, not 4111 1111 1111 1112")]
    ['email', 'card']
    """
    found: list[tuple[int, int, str]] = []
    for start, end, kind in sorted(_candidates(text)):
        if not found or start >= found[-1][1]:
            found.append((start, end, kind))
    return found


def redacted(text: str) -> str:
    """The text with a marker in place of personal data.

    >>> redacted("write to ana@example.org")
    'write to [redacted:email]'
    """
    pieces, at = [], 0
    for start, end, kind in find(text):
        pieces += [text[at:start], f"[redacted:{kind}]"]
        at = end
    return "".join([*pieces, text[at:]])


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    low = text.lower()
    has_digit = _DIGIT.search(text) is not None
    for kind, literals, source, check in _DATA["rules"]:
        if not (any(one in low for one in literals) if literals else has_digit):
            continue
        for match in _compile(source).finditer(text):
            group = match.lastindex or 0
            if CHECKS[check](match[group]):
                yield (*match.span(group), kind)


@functools.cache
def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


def _digits(value: str) -> list[int]:
    return [int(one) for one in value if one in "0123456789"]


def _luhn(digits: list[int]) -> bool:
    doubled = [2 * one - 9 * (one > 4) for one in digits[-2::-2]]
    return any(digits) and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _card(value: str) -> bool:
    """A number with the length and the first digits of a brand.

    >>> [_card(one) for one in ("5555555555554444", "378282246310005", "1111111111111117", "5555 5555 5555 4445")]
    [True, True, False, False]
    """
    digits = _digits(value)
    size, first = len(digits), int("".join(map(str, digits[:4])))
    branded = (
        (first // 1000 == 4 and size in (13, 16, 19))
        or (size == 15 and first // 100 in (34, 37))
        or (size == 16 and (51 <= first // 100 <= 55 or 2221 <= first <= 2720 or 3528 <= first <= 3589))
        or (size in (16, 19) and (first == 6011 or 6440 <= first <= 6599))
        or (size == 14 and (300 <= first // 10 <= 305 or first // 100 in (36, 38)))
    )
    return branded and len(set(digits)) > 1 and _luhn(digits)


def _iban(value: str) -> bool:
    """
    >>> _iban("DE89 3704 0044 0532 0130 00"), _iban("DE88370400440532013000"), _iban("GB82WEST12345698765432")
    (True, False, True)
    """
    plain = value.replace(" ", "")
    moved = plain[4:] + plain[:4]
    return len(plain) == _IBAN.get(plain[:2]) and int("".join(str(int(one, 36)) for one in moved)) % 97 == 1


def _address(value: str) -> bool:
    local, _, domain = value.partition("@")
    return domain.rpartition(".")[2].lower() not in _FILES and not local.lower().startswith(("noreply", "no-reply"))


def _phone(value: str) -> bool:
    return 9 <= len(_digits(value)) <= 15


def _dni(value: str) -> bool:
    """
    >>> _dni("12345678Z"), _dni("12345678A"), _dni("X1234567L")
    (True, False, True)
    """
    number = value[:-1].rstrip("-")
    number = str("XYZ".index(number[0])) + number[1:] if number[0] in "XYZ" else number
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == value[-1]


def _nir(value: str) -> bool:
    plain = value.replace(" ", "").replace("2A", "19").replace("2B", "18")
    return 97 - int(plain[:13]) % 97 == int(plain[13:])


_ODD = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", (
    1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22,
    25, 24, 23,
), strict=True))  # fmt: skip


def _codice_fiscale(value: str) -> bool:
    """
    >>> _codice_fiscale("RSSMRA85T10A562S"), _codice_fiscale("RSSMRA85T10A562T")
    (True, False)
    """
    even = sum(int(one) if one.isdigit() else ord(one) - ord("A") for one in value[1:15:2])
    return chr(ord("A") + (even + sum(_ODD[one] for one in value[:15:2])) % 26) == value[15]


def _cpf(value: str) -> bool:
    """
    >>> _cpf("529.982.247-25"), _cpf("529.982.247-26"), _cpf("111.111.111-11")
    (True, False, False)
    """
    digits = _digits(value)
    checks = [sum(one * (n + 1 - at) for at, one in enumerate(digits[:n])) * 10 % 11 % 10 for n in (9, 10)]
    return checks == digits[9:] and len(set(digits)) > 1


def _hetu(value: str) -> bool:
    """
    >>> _hetu("131052-308T"), _hetu("131052-308U"), _hetu("991352-308T")
    (True, False, False)
    """
    dated = 1 <= int(value[:2]) <= 31 and 1 <= int(value[2:4]) <= 12
    return dated and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(value[:6] + value[7:10]) % 31] == value[10]


def _weighed(weights: tuple[int, ...], modulus: int, rest: Callable[[int], int]) -> Callable[[str], bool]:
    """A check of the last digit by the sum of the others, each times its weight."""

    def check(value: str) -> bool:
        *digits, last = _digits(value)
        return rest(sum(a * b for a, b in zip(digits, weights, strict=True)) % modulus) == last

    return check


def _steuer_id(value: str) -> bool:
    """
    >>> _steuer_id("86095742719"), _steuer_id("86095742718")
    (True, False)
    """
    *digits, last = _digits(value)
    product = 10
    for one in digits:
        product = ((one + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == last


def _personnummer(value: str) -> bool:
    return _luhn(_digits(value)[-10:])


def _verhoeff(value: str) -> bool:
    """Of the group of turns and flips of a pentagon, with a permutation for each place.

    >>> _verhoeff("2363"), _verhoeff("2364")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(_digits(value))):
        for _ in range(place % 8):
            digit = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)[digit]
        a, b = total, digit
        total = (a + b) % 5 + (5 if b > 4 else 0) if a < 5 else ((a - b) % 5 + 5 if b < 5 else (a - b) % 5)
    return total == 0


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "any": lambda _: True, "address": _address, "phone": _phone, "card": _card, "iban": _iban, "dni": _dni, "nir": _nir,
    "codice_fiscale": _codice_fiscale, "cpf": _cpf, "hetu": _hetu, "verhoeff": _verhoeff, "steuer_id": _steuer_id,
    "personnummer": _personnummer,
    "pesel": _weighed((1, 3, 7, 9, 1, 3, 7, 9, 1, 3), 10, lambda rest: (10 - rest) % 10),
    "bsn": _weighed((9, 8, 7, 6, 5, 4, 3, 2), 11, lambda rest: rest),
    "nhs": _weighed((10, 9, 8, 7, 6, 5, 4, 3, 2), 11, lambda rest: (11 - rest) % 11),
}  # fmt: skip
