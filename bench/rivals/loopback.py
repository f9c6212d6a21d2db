"""The embedding server of a run: one model for every rival, on the loopback device, by OpenAI's protocol.

A rival downloads its model from a hub. Here it asks this server instead, which keeps each vector on disk by the hash
of its text: all rivals get the same vectors, a second run costs nothing, and the processor time of the model is not
counted as a rival's. `minilm` is all-MiniLM-L6-v2 in eight bits, `recollect` our packaged model (`recollect-query` puts
the instruction in front of a question, where a rival tells questions from documents), `hashing` needs no model.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import environments
from contract import Options
from recollect.models.embedder import Embedder, Role, load
from recollect_eval.cache import CachedEmbedder


class Models:
    """The models that rows ask for, loaded when first asked for."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._loaded: dict[str, Embedder] = {}

    def get(self, name: str) -> Embedder:
        with self._lock:
            if name not in self._loaded:
                place = {"recollect": "default", "hashing": "hashing"}.get(name) or str(environments.minilm())
                model = load(place)
                self._loaded[name] = model if name == "hashing" else CachedEmbedder(model, self._cache)
            return self._loaded[name]

    def embed(self, name: str, texts: list[str]) -> list[Any]:
        role: Role = "query" if name.endswith("-query") else "document"
        return list(self.get(name.removesuffix("-query")).embed(texts, role))


class Handler(BaseHTTPRequestHandler):
    models: Models

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        rows = self.models.embed(asked["model"], texts)
        packed = asked.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": n, "embedding": _packed(row) if packed else row.tolist()}
            for n, row in enumerate(rows)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "model": asked["model"], "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            self.log_message("The rival that asked was killed.")

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _packed(row: Any) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()


class Server:
    """A running server; `options` is what a driver needs to know of it."""

    def __init__(self, models: Models, url: str) -> None:
        self.models, self.url = models, url

    def options(self, name: str) -> Options:
        if not name:
            return {}
        model = self.models.get(name)
        return {"embeddings": self.url, "embedder": name, "dimension": model.dimension, "model": model.model}


@contextmanager
def serving(cache: Path) -> Iterator[Server]:
    models = Models(cache)
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"models": models}))
    threading.Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield Server(models, f"http://127.0.0.1:{http.server_address[1]}/v1")
    finally:
        http.shutdown()
        http.server_close()
