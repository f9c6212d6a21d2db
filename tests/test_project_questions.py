"""Questions about real decisions and incidents are answered from the files they were taken in from."""

from __future__ import annotations

import pytest

from recollect.errors import BadInput
from recollect_eval import project
from recollect_eval.corpus import Benchmark
from recollect_eval.run import Options, run
from recollect_eval.subject import Subject

OVER = "adr/alphagov/0004-dns-definitions-for-hosts-and-services.md"
HEIR = "adr/alphagov/0015-dns-infrastructure.md"


@pytest.fixture(scope="module")
def papers() -> Benchmark:
    try:
        return project.load()
    except BadInput as error:
        pytest.skip(f"THE QUESTIONS ABOUT DECISIONS AND INCIDENTS WERE NOT ASKED: {error}")


def test_questions_are_answered_from_the_right_file(papers: Benchmark) -> None:
    assert len(papers.corpora[0].questions) >= 40
    report = run("project", options=Options(controls=False, curve=False))
    assert report.mean("recall@5") >= 0.95
    assert report.mean("MRR") >= 0.85
    assert report.mean("recall@5", slice="postmortems") >= 0.95


def test_every_question_names_a_file_that_is_there(papers: Benchmark) -> None:
    (corpus,) = papers.corpora
    assert {key for question in corpus.questions for key in question.right} <= {item.key for item in corpus.items}


def test_a_superseded_decision_is_never_given(papers: Benchmark, tmp_path: object) -> None:
    (corpus,) = papers.corpora
    assert [item.key for item in corpus.items if OVER in item.supersedes] == [HEIR]
    with Subject(corpus, f"{tmp_path}/store.db", "hashing") as subject:
        for question in corpus.questions:
            assert OVER not in subject.answer(question, 20).keys
