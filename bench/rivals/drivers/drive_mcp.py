"""Rivals that are MCP servers, driven as an assistant does: over standard input and output, by their tools."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contract import Driver, Item, Options, serve
from mcp_client import McpClient


class Mcp(Driver):
    """What they share; `command` is relative to the rival's own folder."""

    command: tuple[str, ...] = ()

    def open(self, folder: Path, options: Options) -> None:
        self.options = options
        install = Path(options["install"])
        command = [str(install / part) if "/" in part else part for part in self.command]
        self.client = McpClient(command, {**os.environ, **self.settings(folder, options)})
        self.texts: dict[str, Item] = {}

    def settings(self, folder: Path, options: Options) -> dict[str, str]:
        return {}

    def close(self) -> None:
        self.client.close()


class ServerMemory(Mcp):
    """The reference server: each text an entity with one observation; it finds what contains the query literally.

    With `words`, each longer word of the question is searched for, and what most of them find comes first.
    """

    command = ("node", "node_modules/.bin/mcp-server-memory")

    def settings(self, folder: Path, options: Options) -> dict[str, str]:
        return {"MEMORY_FILE_PATH": str(folder / "memory.jsonl")}

    def add(self, items: Sequence[Item]) -> None:
        told = [{"name": one["key"], "entityType": "memory", "observations": [one["text"]]} for one in items]
        self.client.call("create_entities", entities=told)

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        asked = re.findall(r"\w{4,}", query) if self.options.get("words") else [query]
        counts: dict[str, int] = {}
        found: dict[str, Item] = {}
        for word in dict.fromkeys(asked):
            for entity in json.loads(self.client.call("search_nodes", query=word))["entities"]:
                name = entity["name"]
                counts[name] = counts.get(name, 0) + 1
                found[name] = {"key": name, "text": "\n".join(entity["observations"])}
        return sorted(found.values(), key=lambda one: -counts[one["key"]])[:limit]

    def keys(self) -> list[str]:
        return [entity["name"] for entity in json.loads(self.client.call("read_graph"))["entities"]]

    def delete(self, key: str) -> None:
        self.client.call("delete_entities", entityNames=[key])

    def handed(self, query: str) -> str:
        return self.client.call("search_nodes", query=query)


class McpMemoryService(Mcp):
    """mcp-memory-service with SQLite; the embeddings come from the server of the run. `mode` is its kind of search."""

    command = ("venv/bin/memory", "server")

    def settings(self, folder: Path, options: Options) -> dict[str, str]:
        return {
            "MCP_MEMORY_BASE_DIR": str(folder), "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_SQLITE_PATH": str(folder / "memory.db"),
            "MCP_EXTERNAL_EMBEDDING_URL": f"{options['embeddings']}/embeddings",
            "MCP_EXTERNAL_EMBEDDING_MODEL": options["embedder"],
        }  # fmt: skip

    def add(self, items: Sequence[Item]) -> None:
        for one in items:
            said = self.client.call(
                "memory_store", content=one["text"], conversation_id="rivals",
                metadata={"tags": [f"key={one['key']}"], "type": "note"},
            )  # fmt: skip
            digest = re.search(r"[0-9a-f]{64}", said)
            if not digest:
                raise ValueError(said[:500])
            self.texts[digest[0]] = one

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        said = self.handed(query, limit)
        found = [self.texts.get(digest) for digest in re.findall(r"Hash: ([0-9a-f]{64})", said)]
        if None in found:
            self.everything()
            found = [self.texts.get(digest) for digest in re.findall(r"Hash: ([0-9a-f]{64})", said)]
        return [one for one in found if one]

    def handed(self, query: str, limit: int = 5) -> str:
        return self.client.call("memory_search", query=query, limit=limit, mode=self.options.get("mode", "semantic"))

    def everything(self) -> dict[str, Item]:
        page, more = 1, True
        while more:
            told = json.loads(self.client.call("memory_list", page=page, page_size=100))
            for one in told["memories"]:
                key = next((tag[4:] for tag in one["tags"] if tag.startswith("key=")), "")
                self.texts.setdefault(one["content_hash"], {"key": key, "text": one["content"]})
            page, more = page + 1, told["has_more"]
        return self.texts

    def keys(self) -> list[str]:
        self.texts = {}
        return [one["key"] for one in self.everything().values()]

    def delete(self, key: str) -> None:
        digest = next(digest for digest, one in self.everything().items() if one["key"] == key)
        self.client.call("memory_delete", content_hash=digest)
        del self.texts[digest]


class BasicMemory(Mcp):
    """basic-memory: each text a note in Markdown, titled by its key; the embeddings come from the server of the run.

    Its lowest similarity is set for the model that it downloads, so it is taken away for another.
    """

    command = ("venv/bin/basic-memory", "mcp")

    def settings(self, folder: Path, options: Options) -> dict[str, str]:
        semantic = {
            "PROVIDER": "openai", "MODEL": options["embedder"], "DIMENSIONS": str(options["dimension"])
        }  # fmt: skip
        return {
            "BASIC_MEMORY_HOME": str(folder / "notes"), "BASIC_MEMORY_CONFIG_DIR": str(folder / "config"),
            "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": options["embeddings"],
            "BASIC_MEMORY_SEMANTIC_MIN_SIMILARITY": "0",
            **{f"BASIC_MEMORY_SEMANTIC_EMBEDDING_{name}": value for name, value in semantic.items()},
        }  # fmt: skip

    def add(self, items: Sequence[Item]) -> None:
        for one in items:
            title = re.sub(r"\W+", "-", one["key"])
            said = self.client.call("write_note", title=title, content=one["text"], directory="notes")
            if not said.startswith("# Created note"):
                raise ValueError(said[:500])
            self.texts[title] = one

    def search(self, query: str, limit: int, user: str) -> list[Item]:
        said = self.client.call("search_notes", query=query, page_size=limit, output_format="json")
        told: Any = json.loads(said)
        titles = [one["title"] for one in told["results"]]
        unknown = {"key": "", "text": ""}
        return [self.texts.get(title) or {**unknown, "key": title, "text": said} for title in titles]

    def keys(self) -> list[str]:
        return re.findall(r"(\w+)\.md", self.client.call("list_directory", dir_name="/notes"))

    def delete(self, key: str) -> None:
        self.client.call("delete_note", identifier=f"notes/{key}")

    def handed(self, query: str) -> str:
        return self.client.call("search_notes", query=query)


SERVERS = {"server-memory": ServerMemory, "mcp-memory-service": McpMemoryService, "basic-memory": BasicMemory}
serve(SERVERS[sys.argv[1]]())
