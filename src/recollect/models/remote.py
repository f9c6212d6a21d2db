"""Embedders on a server: Ollama, OpenAI and what speaks like it, Gemini, Voyage.

Each tells query from document in its provider's way: a prefix, `taskType` or `input_type`; `CARDS` says which. Vectors
of another size than expected are refused. Rows are put in order, counted, checked for numbers and brought to length 1
here. Blank texts are not sent; of an overlong text the first 8,000 bytes are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import text as plain
from ..errors import BadAnswer, ProviderUnavailable
from .address import Address, parse
from .embedder import Role, checked
from .http import Patience, post
from .llm import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

READ = 8_000  # bytes of a text that are sent
BATCH, BATCH_BYTES = 64, 200_000  # texts and bytes in one request
QUESTION = Patience(timeout=10.0, tries=2, longest=2.0)  # someone waits for the answer
BULK = Patience()
REST = 30.0  # seconds for which a server that did not answer a question is not asked another
SCHEME = 1  # raised whenever the cards below would give a model other vectors


@dataclass(frozen=True, slots=True)
class Card:
    """What one model needs: found by a part of its name."""

    name: str
    dimension: int  # 0: of several sizes
    query: str = ""  # put before a question
    document: str = ""  # put before a note


_PASSAGES = "Represent this sentence for searching relevant passages: "
CARDS = (
    Card("nomic-embed-text", 768, "search_query: ", "search_document: "),
    Card("mxbai-embed-large", 1024, _PASSAGES),
    Card("all-minilm", 384),
    Card("snowflake-arctic-embed2", 1024, "query: "),
    Card("snowflake-arctic-embed", 0, _PASSAGES),
    Card("embeddinggemma", 768, "task: search result | query: ", "title: none | text: "),
    Card("bge-m3", 1024),
    Card("text-embedding-3-small", 1536),
    Card("text-embedding-3-large", 3072),
    Card("text-embedding-ada-002", 1536),
    Card("gemini-embedding-001", 768),
    Card("gemini-embedding-2", 768, "task: search result | query: ", "title: none | text: "),
    Card("voyage-code-2", 1536),
    Card("voyage-3-lite", 512),
    Card("voyage-", 1024),
)
SPEAKERS = ("ollama", "openai", "gemini", "voyage")


def load(url: str, patience: Patience | None = None) -> RemoteEmbedder:
    """The embedder of a URL, as the setting `embedder` has it; asks nobody anything.

    >>> load("ollama://localhost/nomic-embed-text").model
    'ollama:nomic-embed-text/768/1'
    """
    address = parse(url, SPEAKERS)
    kinds: dict[str, type[RemoteEmbedder]] = {
        "ollama": Ollama, "openai": OpenAI, "gemini": Gemini, "voyage": Voyage
    }  # fmt: skip
    return kinds[address.provider](address, patience)


class RemoteEmbedder(ABC):
    """What the adapters share; `embed_counted` also tells what it cost."""

    def __init__(self, address: Address, patience: Patience | None) -> None:
        card = next((card for card in CARDS if card.name in address.model.lower()), Card("", 0))
        self.free = address.free
        self._address = address
        self._given = patience
        self._rest = -REST
        self._card = replace(card, dimension=address.dimension or card.dimension)

    @property
    def priced(self) -> str:
        """Provider and model, as prices are looked up by."""
        return f"{self._address.provider}:{self._address.model}"

    @property
    def model(self) -> str:
        """The same weights served elsewhere give the same vectors, so the server is no part of the stamp."""
        return f"{self.priced}/{self.dimension}/{SCHEME}"

    @property
    def dimension(self) -> int:
        self.warm()
        return self._card.dimension

    def warm(self) -> None:
        """Ask for the dimension of a model that nobody has described."""
        if not self._card.dimension:
            rows, _ = self._request(["dimension"], "query", self._patience("query"))
            self._card = replace(self._card, dimension=len(rows[0]))

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        return self.embed_counted(texts, role)[0]

    def embed_counted(self, texts: Sequence[str], role: Role) -> tuple[NDArray[np.float32], Usage]:
        """The vectors, and the tokens they cost."""
        import numpy as np

        ready = self.ready(texts, role)
        found = np.zeros((len(ready), self.dimension), dtype=np.float32)
        found[:, 0] = 1  # what a blank text keeps
        spent = Usage(0)
        for numbers in _batches(ready):
            rows, used = self._request([ready[n] for n in numbers], role, self._patience(role))
            found[numbers] = self._units(rows)
            spent = Usage(spent.tokens_in + used.tokens_in, 0, spent.estimated or used.estimated)
        return found, spent

    def ready(self, texts: Sequence[str], role: Role) -> list[str]:
        """The texts as they are sent; blank ones are empty, and are not."""
        prefix = self._card.query if role == "query" else self._card.document
        sound = [text.replace("\0", " ") for text in checked(texts, role)]
        return [prefix + text.encode()[:READ].decode("utf-8", "ignore") if text.strip() else "" for text in sound]

    def _patience(self, role: Role) -> Patience:
        own = self._given or (QUESTION if role == "query" else BULK)
        return own if self._address.timeout is None else replace(own, timeout=self._address.timeout)

    def _request(self, texts: list[str], role: Role, patience: Patience) -> tuple[list[list[float]], Usage]:
        answer = self._ask(texts, role, patience)
        try:
            rows, tokens = self._rows(answer)
            sizes = {len(row) for row in rows}
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise BadAnswer(f"{self.priced} answered in a form that is not its provider's.") from error
        if len(rows) != len(texts) or not sizes or 0 in sizes:
            raise BadAnswer(f"{self.priced} gave {len(rows)} vectors for {len(texts)} texts.")
        if isinstance(tokens, int):
            return rows, Usage(tokens)
        return rows, Usage(sum(plain.tokens(text) for text in texts), estimated=True)

    def _ask(self, texts: list[str], role: Role, patience: Patience) -> dict[str, Any]:
        # Someone waits for a question's answer, and has words to search by: a dead server must not slow each of them.
        if role == "query" and patience.clock() < self._rest:
            raise ProviderUnavailable(f"{self.priced} did not answer a moment ago, and is asked again soon.")
        path, body = self._body(texts, role)
        try:
            return post(f"{self._address.base}{path}", body, self._headers(), patience)
        except ProviderUnavailable:
            self._rest = patience.clock() + REST
            raise

    def _units(self, rows: list[list[float]]) -> NDArray[np.float32]:
        import numpy as np

        wrong = sorted({len(row) for row in rows} - {self.dimension})
        if wrong:
            raise BadAnswer(
                f"{self.priced} gave {wrong[0]} numbers where {self.dimension} were expected.",
                fix=f"If that is right, say so in the setting embedder: …?dimension={wrong[0]}",
            )
        try:
            made = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadAnswer(f"{self.priced} gave something else than numbers.") from error
        if made.ndim != 2:
            raise BadAnswer(f"{self.priced} gave lists where numbers were expected.")
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise BadAnswer(f"{self.priced} gave a vector that has no direction.")
        units: NDArray[np.float32] = (made / lengths).astype(np.float32)
        return units

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._address.key}"} if self._address.key else {}

    @abstractmethod
    def _body(self, texts: list[str], role: Role) -> tuple[str, dict[str, Any]]:
        """Where to, and what."""

    @abstractmethod
    def _rows(self, answer: dict[str, Any]) -> tuple[list[list[float]], int | None]:
        """The vectors in the order of the texts, and the tokens if they are told."""


class Ollama(RemoteEmbedder):
    """`/api/embed`; roles are prefixes."""

    def _body(self, texts: list[str], role: Role) -> tuple[str, dict[str, Any]]:
        return "/api/embed", {"model": self._address.model, "input": texts, "truncate": True}

    def _rows(self, answer: dict[str, Any]) -> tuple[list[list[float]], int | None]:
        return list(answer["embeddings"]), answer.get("prompt_eval_count")


class OpenAI(RemoteEmbedder):
    """`/embeddings`; OpenAI's models know no roles, others by prefixes."""

    def _body(self, texts: list[str], role: Role) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self._address.model, "input": texts, "encoding_format": "float"}
        if self._address.dimension:
            body["dimensions"] = self._address.dimension
        return "/embeddings", body

    def _rows(self, answer: dict[str, Any]) -> tuple[list[list[float]], int | None]:
        return _by_index(answer["data"]), (answer.get("usage") or {}).get("total_tokens")


class Gemini(RemoteEmbedder):
    """`:batchEmbedContents`; roles are task types, or prefixes from the second generation on."""

    def _headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._address.key}

    def _body(self, texts: list[str], role: Role) -> tuple[str, dict[str, Any]]:
        name = f"models/{self._address.model}"
        task = {} if self._card.query else {"taskType": f"RETRIEVAL_{role.upper()}"}
        same = {"model": name, **task, "outputDimensionality": self._card.dimension or 768}
        requests = [{**same, "content": {"parts": [{"text": text}]}} for text in texts]
        return f"/{name}:batchEmbedContents", {"requests": requests}

    def _rows(self, answer: dict[str, Any]) -> tuple[list[list[float]], int | None]:
        return [one["values"] for one in answer["embeddings"]], None


class Voyage(RemoteEmbedder):
    """`/embeddings` with `input_type`."""

    def _body(self, texts: list[str], role: Role) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {"model": self._address.model, "input": texts, "input_type": role, "truncation": True}
        if self._address.dimension:
            body["output_dimension"] = self._address.dimension
        return "/embeddings", body

    def _rows(self, answer: dict[str, Any]) -> tuple[list[list[float]], int | None]:
        return _by_index(answer["data"]), (answer.get("usage") or {}).get("total_tokens")


def _by_index(data: list[dict[str, Any]]) -> list[list[float]]:
    if sorted(one["index"] for one in data) != list(range(len(data))):
        raise KeyError("index")
    return [one["embedding"] for one in sorted(data, key=lambda one: int(one["index"]))]


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of the texts that are not empty, some at a time.

    >>> list(_batches(["a", "", "b"]))
    [[0, 2]]
    """
    batch: list[int] = []
    size = 0
    for number, text in enumerate(texts):
        if not text:
            continue
        if batch and (len(batch) == BATCH or size + len(text) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(number)
        size += len(text)
    if batch:
        yield batch
