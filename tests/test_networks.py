"""The four networks: which one a memory belongs to, filters, labels, and opinions that evidence moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

import recollect
from conftest import Opener, Places
from recollect import Memory, Refused
from recollect.remember.belief import network_of
from recollect.store import sqlite_file
from recollect.types import NETWORKS, Draft


@pytest.mark.parametrize(
    ("kind", "content", "source", "network"),
    [
        ("fact", "The gateway listens on port 8443.", "", "world"),
        ("rule", "Use pnpm in the monorepo.", "", "world"),
        ("fact", "We use pnpm everywhere.", "", "world"),
        ("fact", "We shared the bucket with Ops.", "", "world"),
        ("fact", "We deployed version 4.2 to staging.", "", "bank"),
        ("fact", "Yesterday, we rolled back the release.", "", "bank"),
        ("fact", "raise the timeout", "commit", "bank"),
        ("commit", "fix: retries", "", "bank"),
        ("decision", "Sessions live in Redis.", "", "bank"),
        ("fact", "The retry code is too clever.", "", "opinion"),
        ("insight", "Releases on Thursday go well.", "", "observation"),
        ("fact", "I think the cache is fragile.", "", "opinion"),
        ("preference", "Ana likes small commits.", "", "opinion"),
        ("summary", "auth-service: three incidents.", "", "observation"),
    ],
)
def test_the_network_follows_from_source_kind_and_words(kind: str, content: str, source: str, network: str) -> None:
    assert network_of(kind, content, source) == network


def remember_all(memory: Any) -> dict[str, str]:
    texts = {
        "world": "The gateway cache listens on port 8443.",
        "bank": "We deployed the gateway cache to staging.",
        "opinion": "I think the gateway cache is fragile.",
        "observation": "gateway cache: a summary of two incidents.",
    }
    kinds = {"observation": "summary"}
    return {name: memory.remember(said, kind=kinds.get(name, "fact")).id for name, said in texts.items()}


def test_every_read_takes_a_network(memory: Any) -> None:
    stored = remember_all(memory)
    for network in NETWORKS:
        only = [stored[network]]
        assert [one.id for one in memory.list(networks=[network]).memories] == only
        assert [hit.memory.id for hit in memory.recall("gateway cache", networks=[network])] == only
        told = memory.context("gateway cache", networks=[network])
        assert {id for block in told.blocks for id in block.memories} <= set(only)
        cited = {source["memory"] for source in memory.answers.ask("gateway cache?", networks=[network]).sources}
        assert cited <= set(only)
    old_name = memory.list(networks=["experience"]).memories
    assert [one.id for one in old_name] == [stored["bank"]], "the name of before still works"


def test_a_context_labels_an_opinion(memory: Any) -> None:
    memory.remember("I think the gateway cache is fragile.", confidence=0.6)
    assert 'kind="opinion (0.6)"' in memory.context("gateway cache").text


def test_evidence_moves_an_opinion_and_the_history_says_so(memory: Any) -> None:
    opinion = memory.remember("I think the gateway cache is fragile.", confidence=0.6).id
    fact = memory.remember("The cache lost its keys again.", kind="incident", refs=["INC-12"]).id
    memory.link(fact, "supports", opinion)
    assert memory.get(opinion).confidence == 0.8
    assert memory.why(opinion).confidence == ("0.6 -> 0.8 after INC-12",)
    memory.link(fact, "supports", opinion)
    assert memory.get(opinion).confidence == 0.8, "the same evidence counts once"
    calm = memory.remember("The gateway ran a year without an outage.", title="A calm year").id
    memory.link(calm, "contradicts", opinion)
    assert memory.why(opinion).confidence[-1] == "0.8 -> 0.4 after A calm year"


def test_an_opinion_moves_no_opinion_and_carries_no_fact(memory: Any) -> None:
    opinion = memory.remember("I think the gateway cache is fragile.", confidence=0.6).id
    other = memory.remember("I think the gateway cache is fine.", confidence=0.9).id
    memory.link(other, "contradicts", opinion)
    assert memory.get(opinion).confidence == 0.6
    fact = memory.remember("The gateway cache listens on port 8443.").id
    with pytest.raises(Refused, match="opinion"):
        memory.link(fact, "derived_from", opinion)


BEFORE = (
    "update memory set network = 'experience'",
    "delete from migration where name = 'networks'",
    "drop index memory_network",
)


def test_a_database_with_the_old_name_is_migrated(opened: Opener, place: Places, backend: str) -> None:
    with opened() as memory:
        id = memory.remember("Sessions live in Redis.", kind="decision").id
    if backend == "sqlite":
        con: Any = sqlite_file.connect(Path(place()), 1)
    else:
        con = psycopg.connect(place(), autocommit=True, options="-c recollect.tenant=default")
    for statement in BEFORE:
        con.execute(statement)
    con.close()
    again = opened()
    assert again.get(id).network == "bank"
    assert [one.id for one in again.list(networks=["bank"]).memories] == [id]


def test_a_line_of_an_older_export_is_read() -> None:
    line = {**Memory("a", "x").as_dict(), "network": "experience"}
    assert Memory.from_dict(line).network == "bank"
    assert Draft("x", network="experience").network == "experience"


def test_a_recalled_opinion_tells_how_it_moved(memory: recollect.Engine) -> None:
    opinion = memory.remember("I think the gateway cache is fragile.", confidence=0.6)
    proof = memory.remember("The gateway cache lost its keys again, INC-12.", kind="incident", refs=["INC-12"])
    memory.link(proof.id, "supports", opinion.id)
    hit = next(one for one in memory.recall("is the gateway cache fragile?").hits if one.memory.id == opinion.id)
    assert hit.why.endswith("believed 0.6 -> 0.8 after INC-12")


def test_a_state_is_read_from_the_networks_asked_for(memory: recollect.Engine) -> None:
    memory.remember("The gateway timeout is 5 s.")
    memory.remember("We raised the gateway timeout to 60 s.", kind="decision")
    values = {
        network: [one.value for one in memory.state("gateway", networks=[network] if network else []).attributes]
        for network in ("", "world", "bank")
    }
    assert values == {"": ["60 s"], "world": ["5 s"], "bank": ["60 s"]}
    assert memory.recall_next("the gateway timeout", networks=["world"]).hits[0].memory.network == "world"
