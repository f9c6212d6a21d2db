"""How statements are run: what each database must offer so that the parts of a store work on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from ..types import Kept

N = TypeVar("N", bound=Kept)


class Backend(ABC):
    AMONG: ClassVar[str]  # the condition that a column is in a list, with the list's name as {}
    SHARE: ClassVar[str] = ""  # what keeps a memory from being erased while something about its use is written

    @abstractmethod
    def _query(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a statement, in a snapshot of one tenant."""

    @abstractmethod
    def _select(self, kind: type[N], names: Sequence[str], sql: str, **values: Any) -> list[N]:
        """The nouns of a statement that selects these columns and the checksum; damaged ones are left out and named."""

    @abstractmethod
    def _alter(self, tenant: str, sql: str, many: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]:
        """Run a statement with each set of values, in one transaction; the rows it returned."""

    @abstractmethod
    def _as_list(self, values: Sequence[Any]) -> Any:
        """A list as the database takes it."""

    @abstractmethod
    def tenants(self) -> list[str]:
        """Every tenant that has anything, in order: the one look across the wall, for whoever tends the whole store."""

    def _among(self, name: str, wanted: Sequence[str], values: dict[str, Any]) -> str:
        """The condition that a column is in a list, which is added to the values under this name."""
        values[name] = self._as_list(wanted)
        return self.AMONG.format(name)
