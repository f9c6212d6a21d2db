"""The mark: how far the journal of a SQLite store has come, in a small file beside the database.

A database cannot tell that it was emptied, cut off or exchanged; the mark can. It is written after a commit and only
now and then, so it is never ahead. Where the database differs, the mark stays until somebody accepts the new state.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..entrypoints.system import open_private

Heads = dict[str, tuple[int, str]]  # by tenant, the number of the newest journal row and its chain
EVERY = 2.0  # seconds between two writes of the mark by one process
RESTORE = "Restore a backup (recollect restore FILE), or accept the database as it is: recollect doctor --accept"
log = logging.getLogger("recollect")


class Mark:
    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}.head")
        self.wrong = ""  # how the database differs from the mark, in words
        self._due: Heads = {}
        self._written = 0.0

    def read(self) -> dict[str, Any]:
        """The mark as it stands; empty where there is none, or none that can be read."""
        try:
            told = json.loads(self.path.read_bytes())
            heads = {str(tenant): (int(seq), str(chain)) for tenant, (seq, chain) in told["heads"].items()}
            return {"store": str(told["store"]), "heads": heads}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def compare(self, told: dict[str, Any], store: str, row: Callable[[str, int], tuple[int, str]]) -> None:
        """Compare the database with the mark; `row` gives a tenant's head, and the chain of a row by its number.

        The mark must have been read before the database: others write both meanwhile, the mark last.
        """
        if not told:
            return
        if told["store"] != store:
            self.wrong = "the database is not the one that was here before"
            return
        for tenant, (seq, chain) in told["heads"].items():
            head, found = row(tenant, seq)
            if head < seq:
                self.wrong = f"the last {seq - head} changes of {tenant} are lost: it had {seq} and has {head}"
            elif chain and found and chain != found:
                self.wrong = f"the history of {tenant} is another one: change {seq} is not what it was"

    def note(self, store: str, tenant: str, seq: int, chain: bytes | None) -> None:
        """Say that a change was committed; it is written when the last time is a while ago, or on `flush`."""
        self._due[tenant] = seq, (chain or b"").hex()
        if time.monotonic() - self._written > EVERY:
            self.flush(store)

    def flush(self, store: str) -> None:
        if self.wrong or not self._due:
            return
        told = self.read()
        heads: Heads = told["heads"] if told.get("store") == store else {}
        due, self._due = self._due, {}
        newer = {tenant: one for tenant, one in due.items() if one[0] >= heads.get(tenant, (0, ""))[0]}
        self.write(store, heads | newer)

    def clear(self) -> None:
        """Drop the mark of a database that was here: another one is put in its place on purpose."""
        self.path.unlink(missing_ok=True)

    def write(self, store: str, heads: Heads) -> None:
        """Put the mark in place, whole; without it the store works all the same."""
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
        try:
            with os.fdopen(open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                json.dump({"store": store, "heads": heads}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(fresh, self.path)
            self._written = time.monotonic()
        except OSError as error:
            log.warning("the mark beside the database was not written: %s", error)
