"""Embedders on a server: the contract of tests/test_embedder.py for each, and what only a server can do wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from providers import KEY, Naps, Reply, Server
from recollect.errors import BadAnswer, BadInput, ModelUnavailable, ProviderRefused, ProviderUnavailable
from recollect.models import remote
from recollect.models.embedder import load
from recollect.models.http import Patience
from recollect.models.remote import BATCH, READ, RemoteEmbedder
from test_embedder import NOTES
from test_embedder import test_a_text_has_one_vector_whatever_stands_beside_it as test_a_text_has_one_vector
from test_embedder import test_a_text_instead_of_a_list_and_an_unknown_role_are_refused as test_misuse_is_refused
from test_embedder import test_any_text_gives_a_finite_unit_vector as test_any_text_gives_a_finite_unit_vector
from test_embedder import test_every_row_is_a_unit_vector_of_the_stated_dimension as test_every_row_is_a_unit_vector
from test_embedder import test_near_identical_texts_are_close as test_near_identical_texts_are_close
from test_embedder import (
    test_of_an_overlong_text_the_beginning_counts_and_empty_texts_are_alike as test_overlong_and_empty_texts,
)

__all__ = [
    "test_a_text_has_one_vector", "test_any_text_gives_a_finite_unit_vector", "test_every_row_is_a_unit_vector",
    "test_misuse_is_refused", "test_near_identical_texts_are_close", "test_overlong_and_empty_texts",
]  # fmt: skip

KEYS = {"OPENAI_API_KEY": KEY, "GEMINI_API_KEY": KEY, "VOYAGE_API_KEY": KEY}
URLS = {
    "nomic": "ollama://{host}/nomic-embed-text",
    "mxbai": "ollama://{host}/mxbai-embed-large",
    "minilm": "ollama://{host}/all-minilm:l6-v2",
    "openai": "openai://text-embedding-3-small?base=http://{host}/v1",
    "compatible": "http://{host}/v1?model=org/unheard-of&key=OPENAI_API_KEY",
    "gemini": "gemini://gemini-embedding-001?base=http://{host}/v1beta",
    "voyage": "voyage://voyage-4-lite?base=http://{host}/v1",
}
SIZES = {"nomic": 768, "mxbai": 1024, "minilm": 384, "openai": 1536, "compatible": 1024, "gemini": 768, "voyage": 1024}
PASSAGES = "Represent this sentence for searching relevant passages: "


@pytest.fixture(scope="module", autouse=True)
def _keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(autouse=True)
def _fresh(server: Server) -> None:
    server.script.clear()
    server.asked.clear()
    server.silent = False


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture(params=sorted(URLS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def embedder(server: Server, naps: Naps, name: str) -> RemoteEmbedder:
    return made(server, naps, name)


def made(server: Server, naps: Naps, name: str, more: str = "", **patience: Any) -> RemoteEmbedder:
    return remote.load(URLS[name].format(host=server.host) + more, Patience(sleep=naps, chance=lambda: 0.0, **patience))


def test_the_setting_embedder_takes_the_url(server: Server, name: str) -> None:
    found = load(URLS[name].format(host=server.host))
    assert found.dimension == SIZES[name]
    assert found.embed(["a note"], "document").shape == (1, SIZES[name])


def test_the_stamp_names_provider_model_and_size_and_not_the_server(embedder: RemoteEmbedder, server: Server) -> None:
    assert embedder.model.endswith(f"/{embedder.dimension}/1")
    assert server.host not in embedder.model


def test_a_vector_is_the_same_in_another_process(embedder: RemoteEmbedder, server: Server, name: str) -> None:
    url = URLS[name].format(host=server.host)
    code = f"from recollect.models.embedder import load; print(load({url!r}).embed(['note'], 'query').tobytes().hex())"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **KEYS}
    )  # fmt: skip
    assert told.stdout.strip() == embedder.embed(["note"], "query").tobytes().hex()
    assert told.stderr == ""


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("nomic", "search_query: who?", "search_document: me"),
        ("mxbai", f"{PASSAGES}who?", "me"),
        ("minilm", "who?", "me"),
        ("openai", "who?", "me"),
    ],
)
def test_roles_are_the_prefixes_the_model_was_trained_with(
    server: Server, naps: Naps, name: str, query: str, document: str
) -> None:
    embedder = made(server, naps, name)
    embedder.embed(["who?"], "query")
    embedder.embed(["me"], "document")
    assert [one.body["input"] for one in server.asked] == [[query], [document]]


def test_roles_are_the_words_the_provider_has_for_them(server: Server, naps: Naps) -> None:
    gemini, voyage = made(server, naps, "gemini"), made(server, naps, "voyage")
    for role in ("query", "document"):
        gemini.embed(["text"], role)
        voyage.embed(["text"], role)
    tasks = [one.body["requests"][0]["taskType"] for one in server.asked if "requests" in one.body]
    assert tasks == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    assert [one.body["input_type"] for one in server.asked if "input" in one.body] == ["query", "document"]
    assert {one.body["requests"][0]["outputDimensionality"] for one in server.asked if "requests" in one.body} == {768}


def test_the_second_gemini_model_has_prefixes_and_no_task_types(server: Server, naps: Naps) -> None:
    url = f"gemini://gemini-embedding-2?base=http://{server.host}/v1beta"
    remote.load(url, Patience(sleep=naps)).embed(["who?"], "query")
    (one,) = server.asked[0].body["requests"]
    assert "taskType" not in one
    assert one["content"]["parts"][0]["text"] == "task: search result | query: who?"


def test_many_texts_go_in_batches_and_come_back_in_order(embedder: RemoteEmbedder, server: Server) -> None:
    texts = [f"{note} {n}" for n in range(6) for _, note in NOTES]
    embedder.warm()
    server.asked.clear()
    together, spent = embedder.embed_counted(texts, "document")
    assert len(server.asked) == -(-len(texts) // BATCH) == 3
    np.testing.assert_array_equal(together[[5, 70, 143]], embedder.embed([texts[n] for n in (5, 70, 143)], "document"))
    assert spent.tokens_in > 0


def test_large_texts_go_in_smaller_batches(server: Server, naps: Naps) -> None:
    made(server, naps, "nomic").embed(["word " * 4000] * 60, "document")
    assert max(len(json.dumps(one.body)) for one in server.asked) < 250_000
    assert max(len(text) for one in server.asked for text in one.body["input"]) <= READ + 20


def test_blank_texts_are_not_sent(embedder: RemoteEmbedder, server: Server) -> None:
    embedder.warm()
    server.asked.clear()
    rows, spent = embedder.embed_counted(["", " \n"], "document")
    assert server.asked == []
    assert spent.tokens_in == 0
    np.testing.assert_array_equal(rows[0], rows[1])


def test_tokens_are_the_providers_or_estimated(server: Server, naps: Naps) -> None:
    texts = ["one text", "another text"]
    assert made(server, naps, "nomic").embed_counted(texts, "document")[1].tokens_in == 14
    assert made(server, naps, "voyage").embed_counted(texts, "document")[1].tokens_in == 10
    assert made(server, naps, "gemini").embed_counted(texts, "document")[1].estimated
    server.silent = True
    assert made(server, naps, "openai").embed_counted(texts, "document")[1].estimated


@pytest.mark.parametrize(("name", "field"), [("openai", "dimensions"), ("voyage", "output_dimension")])
def test_another_dimension_is_asked_for_and_stamped(server: Server, naps: Naps, name: str, field: str) -> None:
    embedder = made(server, naps, name, "&dimension=512")
    assert embedder.embed(["text"], "query").shape == (1, 512)
    assert server.asked[0].body[field] == 512
    assert embedder.model.endswith("/512/1")


def answer(name: str, rows: list[Any]) -> dict[str, Any]:
    if name in ("nomic", "mxbai", "minilm"):
        return {"embeddings": rows}
    if name == "gemini":
        return {"embeddings": [{"values": row} for row in rows]}
    return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}


def test_vectors_of_another_size_are_refused(embedder: RemoteEmbedder, server: Server, name: str) -> None:
    embedder.warm()
    server.script = [Reply(200, answer(name, [[0.1] * 512]))]
    with pytest.raises(BadAnswer, match=f"gave 512 numbers where {SIZES[name]} were expected"):
        embedder.embed(["text"], "document")


@pytest.mark.parametrize(
    "value", [0.0, None, "a", float("nan"), float("inf"), 1e400, [1.0]], ids=lambda value: str(value)[:8]
)
def test_vectors_that_are_none_are_refused(embedder: RemoteEmbedder, server: Server, name: str, value: Any) -> None:
    embedder.warm()
    server.script = [Reply(200, answer(name, [[value] * SIZES[name]]))]
    with pytest.raises(BadAnswer):
        embedder.embed(["text"], "document")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_another_number_of_vectors_is_refused(embedder: RemoteEmbedder, server: Server, name: str, count: int) -> None:
    embedder.warm()
    server.script = [Reply(200, answer(name, [[0.1] * SIZES[name]] * count))]
    with pytest.raises(BadAnswer, match=f"{count} vectors for 2 texts|not its provider's"):
        embedder.embed(["one", "two"], "document")


def test_a_vector_told_twice_is_refused(server: Server, naps: Naps) -> None:
    row = {"index": 0, "embedding": [0.1] * 1536}
    server.script = [Reply(200, {"data": [row, row]})]
    with pytest.raises(BadAnswer):
        made(server, naps, "openai").embed(["one", "two"], "document")


@pytest.mark.parametrize("body", [b"<html>", b"[]", {"data": None, "embeddings": None}, {"embeddings": 5, "data": [5]}])
def test_a_body_of_another_form_is_refused(embedder: RemoteEmbedder, server: Server, body: Any) -> None:
    embedder.warm()
    server.script = [Reply(200, body)]
    with pytest.raises(BadAnswer):
        embedder.embed(["text"], "document")


def test_a_busy_or_broken_server_is_asked_again(embedder: RemoteEmbedder, server: Server, naps: Naps) -> None:
    embedder.warm()
    server.script = [Reply(429, {}, {"Retry-After": "3"}), Reply(503, b""), Reply(200, {"a": "b" * 99}, short=True)]
    assert embedder.embed(["text"], "document").shape == (1, embedder.dimension)
    assert naps.taken == [3.0, 1.0, 2.0]


def test_a_silent_server_is_given_up(server: Server, naps: Naps, name: str) -> None:
    embedder = made(server, naps, name, timeout=0.2, tries=2)
    server.script = [Reply(late=30.0)] * 2
    with pytest.raises(ProviderUnavailable, match="in time"):
        embedder.embed(["text"], "query")


def test_a_question_is_given_up_sooner_than_a_batch() -> None:
    assert remote.QUESTION.timeout * remote.QUESTION.tries < remote.BULK.timeout


def test_a_server_that_did_not_answer_is_left_alone_by_questions_for_a_while(server: Server, naps: Naps) -> None:
    moment = [100.0]
    embedder = made(server, naps, "nomic", tries=1, clock=lambda: moment[0])
    server.script = [Reply(503, b"")]
    with pytest.raises(ProviderUnavailable, match="answered 503"):
        embedder.embed(["text"], "query")
    with pytest.raises(ProviderUnavailable, match="a moment ago"):
        embedder.embed(["text"], "query")
    assert len(server.asked) == 1
    embedder.embed(["work that can wait is tried"], "document")
    moment[0] += remote.REST
    assert embedder.embed(["text"], "query").shape == (1, 768)


def test_a_server_that_fails_in_the_middle_costs_no_memory_and_no_answer(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    import recollect

    monkeypatch.setattr(remote, "QUESTION", Patience(tries=1))
    monkeypatch.setattr(remote, "BULK", Patience(tries=1))
    with recollect.open(tmp_path / "my.db", embedder=f"ollama://{server.host}/nomic-embed-text") as memory:
        kept = memory.remember("Ana owns billing.")
        server.script = [Reply(500, b"")] * 2
        also = memory.remember("Ben owns search.")
        assert "stored without vectors" in caplog.text
        memory.edit(also.id, content="Ben owns search and login.")
        found = memory.recall("who owns search and billing?")
        assert {hit.memory.id for hit in found} == {kept.id, also.id}
        assert "vector: " in found.skipped[0]
        assert memory.embed() == 1
        assert {row["operation"] for row in memory.spending.report()["rows"]} == {"embed"}


def test_a_wrong_key_is_told_without_it(server: Server, naps: Naps, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "sk-wrong-77aa66bb55cc44dd"
    for variable in KEYS:
        monkeypatch.setenv(variable, wrong)
    for name in ("openai", "gemini", "voyage"):
        with pytest.raises(ProviderRefused) as raised:
            made(server, naps, name).embed(["text"], "query")
        assert wrong not in f"{raised.value} {raised.value.__cause__!r}"


@pytest.mark.parametrize(
    "url", ["anthropic://claude-haiku-4-5", "ftp://x/y", "voyage://", "ollama://h/m?dimension=1.5"]
)
def test_what_is_no_embedder_is_refused(url: str) -> None:
    with pytest.raises(BadInput):
        load(url)


def test_a_missing_key_leaves_words_to_search_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    import recollect

    monkeypatch.delenv("VOYAGE_API_KEY")
    with pytest.raises(ModelUnavailable, match="VOYAGE_API_KEY"):
        load("voyage://voyage-4")
    with recollect.open(tmp_path / "my.db", embedder="voyage://voyage-4") as memory:
        memory.remember("Ana owns billing.")
        found = memory.recall("who owns billing?")
        assert [hit.memory.content for hit in found] == ["Ana owns billing."]
        assert "VOYAGE_API_KEY" in found.skipped[0]
