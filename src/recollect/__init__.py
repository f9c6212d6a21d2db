"""Recollect: memory for AI assistants that write code.

Everything public is here; everything else may change. A name is loaded when it is first used, so that the parts which
an assistant waits for (`recollect.entrypoints`) do not pay for the engine.

>>> import recollect
>>> sorted(recollect.__all__)[:3]
['Ambiguous', 'BadInput', 'BadTime']
"""

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from .client import Client
    from .engine import Engine, open
    from .errors import (
        Ambiguous,
        BadInput,
        BadTime,
        BudgetSpent,
        ChangedMeanwhile,
        CopyDiffers,
        Forbidden,
        Held,
        MigrationChanged,
        ModelUnavailable,
        NewerSchema,
        NotADatabase,
        NotFound,
        RateLimited,
        RecollectError,
        Refused,
        ServerUnavailable,
        StoreCorrupt,
        StoreFull,
        StoreLocked,
        StoreReadOnly,
        StoreUnavailable,
        TooLarge,
        TooSlow,
        Unauthorised,
    )
    from .types import (
        Captured,
        Check,
        Draft,
        Entry,
        Evidence,
        Finding,
        Forgotten,
        Hit,
        Job,
        Link,
        Memory,
        Message,
        Near,
        Page,
        Recall,
        Remembered,
        Scope,
        Source,
    )

__version__ = "0.1.0"
__all__ = [
    "Ambiguous",
    "BadInput",
    "BadTime",
    "BudgetSpent",
    "Captured",
    "ChangedMeanwhile",
    "Check",
    "Client",
    "CopyDiffers",
    "Draft",
    "Engine",
    "Entry",
    "Evidence",
    "Finding",
    "Forbidden",
    "Forgotten",
    "Held",
    "Hit",
    "Job",
    "Link",
    "Memory",
    "Message",
    "MigrationChanged",
    "ModelUnavailable",
    "Near",
    "NewerSchema",
    "NotADatabase",
    "NotFound",
    "Page",
    "RateLimited",
    "Recall",
    "RecollectError",
    "Refused",
    "Remembered",
    "Scope",
    "ServerUnavailable",
    "Source",
    "StoreCorrupt",
    "StoreFull",
    "StoreLocked",
    "StoreReadOnly",
    "StoreUnavailable",
    "TooLarge",
    "TooSlow",
    "Unauthorised",
    "open",
]
# Where a public name lives; what is not named here is an error.
_HOMES = {"Client": "client", "Engine": "engine", "open": "engine"} | dict.fromkeys(
    (
        "Captured Check Draft Entry Evidence Finding Forgotten Hit Job Link Memory Message Near Page Recall Remembered "
        "Scope Source"
    ).split(),
    "types",
)

if not TYPE_CHECKING:  # a checker reads the imports above, and so still finds a name that does not exist

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        found = getattr(import_module(f".{_HOMES.get(name, 'errors')}", __name__), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
