"""What models cost: a table with a date (`prices.json`), and one's own prices, which count more.

A model whose price is not known is not paid for (`NoPrice`). A server of one's own network sends no bill.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from ..errors import NoPrice

# A dated or otherwise marked edition of a model costs what the model costs; another number is another model.
_EDITION = re.compile(r"-(?:\d{4}-\d\d-\d\d|\d{8}|\d{3}|latest|preview)")
MILLION = 1_000_000


@cache
def table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.files("recollect.models").joinpath("prices.json").read_text("utf-8"))
    return found


def price(model: str, own: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Dollars for a million tokens read and written, of `provider:model`.

    >>> price("anthropic:claude-haiku-4-5-20251001", {})
    (1.0, 5.0)
    >>> price("openai:gpt-4.1", {"gpt-4.1": (1.5, 6.0)})
    (1.5, 6.0)
    """
    provider, _, name = model.partition(":")
    known: Mapping[str, Any] = table()["prices"].get(provider, {})
    for prices in (own, known):
        for one, (read, wrote) in prices.items():
            if one in (name, model) or (name.startswith(one) and _EDITION.fullmatch(name[len(one) :])):
                return float(read), float(wrote)
    raise NoPrice(f"What {model} costs is not known (prices of {table()['date']}).")
