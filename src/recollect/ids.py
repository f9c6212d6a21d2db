"""Ids: 128 bits, time-ordered, written in 26 lower-case letters and digits.

The first 10 characters are the millisecond, the last 16 are random, so that ids sort by age and the tail alone tells
two memories apart: people are shown, and may type, the last 8.
"""

from __future__ import annotations

import hashlib

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's: no i, l, o, u
LENGTH = 26
SHORT = 8
RANDOM_BITS = 80


def make(millisecond: int, random: int) -> str:
    """
    >>> make(0, 1), make(1, 0) > make(0, 2**80 - 1)
    ('00000000000000000000000001', True)
    """
    value = millisecond << RANDOM_BITS | random
    return "".join(ALPHABET[value >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))


def short(id: str) -> str:
    """
    >>> short("01kb3vq4zt7m8w2n5x9r0c6d1e")
    '9r0c6d1e'
    """
    return id[-SHORT:]


def plausible(text: str) -> bool:
    """Whether a text could be an id or the tail of one, at least four characters long."""
    return 4 <= len(text) <= LENGTH and set(text) <= set(ALPHABET)


def whole(text: str) -> bool:
    """Whether a text could be an id."""
    return len(text) == LENGTH and plausible(text)


def derive(*parts: str) -> str:
    """An id made of names: always the same for the same ones."""
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).digest()
    value = int.from_bytes(digest[:16], "big")
    return make(value >> RANDOM_BITS, value & (1 << RANDOM_BITS) - 1)
