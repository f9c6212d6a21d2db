"""What a driver of a rival is: a process that reads requests and writes replies, one JSON object a line.

A driver runs in the rival's own environment, so this file needs the standard library alone. It derives from `Driver`
and calls `serve`. What the rival prints goes to standard error; an exception becomes the reply `{"error": "…"}`.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

Item = dict[str, str]  # key, text, user
Options = dict[str, Any]


class NotOffered(Exception):
    """The rival has no such function."""


class Embeddings:
    """The embedding server of the run, which speaks OpenAI's protocol on the loopback device."""

    def __init__(self, options: Options) -> None:
        self.url: str = options["embeddings"]
        self.model: str = options["embedder"]
        self.dimension = int(options["dimension"])

    def embed(self, texts: Sequence[str], role: Literal["query", "document"] = "document") -> list[list[float]]:
        model = self.model if role == "document" else f"{self.model}-query"
        body = json.dumps({"model": model, "input": list(texts), "encoding_format": "base64"}).encode()
        request = urllib.request.Request(f"{self.url}/embeddings", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as answer:
            told = json.load(answer)["data"]
        packed = [base64.b64decode(one["embedding"]) for one in told]
        return [list(struct.unpack(f"<{len(row) // 4}f", row)) for row in packed]


class Driver:
    """One rival. `folder` is an empty folder, or that of an earlier process that is gone."""

    def open(self, folder: Path, options: Options) -> None:
        raise NotImplementedError

    def add(self, items: Sequence[Item]) -> None:
        """Store the items; when this returns they are acknowledged."""
        raise NotImplementedError

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        """What the rival finds for that user, best first: key and text of each."""
        raise NotImplementedError

    def keys(self) -> list[str]:
        """The keys of all that is stored."""
        raise NotOffered

    def delete(self, key: str) -> None:
        raise NotOffered

    def reject(self, key: str) -> None:
        """Say that it is wrong and must not come back; where a rival knows no such thing, delete it."""
        self.delete(key)

    def handed(self, query: str) -> str:
        """What an assistant is given to read for a query."""
        return "\n".join(one["text"] for one in self.search(query, 5, ""))

    def close(self) -> None:
        pass


def serve(driver: Driver) -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            reply = {"ok": _answer(driver, asked)}
        except NotOffered:
            reply = {"not_offered": True}
        except Exception as error:  # noqa: BLE001 - whatever a rival raises is what is reported
            reply = {"error": f"{type(error).__name__}: {error}"[:2000]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
        if asked["do"] == "close":
            break
    replies.flush()
    os._exit(0)  # some rivals leave threads behind that would keep the process


def _answer(driver: Driver, asked: dict[str, Any]) -> Any:
    match asked["do"]:
        case "open":
            return driver.open(Path(asked["folder"]), asked["options"])
        case "add":
            return driver.add(asked["items"])
        case "search":
            return driver.search(asked["query"], asked["limit"], asked.get("user", ""))
        case "delete":
            return driver.delete(asked["key"])
        case "reject":
            return driver.reject(asked["key"])
        case "keys":
            return driver.keys()
        case "handed":
            return driver.handed(asked["query"])
        case "close":
            return driver.close()
        case other:
            raise ValueError(f"There is no request {other!r}.")
