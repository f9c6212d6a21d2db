"""How statements are run: what each database must offer so that the parts of a store work on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..types import Kept

N = TypeVar("N", bound=Kept)


class Backend(ABC):
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
    def tenants(self) -> list[str]: ...
