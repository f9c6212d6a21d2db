"""The contract of a language model, held against every adapter on a server that speaks the provider's wire format."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from providers import KEY, Naps, Reply, Server
from recollect.errors import BadAnswer, BadInput, ModelUnavailable, ProviderRefused, ProviderUnavailable
from recollect.models.http import Patience
from recollect.models.llm import LLM, Usage, load

SCHEMA = {
    "type": "object",
    "properties": {
        "worth": {"type": "boolean", "description": "Whether it is worth keeping."},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "kind": {"type": "string", "enum": ["fact", "decision"]},
    },
    "required": ["worth"],
}
GOOD = {"worth": True, "importance": 7, "tags": ["deploy"], "kind": "decision"}
SAID = [("user", "We deploy on Thursdays."), ("assistant", "Noted."), ("user", "Is it worth keeping?")]
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY, "GEMINI_API_KEY": KEY}
URLS = {
    "ollama": "ollama://{host}/llama3.2:3b",
    "openai": "openai://gpt-4.1-mini?base=http://{host}/v1",
    "compatible": "http://{host}/v1?model=org/qwen3&key=OPENAI_API_KEY",
    "anthropic": "anthropic://claude-haiku-4-5?base=http://{host}/v1",
    "gemini": "gemini://gemini-2.5-flash?base=http://{host}/v1beta",
}
LENGTH = {"ollama": "length", "openai": "length", "compatible": "length"}
CUT = {**LENGTH, "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing here may go through a proxy


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        server.says = json.dumps(GOOD)
        yield server


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture(params=sorted(URLS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def llm(server: Server, naps: Naps, name: str) -> LLM:
    return made(server, naps, name)


def made(server: Server, naps: Naps, name: str, **patience: float) -> LLM:
    return load(URLS[name].format(host=server.host), Patience(sleep=naps, chance=lambda: 0.0, **patience))  # type: ignore[arg-type]


def ask(llm: LLM) -> object:
    return llm.complete("You judge.", SAID, SCHEMA, 300)  # type: ignore[arg-type]


def test_an_answer_fits_the_schema_and_tells_what_it_cost(llm: LLM, server: Server) -> None:
    done = llm.complete("You judge.", SAID, SCHEMA, 300)  # type: ignore[arg-type]
    assert done.data == GOOD
    assert done.usage == Usage(31, 9)
    sent = json.dumps(server.asked[0].body)
    for words in ("You judge.", "We deploy on Thursdays.", "Noted."):
        assert words in sent
    assert '"temperature": 0' in sent
    assert "300" in sent


def test_tokens_that_a_server_does_not_tell_are_estimated(llm: LLM, server: Server) -> None:
    server.silent = True
    usage = llm.complete("You judge.", SAID, SCHEMA, 300).usage  # type: ignore[arg-type]
    assert usage.estimated
    assert usage.tokens_in > 5
    assert usage.tokens_out > 5


@pytest.mark.parametrize(
    ("says", "why"),
    [
        ("", "nothing"),
        ("I think it is worth it.", "no JSON"),
        ('{"worth": tr', "no JSON"),
        ("[1, 2]", "no object"),
        ('{"importance": 5}', "worth is missing"),
        ('{"worth": "yes"}', "worth is no boolean"),
        ('{"worth": true, "importance": 11}', "importance is above 10"),
        ('{"worth": true, "importance": true}', "importance is no integer"),
        ('{"worth": true, "tags": ["a", 5]}', "is no string"),
        ('{"worth": true, "tags": ["a", "b", "c", "d"]}', "more than 3 items"),
        ('{"worth": true, "kind": "gossip"}', "kind is not one of its values"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_cannot_be_used_is_refused_and_still_counted(llm: LLM, server: Server, says: str, why: str) -> None:
    server.says = says
    with pytest.raises(BadAnswer, match=why) as raised:
        ask(llm)
    assert raised.value.tokens == (31, 9)
    assert len(server.asked) == 1


def test_a_fenced_answer_of_a_server_that_ignores_schemas_is_read(llm: LLM, server: Server) -> None:
    server.says = f"```json\n{json.dumps(GOOD, indent=2)}\n```"
    assert llm.complete("", SAID, SCHEMA, 300).data == GOOD  # type: ignore[arg-type]


def test_an_answer_that_was_cut_off_is_not_used_even_if_it_reads(llm: LLM, server: Server, name: str) -> None:
    server.stop = CUT[name]
    with pytest.raises(BadAnswer, match="cut off at 300 tokens") as raised:
        ask(llm)
    assert raised.value.tokens == (31, 9)


@pytest.mark.parametrize(
    ("name", "stop"),
    [("openai", "refusal"), ("openai", "content_filter"), ("anthropic", "refusal"), ("gemini", "blocked"),
     ("gemini", "SAFETY")],
)  # fmt: skip
def test_a_model_that_declines_is_no_answer(server: Server, naps: Naps, name: str, stop: str) -> None:
    server.stop = stop
    with pytest.raises(BadAnswer, match="would not answer"):
        ask(made(server, naps, name))


@pytest.mark.parametrize("body", [b"<html>bad gateway</html>", b"[]", b"", {"unexpected": 1}, {"message": None}])
def test_a_body_of_another_form_is_told_as_that(llm: LLM, server: Server, body: object) -> None:
    server.script = [Reply(200, body)]
    with pytest.raises(BadAnswer):
        ask(llm)


def test_too_many_requests_wait_as_long_as_the_server_says(llm: LLM, server: Server, naps: Naps) -> None:
    busy = {"error": {"message": "Rate limit reached"}}
    server.script = [Reply(429, busy, {"Retry-After": "7"}), Reply(429, busy)]
    assert ask(llm)
    assert naps.taken == [7.0, 1.0]
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [500, 502, 503, 504, 529])
def test_a_server_in_trouble_is_asked_again_with_longer_waits(
    llm: LLM, server: Server, naps: Naps, status: int
) -> None:
    server.script = [Reply(status, b"oops")] * 4
    with pytest.raises(ProviderUnavailable, match=rf"answered {status}.*4 tries"):
        ask(llm)
    assert naps.taken == [0.5, 1.0, 2.0]


def test_a_wait_too_long_to_sit_out_ends_the_call(llm: LLM, server: Server, naps: Naps) -> None:
    server.script = [Reply(429, {}, {"Retry-After": "3600"})]
    with pytest.raises(ProviderUnavailable, match="asks to wait 3600 seconds"):
        ask(llm)
    assert naps.taken == []


def test_waits_are_spread_so_that_callers_do_not_come_back_together() -> None:
    assert Patience(chance=lambda: 1.0).wait(2) == Patience(chance=lambda: 0.0).wait(2) / 2


def test_a_silent_server_is_given_up_in_time(server: Server, naps: Naps, name: str) -> None:
    server.script = [Reply(late=30.0)] * 2
    with pytest.raises(ProviderUnavailable, match="did not answer in time"):
        ask(made(server, naps, name, timeout=0.2, tries=2))


def test_an_answer_that_breaks_off_is_asked_for_again(llm: LLM, server: Server, naps: Naps) -> None:
    server.script = [Reply(200, {"a": "b" * 1000}, short=True)]
    assert ask(llm)
    assert len(naps.taken) == 1


def test_nobody_there_is_told_with_the_address(naps: Naps) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        llm = load(f"ollama://127.0.0.1:{port}/m", Patience(sleep=naps, tries=2))
        with pytest.raises(ProviderUnavailable, match=f"127.0.0.1:{port} cannot be reached"):
            ask(llm)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_a_server_refuses_is_not_asked_again(llm: LLM, server: Server, naps: Naps, status: int) -> None:
    server.script = [Reply(status, {"error": {"message": "no such model"}})]
    with pytest.raises(ProviderRefused, match=f"answered {status}"):
        ask(llm)
    assert naps.taken == []


def test_a_key_stands_in_no_message(server: Server, naps: Naps, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "sk-wrong-77aa66bb55cc44dd"
    for variable in KEYS:
        monkeypatch.setenv(variable, wrong)
    for name in ("openai", "compatible", "anthropic", "gemini"):
        llm = made(server, naps, name)
        with pytest.raises(ProviderRefused) as raised:
            ask(llm)
        assert wrong not in f"{raised.value} {raised.value!r} {raised.value.__cause__!r} {vars(llm)}"
        assert wrong in json.dumps(server.asked[-1].headers)


def test_a_key_follows_no_redirect(server: Server, naps: Naps) -> None:
    with Server() as other:
        server.script = [Reply(307, {}, {"Location": f"http://{other.host}/v1/messages"})]
        with pytest.raises(ProviderRefused, match="answered 307"):
            ask(made(server, naps, "anthropic"))
        assert other.asked == []


def test_a_model_that_takes_no_temperature_is_asked_without(llm: LLM, server: Server) -> None:
    server.steady = False
    assert ask(llm)
    assert ask(llm)
    assert ["temperature" in json.dumps(one.body) for one in server.asked] == [True, False, False]


def test_a_server_that_knows_no_schemas_is_told_in_words(server: Server, naps: Naps) -> None:
    server.strict = False
    llm = made(server, naps, "compatible")
    assert ask(llm)
    assert ask(llm)
    forms = [one.body["response_format"]["type"] for one in server.asked]
    assert forms == ["json_schema", "json_object", "json_object"]
    assert '"importance"' in server.asked[2].body["messages"][0]["content"]
    assert naps.taken == []


def test_ollama_is_asked_for_a_context_that_holds_the_prompt(server: Server, naps: Naps) -> None:
    llm = made(server, naps, "ollama")
    llm.complete("", [("user", "word " * 6000)], SCHEMA, 500)
    assert server.asked[0].body["options"]["num_ctx"] >= 8192


def test_threads_share_one_model(llm: LLM, server: Server) -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(ask(llm))) for _ in range(6)]
    for step in (threading.Thread.start, threading.Thread.join):
        for thread in threads:
            step(thread)
    assert len(found) == 6


@pytest.mark.parametrize(
    ("messages", "schema", "tokens"),
    [([], SCHEMA, 10), ([("system", "x")], SCHEMA, 10), (SAID, {"type": "array"}, 10), (SAID, SCHEMA, 0),
     (SAID, SCHEMA, 10**6)],
)  # fmt: skip
def test_a_bad_prompt_is_refused_before_anybody_is_asked(
    llm: LLM, server: Server, messages: object, schema: object, tokens: int
) -> None:
    with pytest.raises(BadInput):
        llm.complete("", messages, schema, tokens)  # type: ignore[arg-type]
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("voyage://voyage-4", "no address of such a model"),
        ("ftp://host/model", "no address of such a model"),
        ("https://api.example.com/v1", "names no model"),
        ("anthropic://", "names no model"),
        ("openai://gpt?api_key=sk-123456", "no option 'api_key'"),
        ("openai://gpt?key=sk-live-4f9a0c1d", "name of an environment variable"),
        ("https://me:hunter2@api.example.com/v1?model=m", "holds a password"),
        ("http://api.example.com/v1?model=m&key=OPENAI_API_KEY", "unencrypted"),
        ("openai://gpt?base=gopher://x", "no server"),
        ("ollama://localhost/m?timeout=-1", "timeout"),
    ],
)
def test_a_bad_address_is_refused_without_repeating_a_secret(url: str, why: str) -> None:
    with pytest.raises(BadInput, match=why) as raised:
        load(url)
    for secret in ("sk-123456", "sk-live", "hunter2"):
        assert secret not in str(raised.value)


def test_a_missing_key_is_told_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ModelUnavailable, match="Set ANTHROPIC_API_KEY in the environment"):
        load("anthropic://claude-haiku-4-5")


def test_a_server_that_is_spelt_out_gets_no_key_unless_told(server: Server) -> None:
    with pytest.raises(ProviderRefused):
        ask(load(f"http://{server.host}/v1?model=m"))
    assert "authorization" not in server.asked[0].headers


def test_where_a_model_is_says_whether_it_costs() -> None:
    assert load("ollama://localhost/m").free
    assert load("http://192.168.1.7:8000/v1?model=m").free
    assert not load("openai://gpt-4.1-mini").free
    assert not load("https://openrouter.ai/api/v1?model=m&key=OPENAI_API_KEY").free


# A real server of a real model


def test_a_real_model_is_held_to_the_schema(llama: str) -> None:
    done = load(llama).complete("Judge whether the note is worth keeping.", [("user", "Deploys are on Thursdays.")],
                                {"type": "object", "properties": {"worth": {"type": "boolean"}}}, 60)  # fmt: skip
    assert isinstance(done.data["worth"], bool)
    assert done.usage.tokens_in > 10
    assert not done.usage.estimated


def test_a_real_model_that_runs_out_of_tokens_is_a_bad_answer(llama: str) -> None:
    story = {"type": "object", "properties": {"story": {"type": "string"}}}
    with pytest.raises(BadAnswer) as raised:
        load(llama).complete("Tell a very long story.", [("user", "Begin.")], story, 8)
    assert raised.value.tokens[1] >= 8
