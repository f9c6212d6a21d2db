"""Everything that can go wrong, as one tree.

Each class knows its stable `code`, the HTTP `status` a server answers with, the `exit` code of the command line
and the `fix`, a sentence that tells how to mend the matter. Surfaces translate errors by these fields and never by
reading the message.

    RecollectError
    ├── BadInput                 the caller's value is wrong; nothing was changed
    │   ├── TooLarge
    │   └── BadTime
    ├── NotFound                 no such memory, source or link
    │   └── Ambiguous            a short id that fits several
    ├── Refused                  the value was rejected by a person before, or purged
    ├── ModelUnavailable         the embedder cannot be had; text search goes on without it
    └── StoreUnavailable         the database cannot be used
        ├── StoreLocked
        ├── StoreReadOnly
        ├── StoreFull
        ├── NotADatabase
        ├── StoreCorrupt
        ├── NewerSchema
        ├── MigrationChanged
        └── CopyDiffers
"""

from __future__ import annotations


class RecollectError(Exception):
    """The root: catch this to catch every error of ours."""

    code = "error"
    status = 500
    exit = 1
    fix = "Run: recollect doctor"

    def __init__(self, message: str, *, fix: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if fix is not None:
            self.fix = fix

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()

    def as_dict(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "fix": self.fix}


class BadInput(RecollectError):
    """A value the caller gave is not acceptable."""

    code, status, exit = "bad_input", 400, 2
    fix = "Correct the value and try again; nothing was changed."


class TooLarge(BadInput):
    """A text, list or query is over its limit."""

    code, status = "too_large", 413
    fix = "Shorten it, split it into several memories, or raise the limit: recollect config."


class BadTime(BadInput):
    """A date or time cannot be used."""

    code = "bad_time"
    fix = "Give a time with its zone, such as 2026-03-01T09:30:00Z."


class NotFound(RecollectError):
    """Nothing has that id."""

    code, status, exit = "not_found", 404, 3
    fix = "List ids with: recollect list"


class Ambiguous(NotFound):
    """A shortened id fits more than one memory."""

    code, status = "ambiguous_id", 409
    fix = "Give more characters of the id."


class Refused(RecollectError):
    """The value may not come back: a person rejected or purged it."""

    code, status, exit = "refused", 409, 4
    fix = "If it was rejected by mistake: recollect reject --undo ID"


class ModelUnavailable(RecollectError):
    """The embedding model cannot be loaded."""

    code, status, exit = "model_unavailable", 503, 5
    fix = "Reinstall the package (pip install --force-reinstall recollect); until then text search works alone."


class StoreUnavailable(RecollectError):
    """The database cannot be opened or used."""

    code, status, exit = "store_unavailable", 503, 6
    fix = "Check the path, and run: recollect doctor"


class StoreLocked(StoreUnavailable):
    """Another process held the write lock for longer than we wait."""

    code = "store_locked"
    fix = "Close the program that holds it, or raise busy_timeout: recollect config."


class StoreReadOnly(StoreUnavailable):
    """The database or its folder cannot be written."""

    code, status = "store_read_only", 403
    fix = "Make the folder writable for you, or choose another with RECOLLECT_HOME."


class StoreFull(StoreUnavailable):
    """The disk is full; the change was rolled back."""

    code, status = "store_full", 507
    fix = "Free some disk space and try again; nothing was changed."


class NotADatabase(StoreUnavailable):
    """The file exists and is something else."""

    code, status = "not_a_database", 422
    fix = "Move that file away or choose another path with --store; it was not touched."


class StoreCorrupt(StoreUnavailable):
    """SQLite found the file damaged."""

    code, status = "store_corrupt", 500
    fix = "Restore a backup, or save what can be read: recollect export --output rescue.jsonl"


class NewerSchema(StoreUnavailable):
    """The database was written by a newer version."""

    code, status = "newer_schema", 409
    fix = "Upgrade: pip install --upgrade recollect. The file was not touched."


class MigrationChanged(StoreUnavailable):
    """A migration that the database has already had no longer reads the same."""

    code, status = "migration_changed", 500
    fix = "Reinstall the package; applied migrations must never be edited."


class CopyDiffers(StoreUnavailable):
    """A copied store is not what its source is."""

    code, status = "copy_differs", 500
    fix = "Let nobody write to either store and run it again: it goes on where it stopped. Keep the source."
