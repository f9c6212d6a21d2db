"""How the graph looks to a person: as a model reads it."""

from __future__ import annotations

from .commands import View

VIEWS: dict[str, View] = {}
