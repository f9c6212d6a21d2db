"""Stand-ins for the model APIs of three assistants, on loopback: enough to drive a real session without a model.

Each follows a script: tools that it calls one after the other as soon as they are offered (by default `recall`, once),
each with arguments made from what the tools before it answered. Everything else is answered with one given sentence.
Every request is kept, so that a test can read what the model would have read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Json = dict[str, Any]
Step = tuple[str, Callable[[list[str]], Json]]  # a tool, and its arguments by the answers so far


class Stub:
    """A server of one of the APIs; `requests` are the bodies that were posted to it, in order."""

    def __init__(self, api: type[Api], reply: str, question: str = "", script: Sequence[Step] = ()) -> None:
        self.requests: list[Json] = []
        handler = type("Handler", (api,), {"stub": self})
        self.reply = reply
        self.script: Sequence[Step] = script or [("recall", lambda _: {"query": question})]
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Stub:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next(self, tools: Iterable[str], answers: list[str]) -> tuple[str, Json] | None:
        """The call that is due after these answers of tools; nothing at the end, or where the tool is not offered."""
        if len(answers) >= len(self.script):
            return None
        wanted, given = self.script[len(answers)]
        name = next((one for one in tools if _bare(one) == wanted), "")
        return (name, given(answers)) if name else None

    def talk(self) -> list[Json]:
        """The requests of the session itself: those that offer tools."""
        return [request for request in self.requests if request.get("tools")]


class Api(BaseHTTPRequestHandler):
    """What they have in common: bodies in, one JSON document or a stream of events out."""

    stub: ClassVar[Stub]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the requests themselves are kept."""

    def do_HEAD(self) -> None:
        self.send(b"")

    def do_GET(self) -> None:
        self.send(b'{"data": [], "models": []}')

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        self.stub.requests.append(body)
        self.answer(body)

    def answer(self, body: Json) -> None:
        raise NotImplementedError

    def events(self, each: Iterator[Json]) -> None:
        said = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in each)
        self.send(said.encode(), "text/event-stream")

    def send(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Messages(Api):
    """Anthropic's Messages API."""

    def answer(self, body: Json) -> None:
        if self.path.partition("?")[0].endswith("count_tokens"):
            return self.send(b'{"input_tokens": 10}')
        block = self._block(body)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message: Json = {
            "id": f"msg_{len(self.stub.requests)}", "type": "message", "role": "assistant",
            "model": body.get("model", ""), "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }  # fmt: skip
        if not body.get("stream"):
            return self.send(json.dumps({**message, "content": [block], "stop_reason": stop}).encode())
        return self.events(self._stream(message, block, stop))

    def _block(self, body: Json) -> Json:
        parts = [part for message in body.get("messages", ()) if isinstance(message["content"], list)
                 for part in message["content"]]  # fmt: skip
        answers = [_text(part["content"]) for part in parts if part.get("type") == "tool_result"]
        if call := self.stub.next([tool.get("name", "") for tool in body.get("tools", ())], answers):
            return {"type": "tool_use", "id": f"toolu_{len(answers) + 1}", "name": call[0], "input": call[1]}
        return {"type": "text", "text": self.stub.reply}

    def _stream(self, message: Json, block: Json, stop: str) -> Iterator[Json]:
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun, delta = (
                {**block, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
            )
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": begun}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        }
        yield {"type": "message_stop"}


class Responses(Api):
    """OpenAI's Responses API."""

    def answer(self, body: Json) -> None:
        self.events(self._stream(self._item(body)))

    def _item(self, body: Json) -> Json:
        items = [item for item in body.get("input", ()) if item.get("type") == "function_call_output"]
        answers, spaces = [_text(item["output"]) for item in items], {t["name"]: at for at, t in _functions(body)}
        if call := self.stub.next(spaces, answers):
            named = {"namespace": spaces[call[0]]} if spaces[call[0]] else {}
            number = len(answers) + 1
            return {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": call[0],
                    "arguments": json.dumps(call[1]), **named}  # fmt: skip
        text = {"type": "output_text", "text": self.stub.reply}
        return {"type": "message", "id": f"msg_{len(self.stub.requests)}", "role": "assistant", "content": [text]}

    def _stream(self, item: Json) -> Iterator[Json]:
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        yield {"type": "response.created", "response": {"id": "resp_1"}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


class Generate(Api):
    """Google's Gemini API."""

    def answer(self, body: Json) -> None:
        if ":countTokens" in self.path:
            return self.send(b'{"totalTokens": 10}')
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        content = {"role": "model", "parts": [self._part(body)]}
        made = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        if ":streamGenerateContent" in self.path:
            return self.send(f"data: {json.dumps(made)}\n\n".encode(), "text/event-stream")
        return self.send(json.dumps(made).encode())

    def _part(self, body: Json) -> Json:
        parts = [part for turn in body.get("contents", ()) for part in turn.get("parts", ())]
        answers = [json.dumps(part["functionResponse"]) for part in parts if "functionResponse" in part]
        if call := self.stub.next([tool["name"] for _, tool in _functions(body)], answers):
            return {"functionCall": {"name": call[0], "args": call[1]}}
        return {"text": self.stub.reply}


class Completions(Api):
    """OpenAI's chat completions, as a stream or whole."""

    def answer(self, body: Json) -> None:
        answers = [_text(one.get("content") or "") for one in body.get("messages", ()) if one.get("role") == "tool"]
        said: Json = {"role": "assistant", "content": self.stub.reply}
        if call := self.stub.next([tool["name"] for _, tool in _functions(body)], answers):
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            made = {"index": 0, "id": f"call_{len(answers) + 1}", "type": "function", "function": function}
            said = {"role": "assistant", "content": None, "tool_calls": [made]}
        end = "tool_calls" if said["content"] is None else "stop"
        told = {"id": "c1", "created": 1, "model": str(body.get("model")), "usage": USAGE}
        if not body.get("stream"):
            choice = {"index": 0, "message": said, "finish_reason": end}
            return self.send(json.dumps({**told, "object": "chat.completion", "choices": [choice]}).encode())
        pieces = [{"index": 0, "delta": said, "finish_reason": None}, {"index": 0, "delta": {}, "finish_reason": end}]
        lines = [{**told, "object": "chat.completion.chunk", "choices": [piece]} for piece in pieces]
        stream = "".join(f"data: {json.dumps(line)}\n\n" for line in lines)
        return self.send(f"{stream}data: [DONE]\n\n".encode(), "text/event-stream")


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _functions(body: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """The functions that a request offers, each with the namespace it is in."""
    for tool in body.get("tools", ()):
        if tool.get("type") == "function":
            yield "", tool.get("function", tool)  # chat completions put it inside
        elif tool.get("type") == "namespace":
            yield from ((str(tool["name"]), inner) for inner in tool.get("tools", ()))
        else:
            yield from (("", inner) for inner in tool.get("functionDeclarations", ()))


def offered(body: Mapping[str, Any]) -> set[str]:
    """The names of the tools that a request offers, without what an assistant puts before them."""
    names = {tool["name"] for _, tool in _functions(body)} | {
        str(tool.get("name", "")) for tool in body.get("tools", ())
    }
    return {_bare(name) for name in names}


def _bare(name: str) -> str:
    """The name of a tool without what assistants put before it: the server's."""
    return name.rpartition("__")[2].removeprefix("mcp_").removeprefix("recollect_")
