# The public names for type checkers; `__init__.py` loads each when it is first used.
from .client import Client as Client
from .engine import Engine as Engine
from .engine import open as open
from .errors import Ambiguous as Ambiguous
from .errors import BadInput as BadInput
from .errors import BadTime as BadTime
from .errors import BudgetSpent as BudgetSpent
from .errors import ChangedMeanwhile as ChangedMeanwhile
from .errors import CopyDiffers as CopyDiffers
from .errors import Forbidden as Forbidden
from .errors import Held as Held
from .errors import LimitReached as LimitReached
from .errors import MigrationChanged as MigrationChanged
from .errors import ModelUnavailable as ModelUnavailable
from .errors import NewerSchema as NewerSchema
from .errors import NotADatabase as NotADatabase
from .errors import NotFound as NotFound
from .errors import RateLimited as RateLimited
from .errors import RecollectError as RecollectError
from .errors import Refused as Refused
from .errors import ServerUnavailable as ServerUnavailable
from .errors import StoreCorrupt as StoreCorrupt
from .errors import StoreFull as StoreFull
from .errors import StoreLocked as StoreLocked
from .errors import StoreReadOnly as StoreReadOnly
from .errors import StoreUnavailable as StoreUnavailable
from .errors import TooLarge as TooLarge
from .errors import TooSlow as TooSlow
from .errors import Unauthorised as Unauthorised
from .errors import WrongState as WrongState
from .types import Captured as Captured
from .types import Check as Check
from .types import Draft as Draft
from .types import Entry as Entry
from .types import Evidence as Evidence
from .types import Finding as Finding
from .types import Forgotten as Forgotten
from .types import Hit as Hit
from .types import Job as Job
from .types import Link as Link
from .types import Memory as Memory
from .types import Message as Message
from .types import Near as Near
from .types import Page as Page
from .types import Recall as Recall
from .types import Remembered as Remembered
from .types import Scope as Scope
from .types import Source as Source

__version__: str
__all__: list[str]
_NAMES: dict[str, str]
