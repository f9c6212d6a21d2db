"""Recollect: memory for AI assistants that write code.

Everything public is here; everything else may change.

>>> import recollect
>>> sorted(recollect.__all__)[:3]
['Ambiguous', 'BadInput', 'BadTime']
"""

from .engine import Engine, open
from .errors import (
    Ambiguous,
    BadInput,
    BadTime,
    CopyDiffers,
    MigrationChanged,
    ModelUnavailable,
    NewerSchema,
    NotADatabase,
    NotFound,
    RecollectError,
    Refused,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
    StoreUnavailable,
    TooLarge,
)
from .types import (
    Check,
    Draft,
    Entry,
    Evidence,
    Forgotten,
    Hit,
    Job,
    Link,
    Memory,
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
    "Check",
    "CopyDiffers",
    "Draft",
    "Engine",
    "Entry",
    "Evidence",
    "Forgotten",
    "Hit",
    "Job",
    "Link",
    "Memory",
    "MigrationChanged",
    "ModelUnavailable",
    "Near",
    "NewerSchema",
    "NotADatabase",
    "NotFound",
    "Page",
    "Recall",
    "RecollectError",
    "Refused",
    "Remembered",
    "Scope",
    "Source",
    "StoreCorrupt",
    "StoreFull",
    "StoreLocked",
    "StoreReadOnly",
    "StoreUnavailable",
    "TooLarge",
    "open",
]
