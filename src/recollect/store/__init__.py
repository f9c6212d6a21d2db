"""Stores: where memories lie. `contract` says what one must do; `sqlite` is the embedded one, `postgres` a team's."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput, StoreUnavailable
from ..settings import URLS

if TYPE_CHECKING:
    from .contract import Store


def open_store(address: str | Path, patience: float, now: datetime) -> Store:
    """The store at a path, or at the URL of a PostgreSQL database; it is made where there is none."""
    if str(address) == ":memory:":
        raise BadInput(
            "A store cannot lie in memory alone: each thread opens it anew.", fix="Name a file to put it in."
        )
    if not str(address).startswith(URLS):
        from .sqlite import SQLiteStore

        return SQLiteStore(Path(address).expanduser(), patience, now)
    try:
        from .postgres import PostgresStore
    except ModuleNotFoundError as error:
        raise StoreUnavailable(
            f"PostgreSQL needs the package {error.name}.", fix="Run: pip install 'recollect[postgres]'"
        ) from error
    return PostgresStore(str(address), patience, now)
