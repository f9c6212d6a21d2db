"""Data of capture: word lists, what hosts write, prompts and fitted weights, each in a JSON file beside the code."""

from __future__ import annotations

import base64
import json
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable

if TYPE_CHECKING:
    from ..vectors import Floats


@cache
def read(name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(resources.files(__package__).joinpath(f"{name}.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"{name}.json of capture cannot be read: {error}.") from error
    return found


def weights(told: dict[str, Any], name: str) -> Floats:
    """Packed numbers: the table is of bytes and has a step, the others are of half precision."""
    import numpy as np  # a cached answer must not wait for it

    packed = base64.b64decode(told[name])
    if name == "table":
        return np.frombuffer(packed, np.int8).astype(np.float32) * np.float32(told["step"])
    return np.frombuffer(packed, np.float16).astype(np.float32)
