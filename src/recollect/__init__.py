"""Recollect: memory for AI assistants that write code.

Everything public is here; everything else may change. A name is loaded when it is first used, so that the parts which
an assistant waits for (`recollect.entrypoints`) do not pay for the engine.

>>> import recollect
>>> sorted(recollect.__all__)[:3]
['Ambiguous', 'BadInput', 'BadTime']
"""

__version__ = "0.1.0"
# Every public name, by the module it lives in. A type checker reads `__init__.pyi`.
_NAMES = {
    "client": "Client",
    "engine": "Engine open",
    "errors": """
        Ambiguous BadInput BadTime BudgetSpent ChangedMeanwhile CopyDiffers Forbidden Held LimitReached
        MigrationChanged ModelUnavailable NewerSchema NotADatabase NotFound RateLimited RecollectError Refused
        ServerUnavailable StoreCorrupt StoreFull StoreLocked StoreReadOnly StoreUnavailable TooLarge TooSlow
        Unauthorised WrongState
    """,
    "types": """
        Captured Check Draft Entry Evidence Finding Forgotten Hit Job Link Memory Message Near Page Recall Remembered
        Scope Source
    """,
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
