"""Questions that want everything on a subject: told from others, answered longer, laid out by topic and time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect import Engine
from recollect.cli import present
from recollect.cli.present import Look
from recollect.ops import words
from recollect.recall import coverage
from recollect.recall.query import COVERED_LIMIT, COVERED_TOKENS, DEFAULT_LIMIT
from recollect.types import Recall

NOW = datetime(2026, 11, 1, tzinfo=UTC)
CACHE = (
    ("We put Redis in front of the catalogue as a cache.", "2026-01-10"),
    ("The Redis cache lost keys after the upgrade to 7, so we pinned 6.2.", "2026-03-02"),
    ("The keys of the cache begin with the tenant since two tenants saw each other's prices.", "2026-04-20"),
    ("Cached prices expire after five minutes.", "2026-02-14"),
    ("We moved the cache of images from Redis to the CDN.", "2026-05-30"),
    ("The CDN caches images for a day; a purge takes five minutes.", "2026-06-11"),
    ("Cache misses doubled in July because of a new crawler; robots.txt keeps it out now.", "2026-07-19"),
    ("The cache of sessions is Redis too, with an hour to live.", "2026-02-01"),
    ("Ana looks after the Redis cluster that holds the cache.", "2026-08-08"),
    ("We rejected Memcached as a cache because it has no replication.", "2026-01-05"),
    ("The build cache of CI lives in an S3 bucket and is emptied on Sundays.", "2026-09-01"),
    ("The cache is warmed after each deploy by replaying the hundred busiest pages.", "2026-09-12"),
)
OTHERS = (
    "Billing runs at night.", "Ben prefers tabs.", "The office has moved to Lyon.", "Invoices are numbered by year.",
    "Deploys happen on Thursdays because support is fully staffed then.",
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path: Path = tmp_path_factory.mktemp("coverage") / "store.db"
    with recollect.open(path, now=lambda: NOW) as engine:
        for said, day in CACHE:
            engine.remember(said, valid_from=f"{day}T09:00:00Z")
        engine.remember_many(OTHERS)
        yield engine


def dates(found: Recall, ids: tuple[str, ...]) -> list[datetime]:
    by_id = {hit.memory.id: hit.memory for hit in found.hits}
    return [by_id[id].valid_from or by_id[id].created_at for id in ids]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("list everything we decided about the queue", True),
        ("Tell me everything you know about Marta", True),
        ("summarize what we did about the slow builds", True),
        ("all the incidents we had with certificates", True),
        ("who owns the order service?", False),
        ("which port does the list endpoint use?", False),
        ("why did we choose Postgres?", False),
        ("write a function that lists files", False),
    ],
)
def test_a_question_that_wants_everything_is_told_from_others(memory: Engine, question: str, wanted: bool) -> None:
    assert bool(memory.recall(question).groups) == wanted


def test_an_answer_to_everything_is_longer_and_laid_out_by_topic_and_time(memory: Engine) -> None:
    found = memory.recall("list everything we know about the cache")
    assert DEFAULT_LIMIT < len(found.hits) <= COVERED_LIMIT
    about = {hit.memory.content for hit in found.hits}
    assert sum(said in about for said, _ in CACHE) >= len(CACHE) - 1
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    told = [id for group in found.groups for id in group.memories]
    assert sorted(told) == sorted(hit.memory.id for hit in found.hits)
    assert len(found.groups) > 1
    for group in found.groups:
        assert dates(found, group.memories) == sorted(dates(found, group.memories))


def test_what_happened_in_which_order_is_one_list_in_the_order_of_time(memory: Engine) -> None:
    found = memory.recall("list in order everything we did about the cache")
    assert len(found.groups) == 1
    assert dates(found, found.groups[0].memories) == sorted(dates(found, found.groups[0].memories))


def test_limits_of_the_caller_hold(memory: Engine) -> None:
    asked = "list everything we know about the cache"
    assert len(memory.recall(asked, limit=4).hits) == 4
    few = memory.recall(asked, max_tokens=60)
    assert 0 < few.tokens <= 60
    assert memory.recall(asked).tokens <= COVERED_TOKENS


def test_every_surface_lays_the_answer_out(memory: Engine) -> None:
    found = memory.recall("list everything we know about the cache")
    topic = found.groups[0].topic
    first = found.laid_out[0][1][0].memory
    read = words.recalled(found, NOW)
    assert words.COVERED in read
    assert f"\n{topic}:\n" in read
    assert topic in present.recalled(found, Look())
    assert found.as_dict()["groups"][0] == {"topic": topic, "memories": list(found.groups[0].memories)}
    assert first.id == found.groups[0].memories[0]


def test_a_context_tells_everything_in_its_order(memory: Engine) -> None:
    made = memory.context("list everything we know about the cache", budget=4000)
    knowledge = next(block for block in made.blocks if block.name == "knowledge")
    found = memory.recall("list everything we know about the cache", limit=20)
    order = [id for group in found.groups for id in group.memories]
    assert list(knowledge.memories) == [id for id in order if id in knowledge.memories]
    assert len(knowledge.memories) >= len(CACHE) - 1


def test_an_answer_to_everything_has_a_line_for_each_memory(memory: Engine) -> None:
    answered = memory.answers.ask("list everything we know about the cache of the shop")
    assert answered.answer is None or len(answered.sources) > 3


def test_words_alone_decide_without_the_packaged_vector() -> None:
    fitted = coverage.load()
    assert fitted.probability("list all the decisions about the queue", None) > coverage.WANTED
    assert fitted.probability("who owns the queue?", None) < coverage.WANTED
