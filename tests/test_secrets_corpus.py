"""Secrets in texts by other authors: how many are found, and how often something harmless is taken for one.

The files hold made-up secrets only, packed so that no scanner takes them for real ones. The authors of `dev` and
`judge` had not seen the code; the author of `own` had. The patterns were improved while looking at `own` and `dev`;
nobody looked at `judge`.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path

import pytest

from recollect.redact import redact


@pytest.mark.parametrize(
    ("name", "found", "alarms"), [("own", 0.96, 0.005), ("dev", 0.99, 0.01), ("judge", 0.91, 0.01)]
)
def test_secrets_of_other_authors_are_found_and_harmless_texts_pass(name: str, found: float, alarms: float) -> None:
    packed = (Path(__file__).parent / f"secrets-{name}.b64").read_text()
    rows = [json.loads(line) for line in gzip.decompress(base64.b64decode(packed)).splitlines()]
    hits, false = [], []
    for row in rows:
        clean, _ = redact(row["text"])
        if row["secrets"]:
            hits.append(not any(secret in clean for secret in row["secrets"]))
        else:
            false.append(clean != row["text"])
    assert min(len(hits), len(false)) >= 90
    assert sum(hits) / len(hits) >= found
    assert sum(false) / len(false) <= alarms
