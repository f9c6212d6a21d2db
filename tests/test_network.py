"""The files of the fitted networks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.errors import ModelUnavailable
from recollect.models import embedder
from recollect.recall import features, network

FILES = sorted(path for path in Path(network.__file__).parent.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_names_what_made_it_and_is_refused_for_other_features(path: Path) -> None:
    told = json.loads(path.read_text("utf-8"))
    assert told["about"] == f"Fitted by training/fit_{path.stem}.py"
    assert told["model"] == embedder.load("default").model  # another one has other cosines: fit them all again
    if "hidden" not in told:
        return  # not a network: `fusion.py`, `coverage.py` and `chains.py` read these by the names of their numbers
    assert sum(told["fitted_on"].values()) > 3000
    with pytest.raises(ModelUnavailable, match="other features") as refused:
        network.read(path.stem, (*told["features"], "another"))
    assert refused.value.fix == f"Run: python training/fit_{path.stem}.py"


def test_a_broken_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", lambda _: json.JSONDecoder().decode("{"))
    with pytest.raises(ModelUnavailable, match="The ranker cannot be read"):
        network.read("ranker", features.NAMES)
