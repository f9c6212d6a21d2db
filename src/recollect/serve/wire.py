"""The wire: results as JSON, and JSON that came in."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ..errors import BadInput
from ..nouns import wire


def dumps(value: Any) -> bytes:
    return json.dumps(wire(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def loads(body: bytes) -> Any:
    """What a caller sent as JSON; whatever is wrong with it is one error."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The body is not JSON: {error!s:.200}.", fix="Send a JSON object.") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
