"""Questions answered by a model: what it is given, how its answers are judged, and what happens when it gives none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from providers import KEY, Server
from recollect.errors import BadInput
from recollect_eval import qa

SAID = ("I adopted a puppy on 7 May 2023.", "What is it called?", "Biscuit, and it is a beagle.", "The office moved.")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QA_KEY", KEY)
    turns = [{"speaker": "Ana", "dia_id": f"D1:{n}", "text": said} for n, said in enumerate(SAID, 1)]
    asked = [
        {"question": "What is Ana's puppy called?", "answer": "Biscuit", "evidence": ["D1:3"], "category": 4},
        {"question": "Who flew?", "adversarial_answer": "Bob", "evidence": ["D1:1"], "category": 5},
    ]
    talk = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023"}
    (tmp_path / "locomo").mkdir()
    with gzip.open(tmp_path / "locomo" / "locomo_dev.json.gz", "wt") as file:
        json.dump([{"sample_id": "c", "conversation": talk, "qa": asked}], file)
    return tmp_path


def url_of(server: Server) -> str:
    return f"http://{server.host}/v1?model=small&key=QA_KEY"


def test_a_model_answers_from_what_is_found_and_another_judges(data: Path) -> None:
    with Server() as server:
        # no context, then four lists, then everything; after each answer the judge
        answers = ["a cat", *["Biscuit"] * 4, "The Biscuit."]
        server.sayings = [
            told
            for answer in answers
            for told in (json.dumps({"answer": answer}), json.dumps({"right": "Biscuit" in answer}))
        ]
        found = qa.run(data, None, url_of(server), every=1)
        prompts = [asked.body["messages"][-1]["content"] for asked in server.asked]
    assert found["questions"] == 1  # the adversarial question has no answer
    figures = found["figures"]
    assert figures["no context"]["judged"]["mean"] == 0.0
    assert figures["no context"]["tokens"]["mean"] == 0.0
    assert figures["recollect, 512 tokens"]["f1"]["mean"] == 1.0
    assert figures["bm25, 2,000 tokens"]["judged"]["mean"] == 1.0
    assert figures["full context"]["exact"]["mean"] == 1.0
    assert "(none)" in prompts[0]
    assert "[08 May 2023] Ana: Biscuit, and it is a beagle." in prompts[2]
    assert prompts[-2].index("puppy on 7 May") < prompts[-2].index("The office moved.")  # the whole, oldest first
    assert "full context" in qa.render(found)


def test_an_answer_that_is_not_given_counts_as_wrong(data: Path) -> None:
    with Server() as server:
        server.says = "I am not sure."
        found = qa.run(data, None, url_of(server), every=1)
    assert found["failed"] == 6
    assert all(row["judged"]["mean"] == row["f1"]["mean"] == 0.0 for row in found["figures"].values())


def test_qa_needs_a_model(data: Path) -> None:
    with pytest.raises(BadInput, match="needs a model"):
        qa.run(data, None, "")
