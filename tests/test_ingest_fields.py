"""The fields of real decision records and incident reports, held against what a person read in them."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import BadInput
from recollect.project import adr, incidents
from recollect.project.markdown import is_form
from recollect.project.recognise import recognise
from recollect_eval.corpus import place

LABELS = json.loads((Path(__file__).parent / "project" / "expectations.json").read_text("utf-8"))
SETS = ("adr", "postmortems")
ENOUGH = 0.95


def folder(name: str) -> Path:
    try:
        return place(None, name)
    except BadInput as error:
        pytest.skip(f"THE LABELLED FILES WERE NOT CHECKED: {error}")


def day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


def told(text: str, path: str) -> dict[str, Any]:
    """What the parsers say of a file, in the words of the labels."""
    kind = recognise(path, text).kind
    if kind == "docs":
        return {"kind": "template" if is_form(path, text) else "doc"}
    if kind == "adr":
        record = adr.parse(text, path)
        others = ("supersedes", "superseded_by", "amends", "amended_by")
        parts = ("context", "decision", "consequences")
        return {
            "kind": "adr", "number": record.number, "title": record.title, "status": record.status,
            "date": day(record.date), "state": record.state,
            **{name: [int(one) for one in getattr(record, name)] for name in others},
            **{name: bool(getattr(record, name)) for name in parts},
        }  # fmt: skip
    report = incidents.parse(text, path)
    return {
        "kind": "incident", "id": report.id, "title": report.title, "severity": report.severity,
        "service": ", ".join(report.services), "started": day(report.started), "ended": day(report.ended),
        "detection": report.detection, "recovery": report.recovery, "root_cause": bool(report.cause),
        "factors": len(report.factors), "actions": len(report.actions), "lessons": len(report.lessons),
    }  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_the_fields_of_real_files_are_right(name: str) -> None:
    wrong, total = [], 0
    for path, labels in LABELS[name].items():
        found = told((folder(name) / path).read_text("utf-8"), path)
        total += len(labels)
        wrong += [f"{path}: {field} is {found.get(field)!r}, not {value!r}" for field, value in labels.items()
                  if found.get(field) != value]  # fmt: skip
    assert len(LABELS[name]) >= 20
    assert 1 - len(wrong) / total >= ENOUGH, "\n".join(wrong)


@pytest.mark.parametrize("name", SETS)
def test_statuses_and_supersessions_are_right_without_exception(name: str) -> None:
    held = ("kind", "status", "state", "supersedes", "superseded_by", "amends", "amended_by", "severity")
    for path, labels in LABELS[name].items():
        found = told((folder(name) / path).read_text("utf-8"), path)
        wanted = {field: value for field, value in labels.items() if field in held}
        assert {field: found.get(field) for field in wanted} == wanted, path


@pytest.mark.parametrize("name", SETS)
def test_every_file_is_parsed_and_labelled(name: str) -> None:
    found = {path.relative_to(folder(name)).as_posix(): path for path in folder(name).rglob("*.md")}
    assert found.keys() == LABELS[name].keys(), "label the files that were added"
    assert [path for path, file in found.items() if not recognise(path, file.read_text("utf-8")).pieces] == []


def test_enough_is_labelled() -> None:
    assert sum(len(LABELS[name]) for name in SETS) >= 40
