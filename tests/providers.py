"""A loopback server that speaks the wire formats of the paid providers, and can fail in each way that they do.

It takes a request only in the exact form that the provider takes it, and answers with the provider's own status and
body otherwise. Vectors are those of the hashing embedder, so that alike texts stay alike.
"""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from recollect.models.hashing import HashingEmbedder

KEY = "sk-live-4f9a0c1d7e2b8a6f5d3c"


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer instead of the right thing. `late` waits so many seconds, `short` breaks off in the middle."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    late: float = 0.0
    short: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server:
    """`script` holds the replies that come first; `says` is what a language model answers, `stop` why it ended."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.asked: list[Asked] = []
        self.says: str = "{}"
        self.sayings: list[str] = []  # what it answers first, one after the other
        self.stop = ""
        self.silent = False  # tells no usage
        self.steady = True  # takes a temperature
        self.strict = True  # knows json_schema
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                server.asked.append(asked)
                with suppress(ConnectionError):  # whoever asked may have given up by then
                    self.answer(server.script.pop(0) if server.script else server.right(asked))

            def answer(self, reply: Reply) -> None:
                if reply.late:
                    server.closing.wait(reply.late)
                told = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(told)))
                self.end_headers()
                self.wfile.write(told[: len(told) // 2] if reply.short else told)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the test looks at what was asked."""

        return Handler

    def _say(self) -> str:
        return self.sayings.pop(0) if self.sayings else self.says

    def right(self, asked: Asked) -> Reply:
        try:
            return Reply(200, self._route(asked))
        except Refusal as error:
            return Reply(error.status, {"error": {"message": str(error), "type": "invalid_request_error"}})

    def _route(self, asked: Asked) -> dict[str, Any]:
        path, body = asked.path, asked.body
        if path == "/api/chat":
            return self._ollama_chat(body)
        if path == "/api/embed":
            need(body, {"model": str, "input": list}, {"truncate"})
            told = {} if self.silent else {"prompt_eval_count": 7 * len(body["input"])}
            return {"model": body["model"], "embeddings": self._vectors(body["input"], 0, body["model"]), **told}
        if path == "/v1/chat/completions":
            return self._openai_chat(asked)
        if path == "/v1/embeddings":
            bearer(asked)
            voyage = body["model"].startswith("voyage")
            optional = {"truncation", "output_dimension"} if voyage else {"dimensions", "encoding_format"}
            need(body, {"model": str, "input": list, **({"input_type": str} if voyage else {})}, optional)
            size = body.get("output_dimension" if voyage else "dimensions", 0)
            rows = self._vectors([body.get("input_type", "") + text for text in body["input"]], size, body["model"])
            data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
            paid: dict[str, Any] = (
                {} if self.silent else {"usage": {"total_tokens": 5 * len(rows), "prompt_tokens": 5 * len(rows)}}
            )
            return {"object": "list", "data": data[::-1], "model": body["model"], **paid}
        if path == "/v1/messages":
            return self._anthropic(asked)
        if path.startswith("/v1beta/models/"):
            return self._gemini(asked)
        raise Refusal(404, f"no route {path}")

    def _ollama_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        need(body, {"model": str, "messages": list, "format": dict}, {"stream", "think", "options"})
        assert body["stream"] is False
        self._temperature(body["options"])
        told = {} if self.silent else {"prompt_eval_count": 31, "eval_count": 9}
        message = {"role": "assistant", "content": self._say()}
        return {"model": body["model"], "message": message, "done": True, "done_reason": self.stop or "stop", **told}

    def _openai_chat(self, asked: Asked) -> dict[str, Any]:
        bearer(asked)
        body = asked.body
        optional = {"temperature", "max_tokens", "max_completion_tokens"}
        need(body, {"model": str, "messages": list, "response_format": dict}, optional)
        self._temperature(body)
        form = body["response_format"]
        if not self.strict and form["type"] != "json_object":
            raise Refusal(500, "1 validation error: response_format: Input should be 'text' or 'json_object'")
        if form["type"] == "json_object" and not self.strict:
            form = {"type": "json_schema", "json_schema": {"schema": form["schema"], "strict": True}}
        if form["type"] != "json_schema" or form["json_schema"]["strict"] is not True:
            raise Refusal(400, "response_format")
        closed(form["json_schema"]["schema"])
        told = {} if self.silent else {"usage": {"prompt_tokens": 31, "completion_tokens": 9, "total_tokens": 40}}
        message: dict[str, Any] = {"role": "assistant", "content": self._say(), "refusal": None}
        if self.stop == "refusal":
            message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        choice = {"index": 0, "message": message, "finish_reason": self.stop or "stop"}
        return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "model": body["model"], **told}

    def _anthropic(self, asked: Asked) -> dict[str, Any]:
        if asked.headers.get("x-api-key") != KEY:
            raise Refusal(401, f"invalid x-api-key {asked.headers.get('x-api-key')}")
        if asked.headers.get("anthropic-version") != "2023-06-01":
            raise Refusal(400, "anthropic-version: header is required")
        body = asked.body
        need(
            body, {"model": str, "messages": list, "max_tokens": int, "output_config": dict}, {"system", "temperature"}
        )
        if any(one["role"] not in ("user", "assistant") for one in body["messages"]):
            raise Refusal(400, "messages: unexpected role")
        self._temperature(body)
        closed(body["output_config"]["format"]["schema"])
        told = {} if self.silent else {"usage": {"input_tokens": 30, "cache_read_input_tokens": 1, "output_tokens": 9}}
        said = self._say()
        content = [{"type": "text", "text": said}] if said else []
        return {"id": "msg_1", "type": "message", "role": "assistant", "content": content,
                "stop_reason": self.stop or "end_turn", **told}  # fmt: skip

    def _gemini(self, asked: Asked) -> dict[str, Any]:
        if asked.headers.get("x-goog-api-key") != KEY:
            raise Refusal(400, "API key not valid. Please pass a valid API key.")
        model, _, verb = asked.path.removeprefix("/v1beta/models/").partition(":")
        body = asked.body
        if verb == "batchEmbedContents":
            texts = []
            for one in body["requests"]:
                need(one, {"model": str, "content": dict, "outputDimensionality": int}, {"taskType"})
                assert one["model"] == f"models/{model}"
                texts.append(one.get("taskType", "") + one["content"]["parts"][0]["text"])
            rows = self._vectors(texts, body["requests"][0]["outputDimensionality"], model)
            return {"embeddings": [{"values": [3 * value for value in row]} for row in rows]}  # not of length 1
        need(body, {"contents": list, "generationConfig": dict}, {"systemInstruction"})
        form = body["generationConfig"]
        self._temperature(form)
        assert form["responseMimeType"] == "application/json"
        closed(form["responseJsonSchema"])
        told = {"promptTokenCount": 31, "candidatesTokenCount": 5, "thoughtsTokenCount": 4}
        meta = {} if self.silent else {"usageMetadata": told}
        if self.stop == "blocked":
            return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **meta}
        part = {"role": "model", "parts": [{"thought": True, "text": "hm"}, {"text": self._say()}]}
        return {"candidates": [{"content": part, "finishReason": self.stop or "STOP", "index": 0}], **meta}

    def _temperature(self, options: dict[str, Any]) -> None:
        if "temperature" in options and not self.steady:
            raise Refusal(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        assert options.get("temperature", 0) == 0

    def _vectors(self, texts: list[str], size: int, model: str) -> list[list[float]]:
        if any(not text.strip() for text in texts):
            raise Refusal(400, "input cannot be an empty string")
        default = 768 if "nomic" in model else 384 if "minilm" in model else 1536 if "3-small" in model else 1024
        rows = HashingEmbedder().embed(texts, "document").astype(float)
        wide = size or default
        return [(row.tolist() + [0.0] * (wide - len(row)))[:wide] for row in rows]


def bearer(asked: Asked) -> None:
    if asked.headers.get("authorization") != f"Bearer {KEY}":
        raise Refusal(401, f"Incorrect API key provided: {asked.headers.get('authorization')}")


def need(body: dict[str, Any], required: dict[str, type], optional: set[str]) -> None:
    for name, kind in required.items():
        if not isinstance(body.get(name), kind):
            raise Refusal(400, f"{name}: a {kind.__name__} is required")
    if unknown := body.keys() - required.keys() - optional:
        raise Refusal(400, f"unknown: {sorted(unknown)}")


def closed(schema: dict[str, Any]) -> None:
    """What the strict modes ask of a schema."""
    if unknown := schema.keys() - {
        "type", "properties", "required", "additionalProperties", "items", "enum", "description", "anyOf", "const"
    }:  # fmt: skip
        raise Refusal(400, f"schema: {sorted(unknown)} is not supported")
    if "properties" in schema:
        if schema.get("additionalProperties") is not False or set(schema["required"]) != set(schema["properties"]):
            raise Refusal(400, "schema: objects must be closed, and every property required")
        for part in schema["properties"].values():
            closed(part)
    if "items" in schema:
        closed(schema["items"])


class Naps:
    """A sleep that takes no time and remembers how long it should have been."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        time.sleep(0)
