"""Histories: the messages of one session, in order, as frameworks keep them.

Each message is a turn of the session: recalled and searched like what an assistant's hooks bring, and trusted as what
was said, not as what is so. The form that the framework knows comes back unchanged, but for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..errors import BadInput
from ..types import ROLES, Scope
from .records import Records, Store, scope_of

SPEAKERS = {
    "human": "user", "ai": "assistant", "model": "assistant", "developer": "system", "function": "tool",
    **{role: role for role in ROLES},
}  # fmt: skip


class History:
    """The messages of a session of one application: each as its form, who said it, and what it says."""

    def __init__(self, memory: Store, app: str, session: str, scope: Scope | None = None) -> None:
        if not isinstance(session, str) or not session.strip():
            raise BadInput("The session has no name.", fix="Give the id of the conversation.")
        where = replace(scope_of(memory, scope), session=session)
        self._records, self._path = Records(memory, app, where, "turn"), (session,)

    def add(self, messages: Sequence[tuple[Any, str, str]]) -> None:
        self._records.append(
            self._path, [(form, SPEAKERS.get(role, "assistant"), text) for form, role, text in messages]
        )

    def newest(self, limit: int | None = None) -> list[Any]:
        """The last messages, oldest first; all of them unless told."""
        found = sorted(self._records.all(self._path, newest=limit), key=lambda one: one.position)
        return [one.value for one in found]

    def pop(self) -> Any | None:
        """Take the last message away."""
        last = next(self._records.all(self._path, newest=1), None)
        if last is None:
            return None
        self._records.drop([last])
        return last.value

    def clear(self) -> None:
        self._records.clear(self._path)
