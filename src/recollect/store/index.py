"""The vector index of one tenant and one model: sign codes and what filters need, in memory.

It is derived. It remembers the journal number it has seen and reads only the memories named after it, so that writes of
other processes are seen too. A copy beside the database spares a new process the reading of every vector. A changed
memory's old rows die and new ones are added; when a quarter is dead, they are swept out.

The codes are signs around the mean of the first vectors, because some models put all vectors into one corner; at four
times that size the mean is taken again. Every search is filtered before it is scored.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import ids, times
from ..types import SCOPE_FIELDS, Filter
from ..vectors import SECOND, THIRD, Bits, Floats, Mask, codes, floats, shortlist

WORDS = (*SCOPE_FIELDS, "kind", "network", "state")
TIMES = ("happened", "valid_from", "valid_to", "expires_at")
# What a store reads for each vector, in this order: its row, its memory's number and id, itself, and the columns.
COLUMNS = ("row", "memory", "id", "vector", *WORDS, "importance", *TIMES)
FORMAT = 3
NEVER, ALWAYS = np.iinfo(np.int64).max, np.iinfo(np.int64).min


class VectorIndex:
    def __init__(self) -> None:
        self.seq = 0
        self.saved_seq = 0
        self.bits = Bits()
        self.count = 0
        self.center = np.empty(0, np.float32)
        self._centered_on = 0
        self._names: dict[str, dict[str, int]] = {word: {} for word in WORDS}
        self._columns: dict[str, NDArray[Any]] = {
            "row": np.empty(0, np.int32),
            "memory": np.empty(0, np.int32),
            "id": np.empty(0, f"S{ids.LENGTH}"),
            "alive": np.empty(0, np.bool_),
            "importance": np.empty(0, np.int8),
            **{word: np.empty(0, np.int16) for word in WORDS},
            **{name: np.empty(0, np.int64) for name in TIMES},
        }

    def __len__(self) -> int:
        return int(self["alive"].sum())

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self.count]

    @property
    def off_center(self) -> bool:
        """Whether the index has outgrown its centre, and should be built again."""
        return self.count > SECOND and self.count > 4 * self._centered_on

    def build(self, batches: Iterable[Sequence[Sequence[Any]]]) -> None:
        """Take in everything the store has; the centre is that of the first batch."""
        for batch in batches:
            self.replace([], batch)
        self._centered_on = self.count

    def replace(self, memories: Sequence[int], found: Sequence[Sequence[Any]]) -> None:
        """Forget the rows of some memories and take in what the store has of them now, in the order of COLUMNS."""
        values = dict(zip(COLUMNS, zip(*found, strict=True), strict=True)) if found else {}
        if self.count and (memories or found):
            gone = np.isin(self["memory"], np.array(memories, np.int64))
            if found:  # a purged row's number can be given out again
                gone |= np.isin(self["row"], np.array(values["row"], np.int64))
            self["alive"][gone] = False
        if found:
            self._append(values)
        if self.count > 4096 and len(self) < self.count * 3 // 4:
            self._sweep()

    def kill(self, gone: Sequence[str]) -> None:
        """Let the rows of purged memories die: the store has no number of theirs any more, only their ids."""
        if gone and self.count:
            self["alive"][np.isin(self["id"], np.array(gone, f"S{ids.LENGTH}"))] = False

    def _append(self, values: dict[str, tuple[Any, ...]]) -> None:
        added = len(values["row"])
        self._grow(self.count + added)
        fresh = slice(self.count, self.count + added)
        self._columns["id"][fresh] = values["id"]
        for name in ("row", "memory", "importance"):
            self._set(name, fresh, values[name])
        self._columns["alive"][fresh] = True
        for word in WORDS:
            names = self._names[word]
            self._set(word, fresh, [names.setdefault(value, len(names)) for value in values[word]])
        for name in TIMES:
            default = NEVER if name in ("valid_to", "expires_at") else ALWAYS
            self._columns[name][fresh] = [default if value is None else value for value in values[name]]
        vectors = floats(list(values["vector"]))
        if not self.count:
            self.center, self._centered_on = vectors.mean(axis=0), added
        self.bits.append(codes(vectors - self.center))
        self.count += added

    def _set(self, name: str, fresh: slice, values: Sequence[int]) -> None:
        """Set numbers of a column, which becomes wider where they do not fit."""
        if max(values) > np.iinfo(self._columns[name].dtype).max:
            self._columns[name] = self._columns[name].astype(np.int64)
        self._columns[name][fresh] = values

    def _grow(self, size: int) -> None:
        if size > len(self._columns["row"]):
            room = max(1024, size * 9 // 8)
            for name, column in self._columns.items():
                grown = np.zeros(room, column.dtype)
                grown[: self.count] = column[: self.count]
                self._columns[name] = grown

    def _sweep(self) -> None:
        kept = np.flatnonzero(self["alive"])
        for name in self._columns:
            self._columns[name] = self[name][kept]
        self.bits.keep(kept)
        self.count = len(kept)

    def mask(self, filter: Filter, tagged: Sequence[int] | None) -> Mask | None:
        """Which rows a filter lets through; None when that is all of them."""
        mask = passing(filter, self.__getitem__, self._names, {"state": filter.states})
        if tagged is not None:
            mask &= np.isin(self["memory"], np.array(tagged, np.int64))
        return None if mask.all() else mask

    def candidates(self, query: Floats, mask: Mask | None, limit: int) -> dict[int, str]:
        """The rows of the store worth an exact look when `limit` are wanted, with the id of their memory."""
        found = shortlist(self.bits, mask, query, max(min(THIRD, 40 * limit), 3 * limit), self.center)
        named = self["id"][found].astype(str).tolist()
        return dict(zip(self["row"][found].tolist(), named, strict=True))

    def save(self, path: Path, stamp: dict[str, Any]) -> None:
        """Write the copy: whole or not at all, readable by its owner alone."""
        if len(self) < self.count:
            self._sweep()  # nothing of the dead goes to the disk
        told = {"format": FORMAT, "seq": self.seq, "names": self._names, "centered_on": self._centered_on}
        header = json.dumps({**told, **stamp})
        arrays: dict[str, Any] = {f"column_{name}": self[name] for name in self._columns}
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                np.savez(
                    file,
                    header=np.frombuffer(header.encode(), np.uint8),
                    bits=self.bits.packed,
                    center=self.center,
                    **arrays,
                )
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
        self.saved_seq = self.seq

    @classmethod
    def load(cls, path: Path, stamp: dict[str, Any]) -> VectorIndex | None:
        """The copy, if there is one that fits; a damaged or foreign one is as good as none."""
        index = cls()
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                header = json.loads(file["header"].tobytes())
                if header["format"] != FORMAT or any(header.get(name) != value for name, value in stamp.items()):
                    return None
                index.bits = Bits(file["bits"])
                index.center = file["center"]
                index._columns = {name: file[f"column_{name}"] for name in index._columns}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        index._names = header["names"]
        index.seq = index.saved_seq = header["seq"]
        index._centered_on = header["centered_on"]
        index.count = len(index._columns["row"])
        return index if index.bits.count == index.count else None


def passing(
    filter: Filter, column: Callable[[str], NDArray[Any]], names: Mapping[str, Mapping[str, int]],
    more: Mapping[str, Sequence[str]],
) -> Mask:  # fmt: skip
    """Which living rows a filter lets through, whatever their tags and state; `more` are other words and their values.

    `column` gives the numbers of a column, `names` the number of each word in it.
    """
    mask: Mask = column("alive").copy()
    wanted = {name: filter.scope.allowed(name, inside=filter.inside) for name in SCOPE_FIELDS}
    for word, values in {**wanted, "kind": filter.kinds, "network": filter.networks, **more}.items():
        if values:
            mask &= is_among(column(word), names[word], values)
    if filter.min_importance > 1:
        mask &= column("importance") >= filter.min_importance
    if filter.since:
        mask &= column("happened") >= times.micros(filter.since)
    if filter.until:
        mask &= column("happened") <= times.micros(filter.until)
    if filter.current_at:
        now = times.micros(filter.current_at)
        mask &= (column("valid_from") <= now) & (now < column("valid_to")) & (now < column("expires_at"))
    return mask


def is_among(column: NDArray[Any], names: Mapping[str, int], values: Sequence[str]) -> Mask:
    """Which rows of a column hold one of these words."""
    codes = [code for value in values if (code := names.get(value)) is not None]
    if len(codes) == len(names):
        return np.ones(len(column), np.bool_)
    return np.asarray(column == codes[0]) if len(codes) == 1 else np.isin(column, codes)
