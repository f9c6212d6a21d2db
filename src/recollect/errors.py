"""Everything that can go wrong, as one tree of classes below `RecollectError`.

Each class has a stable `code`, the HTTP `status` of a server's answer, the `exit` code of the command line and the
`fix`, a sentence that says what to do. Surfaces translate errors by these fields and never by reading the message.
"""

from __future__ import annotations

from datetime import datetime


class RecollectError(Exception):
    """The base class: catch it to catch every error of Recollect."""

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
    """A value from the caller is invalid."""

    code, status, exit = "bad_input", 400, 2
    fix = "Correct the value and try again; nothing was changed."


class TooLarge(BadInput):
    """A text, list or query exceeds its limit."""

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
    """A shortened id matches more than one memory."""

    code, status = "ambiguous_id", 409
    fix = "Give more characters of the id."


class NoRepository(NotFound):
    """The folder is not in a git repository."""

    code = "no_repository"
    fix = "Name a folder inside a repository, or make one with: git init"


class Refused(RecollectError):
    """The value may not come back: a person rejected or purged it."""

    code, status, exit = "refused", 409, 4
    fix = "If it was rejected by mistake: recollect reject --undo ID"


class Held(RecollectError):
    """A hold prevents the erasure."""

    code, status, exit = "held", 423, 4
    fix = "Nothing was changed. See what is on hold: recollect hold list"


class ChangedMeanwhile(RecollectError):
    """The memory changed since it was read."""

    code, status, exit = "changed_meanwhile", 412, 4
    fix = "Read it again, and decide anew."


class LimitReached(RecollectError):
    """There may be no more of these; nothing was changed."""

    code, status, exit = "limit_reached", 409, 4
    fix = "Remove what is no longer needed, and try again."


class WrongState(RecollectError):
    """The operation does not fit the state: it is closed, expired, taken by another, or not begun."""

    code, status, exit = "wrong_state", 409, 4
    fix = "Look at how it stands now: recollect handoff board"


class Unauthorised(RecollectError):
    """The caller is not authenticated: the token is missing, wrong, expired or revoked."""

    code, status, exit = "unauthorised", 401, 7
    fix = "Send a token (Authorization: Bearer …), made with: recollect token create; for the page: recollect dashboard"


class Forbidden(RecollectError):
    """The caller does not have the right to do this, or not in this scope."""

    code, status, exit = "forbidden", 403, 7
    fix = "Use a token with the right and the reach for it."


class RateLimited(RecollectError):
    """Too many requests in a short time."""

    code, status, exit = "rate_limited", 429, 8
    fix = "Wait as long as Retry-After says, and try again."

    def __init__(self, message: str, *, wait: float = 60.0) -> None:
        super().__init__(message)
        self.wait = wait  # seconds


class Busy(RateLimited):
    """Too many requests of all callers are waiting; this one was not started."""

    code, status, exit = "busy", 503, 8


class TooSlow(RecollectError):
    """The answer took longer than a request may take; what it had begun to write is written whole or not at all."""

    code, status, exit = "too_slow", 504, 8
    fix = "Ask for less at once, or raise request_timeout: recollect config."


class ServerUnavailable(RecollectError):
    """The server cannot be reached, or is not a Recollect server."""

    code, status, exit = "server_unavailable", 502, 6
    fix = "Start it with: recollect serve, and check the address."


class DaemonRunning(RecollectError):
    """Another daemon is running for that home."""

    code, status, exit = "daemon_running", 409, 9
    fix = "Use that one, or end it with: recollect stop"


class PortTaken(RecollectError):
    """The port is in use, or not permitted."""

    code, status, exit = "port_taken", 409, 10
    fix = "Choose another with: recollect serve --port NUMBER"


class GitUnavailable(RecollectError):
    """Git is not installed, or did not answer."""

    code, status, exit = "git_unavailable", 503, 6
    fix = "Install git, and check with: git status"


class ModelUnavailable(RecollectError):
    """The embedding model cannot be loaded."""

    code, status, exit = "model_unavailable", 503, 5
    fix = "Reinstall the package (pip install --force-reinstall recollect); until then text search works alone."


class ProviderUnavailable(ModelUnavailable):
    """The server of a model cannot be reached, took too long, or has too much to do."""

    code, status = "provider_unavailable", 503
    fix = "Check the address and the network; what needs no model goes on meanwhile."


class ProviderRefused(ModelUnavailable):
    """The server of a model does not take the request: the key, the name of the model, or what was asked of it."""

    code, status = "provider_refused", 502
    fix = "Check the key in the environment and the model in the settings: recollect config."

    def __init__(self, message: str, *, fix: str | None = None, answered: int = 0) -> None:
        super().__init__(message, fix=fix)
        self.answered = answered  # the HTTP status


class BadAnswer(ModelUnavailable):
    """A model's answer is cut off, empty, no JSON, or not what was asked for."""

    code, status = "bad_answer", 502
    fix = "Try again, or choose another model: recollect config."

    def __init__(self, message: str, *, fix: str | None = None, tokens: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message, fix=fix)
        self.tokens = tokens  # what it cost all the same: tokens read and written


class BudgetSpent(ModelUnavailable):
    """The budget for models is spent; their work is paused."""

    code, status = "budget_spent", 402
    fix = "Wait until the time it names, or raise the budget: recollect config. See: recollect usage"

    def __init__(self, message: str, *, until: datetime) -> None:
        super().__init__(message)
        self.until = until


class NoPrice(ModelUnavailable):
    """The price of a call is not known, so the budget could not be enforced."""

    code, status = "no_price", 402
    fix = 'Write it into prices.toml in the home folder, in dollars for a million tokens: "model" = [0.5, 2.0]'


class StoreUnavailable(RecollectError):
    """The database cannot be opened or used."""

    code, status, exit = "store_unavailable", 503, 6
    fix = "Check the path, and run: recollect doctor"


class StoreLocked(StoreUnavailable):
    """Another process held the write lock for longer than busy_timeout."""

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
    """The file exists but is not a database."""

    code, status = "not_a_database", 422
    fix = "Move that file away or choose another path with --store; it was not touched."


class StoreCorrupt(StoreUnavailable):
    """SQLite found the file damaged."""

    code, status = "store_corrupt", 500
    fix = "Restore a backup, or save what can be read: recollect export --salvage --output rescue.jsonl"


class RowDamaged(StoreCorrupt):
    """A row was altered or damaged after it was written, and is not used."""

    code = "row_damaged"
    fix = "Run: recollect doctor --fix, which takes it from the journal, or restore a backup."


class NewerSchema(StoreUnavailable):
    """The database was written by a newer version."""

    code, status = "newer_schema", 409
    fix = "Upgrade: pip install --upgrade recollect. The file was not touched."


class MigrationChanged(StoreUnavailable):
    """A migration that was already applied to the database has been edited."""

    code, status = "migration_changed", 500
    fix = "Reinstall the package; applied migrations must never be edited."


class CopyDiffers(StoreUnavailable):
    """A copied store differs from its source."""

    code, status = "copy_differs", 500
    fix = "Let nobody write to either store and run it again: it goes on where it stopped. Keep the source."


def of(code: str) -> type[RecollectError]:
    """The class of an error that another process told by its code."""
    known = (one for one in globals().values() if isinstance(one, type) and issubclass(one, RecollectError))
    return next((one for one in known if one.code == code), RecollectError)
