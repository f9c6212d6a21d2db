"""How agents, pools and handoffs look to a person: as a model reads them."""

from __future__ import annotations

from .commands import View

VIEWS: dict[str, View] = {}
