"""The made-up projects in training/notes, which the embedder and the ranker are fitted on, hold together."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from recollect.errors import BadInput

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "training"))

import fit_embedder  # noqa: E402
import notes  # noqa: E402

FILES = sorted(notes.PLACE.glob("*.jsonl"))


def lines(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The notes of a file and its questions."""
    told = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [line for line in told if "question" not in line], [line for line in told if "question" in line]


def test_every_file_holds_notes_with_keys_of_their_own_and_questions_that_name_these() -> None:
    assert len(FILES) == len({path.stem for path in FILES}) == 91
    for path in FILES:
        known, asked = lines(path)
        keys = Counter(note["key"] for note in known)
        assert max(keys.values()) == 1, (path.name, keys.most_common(1))
        for question in asked:
            told = (*question["answers"], *question.get("related", ()), *question.get("stale", ()))
            assert set(told) <= set(keys), (path.name, question)
            assert bool(question["answers"]) == (question["type"] != "unanswerable"), (path.name, question)
        for note in known:
            assert set(note.get("supersedes", ())) <= set(keys) - {note["key"]}, (path.name, note)


def test_every_project_is_read_and_the_authors_that_taught_do_not_judge() -> None:
    every = "".join(sorted({path.stem[0] for path in FILES}))
    assert [project.name for project in notes.corpora(every)] == [path.stem for path in FILES]
    judging = {project.name[0] for project in notes.load().corpora}
    assert judging | set(notes.TAUGHT) == set(every)
    assert judging.isdisjoint(notes.TAUGHT)


def test_the_questions_that_take_several_notes_name_them() -> None:
    assert sorted(path.name for path in notes.TOGETHER.glob("*.jsonl")) == [path.name for path in FILES]
    for path, project in zip(FILES, notes.together(), strict=True):
        keys, old = {item.key for item in project.items}, {question["question"] for question in lines(path)[1]}
        more = [json.loads(line) for line in (notes.TOGETHER / path.name).read_text("utf-8").splitlines()]
        assert len({question["question"] for question in more} | old) == len(more) + len(old)
        assert {question["type"] for question in more} <= {"multi-hop", "list", "time"}
        for question in project.questions:
            assert len(question.label("answers")) > 1
            assert question.right | question.label("stale") <= keys, (path.name, question.text)


def test_what_the_embedder_learns_from_the_notes_names_texts_of_the_same_store() -> None:
    made = fit_embedder.of_notes()
    taught = [path for path in FILES if path.stem[0] in notes.TAUGHT]
    assert len(made) == len(taught)
    for path, task in zip(taught, made, strict=True):
        known, asked = lines(path)
        assert len(task["texts"]) == len(known)
        answerable = [question for question in asked if question["answers"]]
        assert [one["question"] for one in task["asked"]] == [question["question"] for question in answerable]
        for one, question in zip(task["asked"], answerable, strict=True):
            assert {known[place]["key"] for place in one["answers"]} == set(question["answers"])
            assert set(one["answers"]).isdisjoint(one["related"])


def test_what_the_embedder_learns_from_is_one_file(tmp_path: Path) -> None:
    try:
        fit_embedder.gather(tmp_path / "tasks.gz", None)
    except BadInput as error:
        pytest.skip(f"LongMemEval or CoSQA is not here: {error}")
    with gzip.open(tmp_path / "tasks.gz", "rt", encoding="utf-8") as file:
        told = json.load(file)
    assert len(told) > len([path for path in FILES if path.stem[0] in notes.TAUGHT])
    for task in told:
        places = {place for one in task["asked"] for place in (*one["answers"], *one["related"])}
        assert places <= set(range(len(task["texts"])))
