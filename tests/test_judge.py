"""When a cached answer may be served: the normal form, each guard, the two sets of our own, and labelled pairs."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from recollect import BadInput
from recollect.answers import judge as judging
from recollect.answers.asking import kind
from recollect.answers.direction import word_for_word
from recollect.answers.guards import objections, strict
from recollect.answers.judge import OFFER, SAME_WORDS, SERVE, Judgement, judge
from recollect.answers.normal import key, normal
from recollect.answers.reading import read
from recollect.answers.two import Two
from recollect.models.embedder import load
from recollect_eval.answers import measure, pairs
from recollect_eval.corpus import place, read_json

RARITY = judging.load().rarity


# -- the normal form --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is the default port?", "what's the  DEFAULT port"),
        ("Hi there, what is CI?", "What is CI, please?!"),
        ("Why doesn’t it start?", "why doesn't it start"),
        ("Can't we deploy?", "can not we deploy"),
    ],
)
def test_the_same_question_has_one_key(one: str, other: str) -> None:
    assert normal(one) == normal(other)
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What is in .env?", "What is in env?"),
        ("Does `Foo` work?", "Does `foo` work?"),
        ("What is 1.0?", "What is 10?"),
        ("What is C?", "What is C++?"),
        ("Is it on?", "Is it not on?"),
        ("from a to b", "from b to a"),
        ("What does -v do?", "What does -V do?"),
        ("Where is max_size set?", "Where is MAX_SIZE set?"),
        ("Where is getUser?", "Where is GetUser?"),
        ("How do I git add .", "How do I git add"),
    ],
)
def test_what_changes_the_meaning_changes_the_key(one: str, other: str) -> None:
    assert key(one) != key(other)


def test_a_question_of_nothing_but_signs_or_manners_is_still_itself() -> None:
    assert normal("???") != normal("!!!") or normal("???") == "???"
    assert normal("please") == "please"
    assert normal("") == ""


# -- guards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guard", "one", "other"),
    [
        ("numbers", "Does it need 5 workers?", "Does it need five hundred workers?"),
        ("numbers", "What changed in v2.1?", "What changed in v2.2?"),
        ("dates", "What broke on Monday?", "What broke on Tuesday?"),
        ("dates", "Who was on call last week?", "Who was on call last month?"),
        ("code", "What does parse_header do?", "What does parse_footer do?"),
        ("code", "What is in src/a/x.py?", "What is in src/a/y.py?"),
        ("code", "What does --force do?", "What does --quiet do?"),
        ("named", "How do I query Postgres?", "How do I query Redis?"),
        ("environments", "How do I deploy to prod?", "How do I deploy to staging?"),
        ("polarity", "Which tables are replicated?", "Which tables are not replicated?"),
        ("polarity", "How do I lock it?", "How do I unlock it?"),
        ("polarity", "Are drafts visible to others?", "Are drafts invisible to others?"),
        ("polarity", "What runs before the hook?", "What runs after the hook?"),
        ("actions", "How do I rename a column?", "How do I drop a column?"),
        ("direction", "How do I convert JSON to YAML?", "How do I convert YAML to JSON?"),
        ("direction", "Does the worker call the scheduler?", "Does the scheduler call the worker?"),
        ("direction", "How do I run the server without the client?", "How do I run the client without the server?"),
        ("direction", "What can an owner do that an editor cannot?", "What can an editor do that an owner cannot?"),
        ("direction", "Who mentors Kim?", "Who does Kim mentor?"),
        ("direction", "How do I upload to the bucket?", "How do I upload from the bucket?"),
        ("direction", "Who taught Kim?", "Who did Kim teach?"),
        ("direction", "Does my branch need a review?", "Does your branch need a review?"),
        ("direction", "What is the plugin billed for?", "What is the plugin billed by?"),
        ("direction", "Can I start it as root?", "Can I start it with root?"),
        ("direction", "May a team hold two rooms?", "May a room hold two teams?"),
        ("actions", "Did the proxy do the redirect?", "Was the proxy the redirect?"),
        ("scope", "Is any backup encrypted?", "Is the backup encrypted?"),
        ("scope", "Does either replica lag?", "Does our replica lag?"),
        ("numbers", "What does exit code -1 mean?", "What does exit code 1 mean?"),
        ("dates", "Does the cron fire at 2 am?", "Does the cron fire at 2 p.m.?"),
        ("code", "What does && do in the shell?", "What does || do in the shell?"),
        ("code", "Where is max_size set?", "Where is MAX_SIZE set?"),
        ("code", "What does cp -r do?", "What does cp -R do?"),
        ("leftover", "How do I charge $5?", "How do I charge €5?"),
        ("polarity", "Can I run it with Docker?", "Can I run it without Docker?"),
        ("polarity", "Which client is cheaper?", "Which client is more expensive?"),
        ("actions", "When does the schedule start?", "When does the scheduler start?"),
        ("asks", "What must be in the description?", "What may be in the description?"),
        ("tenses", "Who approved the release?", "Who approves the release?"),
        ("tenses", "What has been migrated?", "What is being migrated?"),
        ("scope", "Do all services emit traces?", "Do some services emit traces?"),
        ("scope", "What is the quota per user?", "What is the quota per team?"),
        ("asks", "Why do we use Redis?", "How do we use Redis?"),
        ("tenses", "What did we use for caching?", "What do we use for caching?"),
        ("scope", "What is the default timeout?", "What is the maximum timeout?"),
        ("leftover", "How do I restart the service?", "How do I restart the webhook service?"),
    ],
)
def test_each_guard_sees_its_difference(guard: str, one: str, other: str) -> None:
    for asked, known in ((one, other), (other, one)):
        assert guard in objections(Two(read(asked), read(known)), RARITY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I delete a branch?", "How can I remove a branch?"),
        ("How do I log in?", "How can I sign in?"),
        ("Why is 1,000 the limit?", "Why is 1000 the limit?"),
        ("What is the difference between Redis and Kafka?", "What is the difference between Kafka and Redis?"),
        ("How do I sort a list in Python?", "In Python, how do I sort a list?"),
        ("What does `getUser` do?", "What does getUser do?"),
        ("What's the best way to run tests?", "How do I run tests?"),
        ("How do I connect the worker to Redis?", "How do I connect the worker with Redis?"),
        ("What can I do to run tests?", "What is the way to run tests?"),
        ("How do I do a backup?", "How is a backup done?"),
        ("Is there any backup of the logs?", "Is there a backup of the logs?"),
    ],
)
def test_what_is_said_otherwise_is_not_objected_to(one: str, other: str) -> None:
    assert objections(Two(read(one), read(other)), RARITY) == {}


def test_technical_talk_is_known_by_its_words() -> None:
    def technical(question: str) -> bool:
        return strict(Two(read(question), read(question)), RARITY)

    assert technical("How do I rebase on main?")
    assert technical("What does parse_header do?")
    assert not technical("Why do people like old movies?")


def test_the_kind_of_a_question_is_what_it_wants_to_know() -> None:
    told = {
        "How come it fails?": "why", "What is the number of workers?": "how many", "Which team owns it?": "who",
        "In which file is it?": "where", "What time is it?": "when", "Is there a way to skip it?": "how",
        "Does it work?": "whether", "Explain it": "",
    }  # fmt: skip
    assert {question: kind(question) for question in told} == told


# -- the judge --------------------------------------------------------------------------------------------------------


def test_a_refusal_is_never_outvoted_by_likeness() -> None:
    judged = judge("How do I enable SSO?", "How do I disable SSO?", 1.0)
    assert judged.refusals
    assert judged.verdict != "serve"
    assert Judgement(1.0, ("another number",)).verdict == "offer"
    assert OFFER < SAME_WORDS < SERVE


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("how to set the default of the DB?", True),
        ("How can I set the default of the database?", True),
        ("How do you set the database default?", False),  # another order, which may be another thing
        ("How do I set the default from the database?", False),
        ("How do I set the default of the databases for it?", False),
    ],
)
def test_less_likeness_is_enough_for_the_same_words_in_technical_talk(other: str, same: bool) -> None:
    asked = "How do I set the default of the database?"
    assert word_for_word(Two(read(asked), read(other))) is same
    assert (judge(asked, other, 1.0).needed == SAME_WORDS) is same


def test_everyday_talk_is_never_served_for_less() -> None:
    assert judge("How do I sleep well?", "How can I sleep well?", 1.0).needed == SERVE


@pytest.mark.parametrize("odd", ["", "   ", "???", "😀", "\ud83d", "a" * 100_000, "`", '"', "東京はどこですか"])
def test_any_text_is_judged_without_an_error(odd: str) -> None:
    for asked, known in ((odd, "What is CI?"), ("What is CI?", odd), (odd, odd)):
        assert 0 <= judge(asked, known, 0.5).probability <= 1


def test_which_was_asked_first_says_nothing() -> None:
    model = load()
    one, other = "How do I revert a commit?", "How can I undo a commit?"
    a, b = model.embed([one, other], "query")
    there, back = judge(one, other, float(a @ b), (a, b)), judge(other, one, float(a @ b), (b, a))
    assert there.probability == pytest.approx(back.probability, abs=1e-4)
    assert len(there.refusals) == len(back.refusals)


def test_vectors_of_another_model_are_not_used() -> None:
    model = load("hashing")
    a, b = model.embed(["What is CI?", "What's CI?"], "query")
    assert judge("What is CI?", "What's CI?", 0.9, (a[:7], b[:7])) == judge("What is CI?", "What's CI?", 0.9)


@pytest.mark.parametrize("part", ["dev", "held"])
def test_what_must_be_refused_is_never_served(part: str) -> None:
    chosen = [pair for pair in pairs("refuse") if pair.part == part]
    # What a guard forbids, it forbids whatever the vectors are: only the others have to be embedded.
    passed = [pair for pair in chosen if not judge(pair.asked, pair.known, 1.0).refusals]
    judged = measure.verdicts(passed, load())
    assert [pair for pair, one in zip(passed, judged, strict=True) if one.verdict == "serve"] == []
    assert not any(key(pair.asked) == key(pair.known) for pair in chosen)


@pytest.mark.parametrize("part", ["dev", "held"])
def test_most_of_what_asks_the_same_is_served_or_offered(part: str) -> None:
    chosen = [pair for pair in pairs("hit") if pair.part == part]
    found = [one.verdict != "miss" for one in measure.verdicts(chosen, load())]
    assert sum(found) >= 0.8 * len(found)


def test_our_own_sets_are_large_and_nothing_is_in_them_twice() -> None:
    assert len(pairs("refuse")) >= 800
    assert len(pairs("hit")) >= 270
    for name in ("refuse", "hit"):
        every = [frozenset((pair.asked, pair.known)) for pair in pairs(name)]
        assert len(every) == len(set(every))
        assert all(len(pair) == 2 for pair in every)


def test_labelled_pairs_are_served_precisely() -> None:
    """A sample of the public pairs; the whole of them is measured by `recollect eval answers`."""
    try:
        told = read_json(place(None, "qqp") / "pairs_dev.json.gz")
    except BadInput as error:
        pytest.skip(f"the public data is not here, nothing was checked: {error}")
    sample = random.Random(7).sample(told, 500)
    model = load()
    one, other = (model.embed([pair[side] for pair in sample], "query") for side in ("text_a", "text_b"))
    served = [
        pair["label"]
        for pair, a, b in zip(sample, one, other, strict=True)
        if judge(pair["text_a"], pair["text_b"], float(a @ b), (a, b)).verdict == "serve"
    ]
    assert len(served) >= 20
    assert sum(served) / len(served) >= 0.85  # of some fifty pairs; the figure of all of them is in the report


def test_the_report_is_told_drawn_and_saved(tmp_path: Path) -> None:
    figures = {"precision": 0.95, "recall": 0.4, "false hits": 0.01, "served": 10}
    hits = {"hits": 0.1, "right": 0.9, "wrong": 0.05, "unjudged": 0.05}
    found = {
        "settings": {"pairs": 10, "model": "m"}, "served": figures, "at cosine": {"0.85": figures},
        "recall at": {way: {str(p): 0.5 for p in measure.PRECISIONS} for way in measure.WAYS},
        "curve": {way: [[0.1, 0.99], [0.5, 0.9]] for way in measure.WAYS}, "simulation": {"ours": hits},
        "own": {name: {"dev": {"pairs": 2, "serve": 0, "offer": 1, "miss": 1}} for name in ("refuse", "hit")},
    }  # fmt: skip
    assert "precision 95.0, recall 40.0" in measure.render(found)
    path = measure.save(found, tmp_path)
    assert json.loads(path.read_text("utf-8")) == found
    assert ElementTree.parse(path.with_suffix(".svg")).getroot().tag.endswith("svg")
