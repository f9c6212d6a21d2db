"""The ONNX embedder: a sentence model on the processor, by onnxruntime and tokenizers.

A folder holds `model.onnx`, `tokenizer.json` and, optionally, the card `model.json`: id, dimension, pooling, prefixes,
longest input and checksums, which are checked before the files are used.

**One text per run, never a padded batch.** The int8 graph scales its activations by the extremes of the whole tensor,
so in a batch the neighbours of a text shift its vector (cosines of 0.989 to 0.997). Alone, a text has one vector, bit
for bit, at next to no cost. A list is spread over `threads` runs at once, each on one thread.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ModelUnavailable
from .embedder import PACKAGED, Role, checked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

FILES = ("model.onnx", "tokenizer.json")
_INSTALL = "Run: pip install onnxruntime tokenizers; until then text search works alone."
_QUIET = 3  # errors only: a warning of onnxruntime would land in the middle of a protocol on stderr
_LETTERS = 64  # letters read per token of the model's limit; more cannot matter, and megabytes would take seconds


@dataclass(frozen=True, slots=True)
class Card:
    """What model.json says. Without it: mean pooling and no prefixes, the most common kind of sentence model."""

    id: str = ""
    dimension: int = 0
    pooling: Literal["cls", "mean"] = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 512
    sha256: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Card:
        path = folder / "model.json"
        if not path.exists():
            return cls()
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"{path} cannot be read: {error}.", fix=_mend(folder)) from error
        if not isinstance(told, dict):
            raise ModelUnavailable(f"{path} holds no JSON object.", fix=_mend(folder))
        card = cls(**{name: told[name] for name in cls.__slots__ if name in told})
        wrong = {name for name in cls.__slots__ if type(getattr(card, name)) is not type(getattr(cls(), name))}
        if card.pooling not in ("cls", "mean"):
            wrong.add("pooling")
        if "max_tokens" not in wrong and card.max_tokens < 3:
            wrong.add("max_tokens")
        if wrong:
            raise ModelUnavailable(f"{path}: {', '.join(sorted(wrong))} cannot be used.", fix=_mend(folder))
        return card


class OnnxEmbedder:
    """A sentence model in a folder; the files are opened at the first use and shared by all threads."""

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        if absent := [name for name in FILES if not (folder / name).is_file()]:
            raise ModelUnavailable(f"{' and '.join(absent)} missing in {folder}.", fix=_mend(folder))
        if unheard := [name for name in ("onnxruntime", "tokenizers") if not _installed(name)]:
            raise ModelUnavailable(f"{' and '.join(unheard)} not installed.", fix=_INSTALL)
        self._folder = folder
        self._threads = threads
        self._card = Card.read(folder)
        self._lock = Lock()
        self._engine: _Engine | None = None

    @cached_property
    def model(self) -> str:
        """The id of the card, or one made from all that shapes a vector, so that unnamed models are told apart too."""
        if self._card.id:
            return self._card.id
        shaped_by = [*(checksum(self._folder / name) for name in FILES), repr(self._card)]
        mark = hashlib.sha256("\n".join(shaped_by).encode()).hexdigest()[:12]
        return f"{self._folder.resolve().name}/{mark}"

    @property
    def dimension(self) -> int:
        return self._card.dimension or self._ready().dimension

    def warm(self) -> None:
        self._ready()

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        import numpy as np

        prefix = self._card.query_prefix if role == "query" else self._card.document_prefix
        prefixed = [prefix + text for text in checked(texts, role)]
        if not prefixed:
            return np.zeros((0, self.dimension), dtype=np.float32)
        engine = self._ready()
        if self._threads == 1 or len(prefixed) == 1:
            return np.stack([engine.embed(text) for text in prefixed])
        # A pool per call: its threads cost a tenth of a millisecond, and none is left behind between calls.
        with ThreadPoolExecutor(self._threads, "recollect-embed") as pool:
            return np.stack(list(pool.map(engine.embed, prefixed)))

    def tokens(self, text: str, role: Role) -> NDArray[np.float32]:
        """One unit vector a token of the text, without prefix and marks: what late interaction compares."""
        engine = self._ready()
        prefix = self._card.query_prefix if role == "query" else self._card.document_prefix
        (checked_text,) = checked([text], role)
        return engine.tokens(prefix, checked_text)

    def pair(self, one: str, other: str) -> float:
        """What a model of pairs, a cross-encoder, gives for two texts."""
        return self._ready().pair(*checked([one, other], "query"))

    def _ready(self) -> _Engine:
        if self._engine is None:
            with self._lock:
                if self._engine is None:
                    self._engine = _Engine(self._folder, self._card)
        return self._engine


class _Engine:
    """The opened files: a tokenizer and a session, both safe to call from several threads."""

    def __init__(self, folder: Path, card: Card) -> None:
        for name, wanted in card.sha256.items():
            if checksum(folder / name) != wanted:
                message = f"{folder / name} is not the file that model.json describes: wrong sha256."
                raise ModelUnavailable(message, fix=_mend(folder))
        self._session = open_session(folder / FILES[0])
        self._tokenizer = open_tokenizer(folder)
        self._tokenizer.enable_truncation(card.max_tokens)
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._card = card
        self.dimension = len(self.embed(""))  # a first run, which also makes the next one fast
        if card.dimension not in (0, self.dimension):
            message = f"The model in {folder} gives {self.dimension} numbers, and model.json says {card.dimension}."
            raise ModelUnavailable(message, fix=_mend(folder))

    def _run(self, ids: Sequence[int], kinds: Sequence[int] | None = None) -> NDArray[np.float32]:
        import numpy as np

        row = np.array([ids or [0]], dtype=np.int64)  # a tokenizer without marks finds no token in an empty text
        types = np.zeros_like(row) if kinds is None else np.array([kinds], dtype=np.int64)
        feed = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": types}
        outputs = self._session.run([self._output], {k: v for k, v in feed.items() if k in self._inputs})
        return np.asarray(outputs[0][0], dtype=np.float32)

    def tokens(self, prefix: str, text: str) -> NDArray[np.float32]:
        import numpy as np

        skipped = len(self._tokenizer.encode(prefix, add_special_tokens=False).ids) if prefix else 0
        hidden = self._run(self._tokenizer.encode(prefix + text[: self._card.max_tokens * _LETTERS]).ids)
        own = hidden[1 + skipped : -1] if len(hidden) > 2 + skipped else hidden
        return np.asarray(own / np.linalg.norm(own, axis=1, keepdims=True), dtype=np.float32)

    def pair(self, one: str, other: str) -> float:
        """The first number that the graph gives for two texts read together."""
        encoded = self._tokenizer.encode(one, other[: self._card.max_tokens * _LETTERS])
        return float(self._run(encoded.ids, encoded.type_ids).reshape(-1)[0])

    def embed(self, text: str) -> NDArray[np.float32]:
        import numpy as np

        hidden = self._run(self._tokenizer.encode(text[: self._card.max_tokens * _LETTERS]).ids)
        if hidden.ndim == 1:
            vector = hidden  # the graph pools by itself
        elif self._card.pooling == "cls":
            vector = hidden[0]
        else:
            vector = hidden.mean(axis=0)  # every token is a real one, as nothing is padded
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


def open_session(path: Path) -> Any:
    """A graph, ready to run on one thread."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelUnavailable(f"{error}.", fix=_INSTALL) from error
    onnxruntime.set_default_logger_severity(_QUIET)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # no slower, and 30 MB less for two long texts at once
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises private classes
        raise ModelUnavailable(f"{path} cannot be opened: {error}.", fix=_mend(path.parent)) from error


def open_tokenizer(folder: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelUnavailable(f"{error}.", fix=_INSTALL) from error
    try:
        found = Tokenizer.from_file(str(folder / FILES[1]))
    except Exception as error:  # tokenizers raises the bare class
        raise ModelUnavailable(f"{folder / FILES[1]} cannot be opened: {error}.", fix=_mend(folder)) from error
    found.no_truncation()
    found.no_padding()
    return found


def _installed(name: str) -> bool:
    """Whether it could be imported, found out without importing it."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelUnavailable(f"{path} cannot be read: {error.strerror}.", fix=_mend(path.parent)) from error


def _mend(folder: Path) -> str:
    if folder == PACKAGED:
        return f"Reinstall the package, or in a checkout run: git checkout -- {folder}"
    return f"Put the model's own files into {folder} again, or use the packaged model (the name is: default)."
