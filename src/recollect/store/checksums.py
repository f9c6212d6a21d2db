"""Checksums: how a damaged row is told from a sound one, and how the journal proves that nothing in it was changed.

A row of knowledge carries a CRC over its values and its tenant; one that does not fit is left out and named, so one bad
byte costs one row. Each journal row carries a hash of itself and is tied to the row before it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any, TypeVar

T = TypeVar("T")
SALT = HASH = 16  # bytes
UNREADABLE = "damaged and left out. Run: recollect doctor"
_NOTICED: ContextVar[dict[str, None] | None] = ContextVar("noticed", default=None)


def row_checksum(tenant: str, values: Sequence[Any]) -> int:
    """The checksum of a row, from its values in the order of its columns."""
    return zlib.crc32("\x1f".join(map(str, values)).encode("utf-8", "replace"), zlib.crc32(tenant.encode()))


def seal(before: bytes | None, tenant: str, row: Sequence[Any], salt: bytes | None) -> tuple[bytes, bytes]:
    """The digest and the chain of a journal row, from its columns up to the reason and the chain before it."""
    digest = row_digest(row, salt)
    return digest, link(before, tenant, row, digest)


def new_salt() -> bytes:
    return os.urandom(SALT)


def row_digest(row: Sequence[Any], salt: bytes | None) -> bytes:
    """What proves the whole of a row; a row without a salt was blanked, and has nothing left to prove."""
    return blake2b(_bytes(row), digest_size=HASH, key=salt).digest() if salt else b""


def link(before: bytes | None, tenant: str, row: Sequence[Any], digest: bytes) -> bytes:
    """What ties a row to the one before it; it stays right when the content of the row is blanked."""
    return blake2b((before or b"") + _bytes((tenant, *row[:6])) + digest, digest_size=HASH).digest()


def _bytes(values: Sequence[Any]) -> bytes:
    return "\x1f".join(map(str, values)).encode("utf-8", "replace")


@contextmanager
def noticing() -> Iterator[dict[str, None]]:
    """Collect the damaged rows that are met while something is read, in words."""
    found: dict[str, None] = {}
    token = _NOTICED.set(found)
    try:
        yield found
    finally:
        _NOTICED.reset(token)


def sound_rows(read: Callable[[int], T], limit: int | None) -> tuple[T, tuple[str, ...]]:
    """What is read, and the damaged rows met; with a limit, as many more are read as were left out."""
    with noticing() as damaged:
        found = read(limit or 0)
        if damaged and limit is not None:
            found = read(limit + len(damaged))
    return found, tuple(damaged)


def notice(noun: str, id: object) -> None:
    """Say that a row was left out because it is damaged."""
    if (found := _NOTICED.get()) is not None:
        found[f"{noun} {id}: {UNREADABLE}"] = None
