"""A tiny network with one hidden layer: weights that were fitted once, and lie in a small file beside the code.

The file names its features, what it was fitted on and the script that did it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from ..errors import ModelUnavailable
from ..vectors import Floats

WEIGHTS = ("mean", "spread", "hidden", "hidden_bias", "out")


@dataclass(frozen=True, slots=True)
class Network:
    """Weights of the two layers, and how each feature is put on a scale."""

    mean: Floats
    spread: Floats
    hidden: Floats
    hidden_bias: Floats
    out: Floats

    def score(self, rows: Floats) -> Floats:
        """How well each row fits; only differences within one question mean anything."""
        inner = np.tanh((rows - self.mean) / self.spread @ self.hidden + self.hidden_bias)
        return np.asarray(inner @ self.out, np.float32)


def read(name: str, features: tuple[str, ...]) -> dict[str, Any]:
    """What the file of a network tells, its weights as arrays."""
    file = resources.files(__package__).joinpath(f"{name}.json")
    try:
        told: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"The {name} cannot be read: {error}.") from error
    if told["features"] != list(features):
        raise ModelUnavailable(f"The {name} was fitted on other features.", fix=f"Run: python training/fit_{name}.py")
    return told | {weight: np.array(told[weight], np.float32) for weight in WEIGHTS}
