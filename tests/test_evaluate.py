"""Quality is measured: the metrics by hand, the loaders on tiny files of the same form, the golden set, the gate."""

from __future__ import annotations

import gzip
import json
import re
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from recollect import BadInput, Draft, Scope, Source
from recollect.cli import cli, upkeep
from recollect.models.embedder import Role, load
from recollect.models.hashing import HashingEmbedder
from recollect_eval import corpus, cosqa, golden, locomo, longmemeval, metrics, temporal
from recollect_eval.cache import CachedEmbedder
from recollect_eval.command import NAMES
from recollect_eval.controls import Bm25, Grep, Recency, controls
from recollect_eval.corpus import Answer, Corpus, Item, Question
from recollect_eval.curve import draw
from recollect_eval.report import Figure, Report, gate, render, save
from recollect_eval.run import Options, run
from recollect_eval.subject import Subject

ROOT = Path(__file__).parents[1]
BASELINE = ROOT / "bench" / "baselines" / "golden.json"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUICK = Options(embedder="hashing")


# -- metrics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranked", "right", "expected"),
    [
        ("a b c d e", "a b c d e", 1.0),
        ("a x b y c", "a b c d e f g", 3 / 5),  # seven are right: the usual precision at five
        ("a x b y c", "a b c", 2 / 3),  # three are right: the first three places count
        ("x a", "a", 0.0),
        ("a", "a b", 1 / 2),
        ("", "a", 0.0),
    ],
)
def test_precision_looks_at_as_many_places_as_can_be_right(ranked: str, right: str, expected: float) -> None:
    assert metrics.precision(ranked.split(), set(right.split()), 5) == pytest.approx(expected)


def test_metrics_by_hand() -> None:
    ranked, right = ["x", "a", "y", "b", "z"], {"a", "b", "c"}
    assert metrics.recall(ranked, right, 2) == pytest.approx(1 / 3)
    assert metrics.recall(ranked, right, 5) == pytest.approx(2 / 3)
    assert metrics.hit(ranked, right, 1) == 0
    assert metrics.hit(ranked, right, 2) == 1
    assert metrics.whole(ranked, {"a", "b"}, 4) == 1
    assert metrics.whole(ranked, {"a", "b"}, 3) == 0
    assert metrics.purity(ranked, right, 4) == 0.5
    assert metrics.reciprocal(ranked, {"b"}) == 0.25
    # 1/log2(3) + 1/log2(5) = 0.63093 + 0.43068, over 1 + 0.63093 + 0.5
    assert metrics.ndcg(ranked, dict.fromkeys(right, 1.0), 10) == pytest.approx(1.06161 / 2.13093, abs=1e-5)
    # graded: 0.5 at rank 1 and 1 at rank 2, over 1 at rank 1 and 0.5 at rank 2
    assert metrics.ndcg(["b", "a"], {"a": 1.0, "b": 0.5}, 10) == pytest.approx(
        (0.5 + 0.63093) / (1 + 0.315465), abs=1e-5
    )


def test_a_budget_is_filled_in_order_and_what_is_too_large_is_passed_over() -> None:
    costs = {"a": 60, "b": 90, "c": 30, "d": 20}
    assert metrics.fitting(["a", "b", "c", "d"], costs, 100) == ["a", "c"]
    assert metrics.fitting(["a"], costs, 10) == []


def test_intervals_hold_the_mean_and_are_the_same_each_time() -> None:
    values = [0.0, 1.0] * 50
    low, high = metrics.interval(values)
    assert low < 0.5 < high
    assert 0.35 < low < 0.45
    assert 0.55 < high < 0.65
    assert metrics.interval(values) == (low, high)


def test_separation_is_the_share_of_pairs_in_order() -> None:
    assert metrics.separation([3, 2], [1, 0]) == 1
    assert metrics.separation([1, 1], [1, 1]) == 0.5
    assert metrics.separation([], [1]) == 0.5


# -- loaders, on made-up files of the same form -----------------------------------------------------------------------


def _pack(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(data).encode()))


def _talk(path: Path) -> None:
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a red canoe."},
        {"speaker": "Bob", "dia_id": "D1:2", "text": "Look at my garden.", "blip_caption": "a photo of tulips"},
    ]
    later = [{"speaker": "Ann", "dia_id": "D2:1", "text": "The canoe sank yesterday."}]
    talk = {
        "speaker_a": "Ann", "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns,
        "session_2_date_time": "12:05 am on 1 June, 2023", "session_2": later,
        "session_3_date_time": "9:00 am on 2 June, 2023",
    }  # fmt: skip
    asked = [
        {"question": "What did Ann buy?", "answer": "a canoe", "evidence": ["D1:1"], "category": 4},
        {"question": "What happened to it?", "answer": "it sank", "evidence": ["D:1:1; D2:1", "D9:9"], "category": 1},
        {"question": "Nothing known", "answer": "", "evidence": [], "category": 3},
        {"question": "What flowers has Bob?", "answer": "tulips", "evidence": ["D1:1"], "category": 5},
    ]
    _pack(path / "locomo" / locomo.DATA, [{"sample_id": "conv-1", "conversation": talk, "qa": asked}])
    audit = [{"question_id": "locomo_0_qa3", "correct_evidence": ["D1:2"]}]
    (path / "locomo" / locomo.AUDIT).write_text(json.dumps(audit))


def test_locomo_turns_become_memories_and_evidence_is_repaired(tmp_path: Path) -> None:
    _talk(tmp_path)
    talk = locomo.load(tmp_path).corpora[0]
    assert [item.text for item in talk.items] == [
        "Ann: I bought a red canoe.",
        "Bob: Look at my garden. [shares image: a photo of tulips]",
        "Ann: The canoe sank yesterday.",
    ]
    second = talk.items[1]
    assert (second.draft.kind, second.draft.speaker, second.draft.position) == ("turn", "Bob", 1)
    assert second.draft.scope == Scope(session="conv-1/session_1")
    assert second.draft.valid_from == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    source = second.draft.source
    assert isinstance(source, Source)
    assert (source.author, source.position, source.session) == ("Bob", 1, "conv-1/session_1")
    assert talk.items[2].moment == datetime(2023, 6, 1, 0, 5, tzinfo=UTC)
    assert [sorted(question.right) for question in talk.questions] == [
        ["conv-1/D1:1"], ["conv-1/D1:1", "conv-1/D2:1"], ["conv-1/D1:1"],
    ]  # fmt: skip
    assert talk.questions[2].slices == ("adversarial",)
    assert talk.questions[2].label("audited") == {"conv-1/D1:2"}
    assert talk.questions[0].label("audited") == {"conv-1/D1:1"}


def test_locomo_runs_and_reports_turns_and_sessions(tmp_path: Path) -> None:
    _talk(tmp_path)
    report = run("locomo", data=tmp_path, options=QUICK)
    assert report.mean("recall@5") == 1
    assert report.mean("session recall@5", slice="multi-hop") == 1
    assert report.figures["recollect"]["all"]["recall@5"].n == 3
    assert {"bm25", "vectors", "rrf", "sum", "grep", "recency"} < report.figures.keys()
    assert report.curve()["recollect"][4096] == 1


def _sessions(path: Path) -> None:
    first = [
        {"role": "user", "content": "My cat is called Moss.", "has_answer": True},
        {"role": "assistant", "content": "A lovely name."},
    ]
    other = [{"role": "user", "content": "Which paint is good for boats?"}]
    told = [
        {
            "question_id": "q1", "question_type": "single-session-user", "question": "What is my cat called?",
            "question_date": "2023/04/11 (Tue) 10:00", "haystack_dates": ["2023/04/10 (Mon) 23:07"],
            "haystack_session_ids": ["s1"], "haystack_sessions": [first], "answer_session_ids": ["s1"],
        },
        {
            "question_id": "q2_abs", "question_type": "single-session-user", "question": "What is my dog called?",
            "question_date": "2023/04/11 (Tue) 10:00", "haystack_dates": ["2023/05/10 (Wed) 08:00"],
            "haystack_session_ids": ["s2"], "haystack_sessions": [other], "answer_session_ids": ["s2"],
        },
    ]  # fmt: skip
    _pack(path / "longmemeval" / longmemeval.DATA, told)


def test_longmemeval_pools_all_sessions_and_leaves_the_unanswerable_out(tmp_path: Path) -> None:
    _sessions(tmp_path)
    pool = longmemeval.load(tmp_path).corpora[0]
    assert [item.key for item in pool.items] == ["s1/0", "s1/1", "s2/0"]
    assert [question.key for question in pool.questions] == ["q1"]
    assert pool.questions[0].right == {"s1/0"}
    assert "dev" in pool.questions[0].slices  # of every second question the embedder has learnt
    assert pool.moment > max(item.moment for item in pool.items)
    report = run("longmemeval", data=tmp_path, options=QUICK)
    assert report.mean("any@1") == 1
    assert report.mean("turn recall@10") == 1


def test_cosqa_looks_for_the_one_right_function(tmp_path: Path) -> None:
    functions = {"def is_even(n):\n    return n % 2 == 0": 0, "def shout(text):\n    return text.upper()": 1}
    _pack(tmp_path / "cosqa" / cosqa.CODE, functions)
    asked = [{"idx": "q", "doc": "python check that a number is even", "retrieval_idx": 0}]
    (tmp_path / "cosqa" / cosqa.QUERIES).write_text(json.dumps(asked))
    report = run("cosqa", data=tmp_path, options=QUICK)
    assert report.mean("MRR") == 1
    assert report.settings["memories"] == 2


def test_temporal_notes_hold_as_long_as_their_author_says(tmp_path: Path) -> None:
    notes = [
        {"id": "old", "when": "2025-01-10T09:00:00", "valid_to": "2025-05-01T00:00:00", "text": "Ana leads billing."},
        {"id": "new", "when": "2025-05-01T09:00:00", "recorded": "2025-07-01T09:00:00", "text": "Ben leads billing."},
    ]
    asked = {"ask": "Who leads billing in May 2025?", "type": "point", "answers": ["new"], "wrong": ["old"]}
    both = {
        "ask": "Who led billing, in order?",
        "type": "order",
        "answers": ["old", "new"],
        "wrong": [],
        "ordered": True,
    }
    store = {
        "store": "s",
        "zone": "Asia/Tokyo",
        "now": "2025-08-01T09:00:00",
        "notes": notes,
        "questions": [asked, both],
    }
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(store), "utf-8")
    found = temporal.run(None, "dev", None, file=path)
    assert found["figures"]["point"] == {
        "questions": 1, "right in three": 1.0, "wrong time first": 0.0, "recall@10": 1.0,
    }  # fmt: skip
    assert found["figures"]["ordered"]["in order"] == 1.0
    assert temporal.judge({"answers": ["a", "b", "c"], "ordered": True}, ["b", "a", "c"])["in order"] == 2 / 3


def test_missing_or_broken_data_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no folder locomo") as missing:
        run("locomo", data=tmp_path)
    assert "--data" in missing.value.fix
    (tmp_path / "cosqa").mkdir()
    with pytest.raises(BadInput, match="missing"):
        run("cosqa", data=tmp_path)
    (tmp_path / "cosqa" / cosqa.CODE).write_bytes(b"not gzip")
    with pytest.raises(BadInput, match="cannot be read"):
        run("cosqa", data=tmp_path)
    with pytest.raises(BadInput, match="no benchmark"):
        run("trivia")
    with pytest.raises(BadInput, match="part"):
        run("golden", options=replace(QUICK, part="half"))
    _talk(tmp_path)
    with pytest.raises(BadInput, match="No question"):
        run("locomo", data=tmp_path, options=replace(QUICK, part="held"))


def test_the_shared_data_is_what_the_protocol_expects() -> None:
    try:
        talks, pool, code = locomo.load(), longmemeval.load(), cosqa.load()
    except BadInput as error:
        pytest.skip(f"the public data is not here, so the loaders were not tried on it: {error}")
    assert sum(len(talk.questions) for talk in talks.corpora) == 1018
    assert sum(len(talk.items) for talk in talks.corpora) == 2960
    assert len(pool.corpora[0].questions) == 231
    assert len({item.group for item in pool.corpora[0].items}) == 479
    assert (len(code.corpora[0].items), len(code.corpora[0].questions)) == (6267, 500)


# -- systems ----------------------------------------------------------------------------------------------------------


def _item(key: str, content: str, day: int, **fields: Any) -> Item:
    moment = NOON.replace(day=day)
    supersedes = fields.pop("supersedes", ())
    return Item(key, Draft(content, valid_from=moment, **fields), moment, supersedes=supersedes)


SMALL = Corpus(
    "small",
    (
        _item("old", "Deployments happen on Tuesdays.", 2),
        _item("new", "Deployments happen on Fridays.", 9, supersedes=("old",)),
        _item("tea", "The tea is in the left cupboard.", 5),
        _item("far", "Deployments of the other project happen on Sundays.", 6, scope=Scope(project="other")),
    ),
    (Question("q", "When do deployments happen?", frozenset({"new"}), scope=Scope(project="mine")),),
    NOON.replace(day=20),
)


def test_controls_rank_as_they_promise_and_keep_to_the_scope() -> None:
    question = SMALL.questions[0]
    assert Bm25(SMALL).answer(question, 5).keys == ("new", "old")  # equal scores: the newer first
    assert Grep(SMALL).answer(question, 5).keys == ("new", "old")
    assert Recency(SMALL).answer(question, 5).keys == ("new", "tea", "old")
    everywhere = replace(question, key="e", scope=Scope())
    assert "far" in Bm25(SMALL).answer(everywhere, 5).keys
    assert {system.name for system in controls(SMALL, None)} == {"bm25", "grep", "recency"}
    for system in controls(SMALL, HashingEmbedder()):
        assert len(system.answer(question, 1).keys) <= 1
        assert system.answer(question, 5, 1).keys == ()


def test_the_subject_fills_a_store_in_the_order_of_time_and_supersedes(tmp_path: Path) -> None:
    with Subject(SMALL, tmp_path / "store.db", "hashing") as subject:
        answer = subject.answer(SMALL.questions[0], 5)
        assert answer.keys[0] == "new"
        assert not {"old", "far"} & set(answer.keys)
        assert answer.tokens > 0
        assert subject.answer(SMALL.questions[0], 5, 1).unsure


def test_two_items_that_say_the_same_are_found_by_both_keys(tmp_path: Path) -> None:
    twins = replace(SMALL, items=(_item("a", "Thanks a lot!", 1), _item("b", "Thanks a lot!", 1)))
    with Subject(twins, tmp_path / "store.db", "hashing") as subject:
        assert set(subject.answer(replace(SMALL.questions[0], text="thanks"), 5).keys) == {"a", "b"}


class Counting(HashingEmbedder):
    """The hashing embedder, counting the texts it was asked for."""

    asked = 0

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        self.asked += len(texts)
        return super().embed(texts, role)


def test_the_cache_gives_the_same_vectors_and_asks_once(tmp_path: Path) -> None:
    inner, texts = Counting(), ["one", "two", "one"]
    plain = HashingEmbedder().embed(texts, "document")
    assert np.array_equal(CachedEmbedder(inner, tmp_path).embed(texts, "document"), plain)
    assert inner.asked == 2
    again = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(again.embed(texts, "document"), plain)
    assert inner.asked == 2
    again.embed(["one"], "query")
    assert inner.asked == 3
    assert again.embed([], "query").shape == (0, inner.dimension)


def test_a_cache_cut_off_in_the_middle_of_a_record_is_mended(tmp_path: Path) -> None:
    CachedEmbedder(Counting(), tmp_path).embed(["one", "two"], "document")
    file = next(tmp_path.iterdir())
    file.write_bytes(file.read_bytes()[:-10])
    inner = Counting()
    mended = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(mended.embed(["one", "two"], "document"), HashingEmbedder().embed(["one", "two"], "document"))
    assert inner.asked == 1
    CachedEmbedder(inner, tmp_path).embed(["one", "two"], "document")
    assert inner.asked == 1


# -- the golden set ---------------------------------------------------------------------------------------------------

LEAST = {
    "decision": 8, "reason": 8, "incident": 8, "preference": 6, "procedure": 8, "fact": 8, "contradiction": 10,
    "time": 8, "multi-hop": 10, "paraphrase": 8, "identifier": 8, "unanswerable": 15,
}  # fmt: skip


def test_the_golden_set_is_well_formed() -> None:
    memories, questions = golden.lines(golden.MEMORIES), golden.lines(golden.QUESTIONS)
    keys = [one["key"] for one in memories]
    assert len(keys) == len(set(keys)) >= 220
    assert len(questions) == len({one["key"] for one in questions}) >= 80
    assert [one["valid_from"] for one in memories] == sorted(one["valid_from"] for one in memories)
    homes = {one["key"]: one.get("project", "") for one in memories}
    replaced = {old for one in memories for old in one.get("supersedes", ())}
    assert replaced <= homes.keys()
    for one in questions:
        answers, related, stale = (set(one.get(name, ())) for name in ("answers", "related", "stale"))
        same = one.get("same", {})
        assert answers | related | stale | same.keys() <= homes.keys(), one["key"]
        assert not answers & related, one["key"]
        assert not (answers | related) & stale, one["key"]
        assert set(same.values()) <= answers, one["key"]
        assert not (answers | related) & replaced, f"{one['key']}: what was superseded answers nothing"
        assert bool(answers) == (one["type"] != "unanswerable"), one["key"]
        assert one["type"] != "multi-hop" or 2 <= len(answers) <= 3, one["key"]
        if project := one.get("project"):
            assert all(homes[key] in ("", project) for key in answers | related | stale), one["key"]


def test_the_golden_set_has_enough_of_every_type_in_both_halves() -> None:
    questions = golden.lines(golden.QUESTIONS)
    types = Counter(one["type"] for one in questions)
    assert {name: types[name] for name, least in LEAST.items() if types[name] < least} == {}
    halves = Counter((one["type"], one["part"]) for one in questions)
    assert all(abs(halves[name, "dev"] - halves[name, "held"]) <= 1 for name in types)


def test_no_golden_question_is_copied_from_a_memory() -> None:
    told = [" ".join(str(value) for value in one.values()).lower() for one in golden.lines(golden.MEMORIES)]
    for one in golden.lines(golden.QUESTIONS):
        asked = one["question"].lower().strip(" ?.")
        assert not [text for text in told if asked in text], one["key"]


def test_the_golden_memories_are_in_the_import_format(opened: Any) -> None:
    memory = opened()
    taken = memory.import_(golden.MEMORIES)
    assert taken.created == len(golden.lines(golden.MEMORIES))
    assert taken.duplicate == taken.refused == 0
    assert taken.redacted == []
    assert set(taken.ignored) <= {"key", "supersedes"}


def test_golden_is_judged_by_answers_stale_ones_and_silence() -> None:
    labels = {"answers": frozenset("ab"), "stale": frozenset("s"), "abroad": frozenset("z")}
    question = Question("q", "?", frozenset("abrd"), ("multi-hop",), labels=labels, same={"d": "a"})
    found = golden.judge(question, Answer(tuple("sdrbz"), 10), Answer((), 0))
    assert found["current"] == 0  # the stale one stands before the answer
    assert found["leak"] == 1
    assert found["precision@5"] == 1 / 2  # two answers, so two places: the stale one, and one that repeats an answer
    assert found["related@5"] == 3 / 4
    assert found["recall@5"] == found["multi-hop@5"] == 1  # d says the same as a
    assert found["answered"] == 1
    assert golden.judge(question, Answer(tuple("as"), 10), Answer((), 0))["current"] == 1
    nothing = Question("n", "?", frozenset(), ("unanswerable",))
    assert golden.judge(nothing, Answer((), 0, unsure=True), Answer((), 0)) == {"abstained": 1}
    assert golden.judge(nothing, Answer(("x",), 5), Answer((), 0)) == {"abstained": 0}


def test_the_halves_of_the_golden_set_run_apart() -> None:
    options = replace(QUICK, controls=False, curve=False, every=4)
    slices = {part: run("golden", options=replace(options, part=part)).figures["recollect"] for part in ("dev", "held")}
    assert "dev" in slices["dev"].keys() - slices["held"].keys()
    assert "held" in slices["held"].keys() - slices["dev"].keys()


# -- report, picture, gate --------------------------------------------------------------------------------------------


def _report(**means: float) -> Report:
    row = {metric.replace("_", "@"): Figure(mean, mean - 0.01, mean + 0.01, 100) for metric, mean in means.items()}
    curve = {f"evidence@{budget}": Figure(0.5, 0.4, 0.6, 100) for budget in (128, 4096)}
    settings = {"data": "d", "model": "m", "part": "all"}
    headline = tuple(row)
    return Report("golden", {"recollect": {"all": row | curve, "fact": row}}, headline, {}, settings)


def test_the_gate_fails_on_a_drop_of_more_than_two_points() -> None:
    baseline = _report(precision_5=0.80, leak=0.00).as_dict()
    assert gate(_report(precision_5=0.80, leak=0.00), baseline) == []
    assert gate(_report(precision_5=0.95, leak=0.00), baseline) == []
    assert gate(_report(precision_5=0.78, leak=0.02), baseline) == []
    assert gate(_report(precision_5=0.779, leak=0.00), baseline) == ["precision@5 was 0.800 and is 0.779"]
    assert gate(_report(precision_5=0.80, leak=0.03), baseline) == ["leak was 0.000 and is 0.030"]


def test_the_gate_forgives_one_question_where_few_are_asked() -> None:
    def few(mean: float) -> Report:
        rows = {"recollect": {"all": {"multi-hop@5": Figure(mean, 0, 1, 10)}}}
        return Report("golden", rows, ("multi-hop@5",))

    assert gate(few(0.7), few(0.8).as_dict()) == []
    assert gate(few(0.6), few(0.8).as_dict()) != []


def test_the_gate_refuses_a_baseline_of_something_else() -> None:
    now = _report(precision_5=0.8)
    for change in ({"name": "locomo"}, {"settings": {"data": "other", "model": "m", "part": "all"}}):
        assert "make it anew" in gate(now, now.as_dict() | change)[0]
    gone = replace(now, figures={"recollect": {"all": {"hit@1": Figure(1, 1, 1, 1)}}})
    assert "not measured any more" in gate(gone, now.as_dict())[0]


def test_a_report_is_rendered_within_the_width() -> None:
    report = run("golden", options=replace(QUICK, every=6))
    for width in (60, 80, 120):
        shown = render(report, width)
        assert max(map(len, shown.splitlines())) <= width
        for word in ("precision@5", "recollect", "bm25", "contradiction", "Evidence within", "target"):
            assert word in shown
    assert json.loads(json.dumps(report.as_dict()))["provenance"]["python"]


def test_a_report_is_saved_with_its_curve(tmp_path: Path) -> None:
    path = save(_report(precision_5=0.8), tmp_path / "results")
    assert json.loads(path.read_text("utf-8"))["figures"]["recollect"]["all"]["precision@5"]["mean"] == 0.8
    assert path.with_suffix(".svg").exists()


def test_the_curve_is_well_formed_and_names_every_system() -> None:
    rows = {name: {128: 0.1, 512: 0.4, 4096: 0.9} for name in ("recollect", "bm25", "a <b> & c")}
    root = ElementTree.fromstring(draw("golden: <evidence> & tokens", rows))
    assert root.tag.endswith("svg")
    texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
    assert {"recollect 90", "bm25 90", "a <b> & c 90", "4,096", "100 %"} <= set(texts)
    places = sorted(float(n.get("y", 0)) for n in root.iter() if n.tag.endswith("text") and "90" in str(n.text))
    assert all(after - before >= 12 for before, after in pairwise(places))


def test_recall_is_as_good_as_the_baseline_with_the_real_model() -> None:
    began = time.process_time()
    load("default").warm()
    report = run("golden", options=Options(controls=False, curve=False))
    assert report.settings["model"] != "off"
    assert gate(report, json.loads(BASELINE.read_text("utf-8"))) == [], render(report, 110)
    assert time.process_time() - began < 120


def test_the_data_folder_is_found_by_argument_or_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "given" / "cosqa").mkdir(parents=True)
    (tmp_path / "told" / "cosqa").mkdir(parents=True)
    monkeypatch.setenv("RECOLLECT_DATA", str(tmp_path / "told"))
    assert corpus.place(None, "cosqa") == tmp_path / "told" / "cosqa"
    assert corpus.place(tmp_path / "given", "cosqa") == tmp_path / "given" / "cosqa"


def _entry_points(*found: EntryPoint) -> Callable[..., list[EntryPoint]]:
    return lambda group, name: [one for one in found if (one.group, one.name) == (group, name)]


def test_the_command_says_how_to_install_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "entry_points", _entry_points())
    done = CliRunner().invoke(cli, ["eval", "golden"], obj=[])
    assert done.exit_code != 0
    assert "pip install -e ./evaluation" in done.output


def test_an_installed_evaluation_is_a_command_and_its_readme_names_every_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = tomllib.loads((ROOT / "evaluation" / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    ((name, value),) = told["recollect.commands"].items()
    monkeypatch.setattr(upkeep, "entry_points", _entry_points(EntryPoint(name, value, "recollect.commands")))
    done = CliRunner().invoke(cli, ["eval", "--help"], obj=[])
    assert done.exit_code == 0
    assert " eval [OPTIONS] {golden" in done.output
    readme = (ROOT / "evaluation" / "README.md").read_text("utf-8")
    options = set(re.findall(r"--[a-z]+", done.output)) - {"--help"}
    assert len(options) > 5
    assert {option for option in options if f"`{option}" not in readme} == set()
    assert {name for name in NAMES if f"`{name}`" not in readme} == set()
    assert CliRunner().invoke(cli, ["eval", "unknown"], obj=[]).exit_code == 2
