"""Settings: one table, read at the edge.

A setting is a field below: its name, its default and a sentence. A value comes from the environment
(`RECOLLECT_<NAME>`), else from `config.toml` in the home folder, else from here. `RECOLLECT_HOME` moves everything to
one folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .errors import BadInput

PREFIX = "RECOLLECT_"
RECIPES = "recipe"  # the tables of config.toml that are no settings
DEFAULT_HOME = Path("~/.recollect")
URLS = ("postgresql://", "postgres://")
_OF_ONE_PROCESS = ("home", "host", "port", "log_level", "tenant", "user", "project")  # what changes no answer


def _setting(default: Any, sentence: str, *, zero: bool = False) -> Any:
    return field(default=default, metadata={"sentence": sentence, "zero": zero})


@dataclass(frozen=True, slots=True)
class Settings:
    store: str = _setting("", "Path of the SQLite file, or postgresql://…; empty means recollect.db in the home folder")
    tenant: str = _setting("default", "The tenant whose memories are used; tenants never see each other's memories")
    user: str = _setting("", "The user that new memories belong to; empty means no user")
    project: str = _setting("", "The project that new memories belong to; empty means every project")
    embedder: str = _setting(
        "default", "The embedding model: default, multilingual, hashing, off, a URL, or a folder with model.onnx"
    )
    reranker: str = _setting("off", "What deep recall also asks: off, late, or a folder with a cross-encoder")
    llm: str = _setting(
        "", "The language model that extracts: ollama://host/model, openai://model, …; empty means rules"
    )
    llm_gate: str = _setting("", "A cheaper model that decides what is worth extracting; empty means llm")
    budget_day: float = _setting(1.0, "The daily limit for the cost of models, in dollars; beyond it their work pauses")
    budget_month: float = _setting(10.0, "The monthly limit for the cost of models, in dollars")
    budget_tokens: int = _setting(0, "The daily token limit for models on servers, also free ones; 0 means no limit")
    semantic: str = _setting("on", "off uses only the markdown knowledge bank, without a database or a model")
    bank: str = _setting("", "The folder of the markdown knowledge bank; empty means bank in the home folder")
    brief_limit: int = _setting(20, "How many memories an assistant gets at most at the start of a session")
    watch: str = _setting("", "Folders whose markdown files the daemon watches, separated by colons")
    daily_log: str = _setting("", "A folder for a log of each day's new memories, in markdown; empty means none")
    access_log: str = _setting(
        "off", "Whether spool/access.jsonl notes each recall: who asked what, which memories came, how they scored"
    )
    recall_limit: int = _setting(10, "How many memories recall returns by default")
    recall_recipe: str = _setting("default", "The recipe of a recall that names none; one of your own is [recipe.NAME]")
    inject: str = _setting("on", "Whether hooks give the assistant memories: on, start (when a session starts), or off")
    inject_threshold: float = _setting(
        0.6, "How probable it must be that a memory helps for a prompt to be given it, from 0 to 1", zero=True
    )
    content_limit: int = _setting(65536, "The maximum size of one memory's content, in bytes of UTF-8")
    pii: str = _setting(
        "mark", "What becomes of e-mail addresses, phone, card, account and national numbers: keep, mark or redact"
    )
    keyword_labels: str = _setting(
        "off", "Whether what is remembered without keywords is given some, as what is captured is: on, or off"
    )
    near_duplicate: float = _setting(0.92, "The cosine from which a new memory is reported as a near duplicate")
    review_capacity: int = _setting(1000, "How many memories may wait for review; when it is full, more are refused")
    review_days: int = _setting(30, "How many days a memory waits for review before it expires")
    commits: str = _setting("on", "Whether commits of your repositories become memories: on, or off")
    commits_at_first: int = _setting(200, "How many commits are read when a repository is first seen")
    branches: str = _setting("on", "Whether memories of a branch stay on it until it is merged: on, or off")
    answers: str = _setting("on", "Whether an answer is kept and served again: on, or off, which computes each anew")
    answers_after: int = _setting(3, "How often a question is asked before its answer is cached")
    answers_expensive_ms: int = _setting(500, "From how many milliseconds of computing an answer is cached sooner")
    answers_expensive_after: int = _setting(2, "How often such a question is asked before its answer is cached")
    answers_sure: float = _setting(0.9, "The confidence above which an answer is cached the first time")
    answers_warm: int = _setting(2, "How often a question is asked to be warm")
    answers_hot: int = _setting(4, "How often a question is asked to be hot")
    answers_core: int = _setting(10, "How often a question is asked to be core, which is recomputed automatically")
    answers_most: int = _setting(10_000, "How many answers are cached; beyond that the coldest and oldest are evicted")
    answers_hours: float = _setting(
        24.0, "How many hours an answer is valid, unless something it was built from changes"
    )
    answers_hours_timely: float = _setting(1.0, "The same for a question that mentions a time, such as 'yesterday'")
    answers_hours_given: float = _setting(720.0, "The same for an answer that somebody gave")
    answers_retire: int = _setting(2, "How often an answer is rated unhelpful before it is retired")
    answers_forget_days: int = _setting(
        90, "After how many days a question without an answer that nobody asks again is forgotten; 0 means never",
        zero=True,
    )  # fmt: skip
    answers_risk: str = _setting(
        "normal",
        "How often a cached answer may be that of another question: strict (0.5 % served), normal (1 %) or loose (5 %)",
    )
    answers_check: str = _setting("off", "Whether the gate model checks an answer before it is cached: on or off")
    answers_judge: str = _setting("off", "Whether the gate model decides if two questions ask the same: on or off")
    janitor_hours: float = _setting(
        24.0, "How many hours after the last run the daemon cleans up again; 0 means never", zero=True
    )
    decay_days: int = _setting(
        90, "In how many unused days an ordinary memory counts half; 0 means that nothing decays", zero=True
    )
    compact_days: int = _setting(
        180, "After how many unused days old turns are summed up and archived; 0 means never", zero=True
    )
    embed_batch: int = _setting(50, "How many memories are embedded and committed at a time after a model change")
    health_hours: float = _setting(
        24.0, "How many hours apart the daemon measures what the vector index finds; 0 means never", zero=True
    )
    busy_timeout: float = _setting(30.0, "How many seconds a write waits for other processes before it gives up")
    host: str = _setting("127.0.0.1", "The address the daemon listens on; other than loopback it needs a token")
    port: int = _setting(7733, "The port the daemon listens on; if the default is in use, the next free one")
    rate_limit: int = _setting(600, "How many requests a token may make per minute, also all at once")
    agent_rate: int = _setting(600, "How many calls an agent may make per minute, also all at once")
    request_limit: int = _setting(16_777_216, "The maximum size of a request to the daemon, in bytes")
    request_timeout: float = _setting(60.0, "How many seconds a request may take before it fails")
    traces: str = _setting("", "The OTLP address to which spans of recalls are sent; empty means none")
    log_level: str = _setting("info", "The log level of the daemon: debug, info, warning or error")
    home: Path = field(metadata={"sentence": "The folder of everything the program keeps"}, default=DEFAULT_HOME)

    @property
    def remote(self) -> bool:
        """Whether the store is a database server, not a file."""
        return self.store.startswith(URLS)

    @property
    def store_path(self) -> Path:
        """The file of the store, unless it is remote."""
        return Path(self.store).expanduser() if self.store else self.home / "recollect.db"

    @property
    def place(self) -> str:
        """What opens the store: a URL or a path."""
        return self.store if self.remote else str(self.store_path)

    @property
    def standing(self) -> str:
        """The same, wherever it is looked at from."""
        return self.store if self.remote else str(self.store_path.absolute())

    @property
    def bank_path(self) -> Path:
        """The folder of the markdown knowledge bank."""
        return Path(self.bank).expanduser() if self.bank else self.home / "bank"

    @property
    def config_path(self) -> Path:
        return self.home / "config.toml"

    def fingerprint(self) -> str:
        """Equal where two processes answer alike: the same store and the same settings, but for who asks and where."""
        told = {f.name: str(getattr(self, f.name)) for f in fields(self) if f.name not in _OF_ONE_PROCESS}
        return hashlib.sha256(json.dumps({**told, "store": self.standing}, sort_keys=True).encode()).hexdigest()


def shown(place: str) -> str:
    """A place as it may be shown: a URL without its password.

    >>> shown("postgresql://ana:secret@db.example:5432/recollect")
    'postgresql://ana:***@db.example:5432/recollect'
    >>> shown("postgresql://ana:se/cr@t@db.example/recollect?sslpassword=secret")
    'postgresql://ana:***@db.example/recollect?sslpassword=***'
    """
    if not place.startswith(URLS):
        return place
    # To the last @, also where the password holds what should have been percent-encoded.
    hidden = re.sub(r"(//[^:@/?]*):.*@", r"\1:***@", place)
    return re.sub(r"(password=)[^&]*", r"\1***", hidden)


def home_of(environ: Mapping[str, str]) -> Path:
    """The home folder that an environment names."""
    return Path(environ.get(f"{PREFIX}HOME") or "~/.recollect").expanduser()


def load(environ: Mapping[str, str] | None = None, **given: Any) -> tuple[Settings, dict[str, str]]:
    """The settings in force, and where each value came from."""
    environ = os.environ if environ is None else environ
    settings = Settings(home=home_of(environ))
    origin = dict.fromkeys((f.name for f in fields(Settings)), "default")
    if environ.get(f"{PREFIX}HOME"):
        origin["home"] = f"{PREFIX}HOME"
    for name, value in _from_file(settings.config_path).items():
        if name == RECIPES:
            continue
        settings = _with(settings, name, value, str(settings.config_path))
        origin[name] = str(settings.config_path)
    for name in origin.keys() - {"home"}:
        if (text := environ.get(PREFIX + name.upper())) is not None:
            settings = _with(settings, name, text, PREFIX + name.upper())
            origin[name] = PREFIX + name.upper()
    for name, value in given.items():
        if value is not None:
            settings = _with(settings, name, value, "argument")
            origin[name] = "argument"
    return settings, origin


def lexicon(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Words that mean the same here, from `lexicon.toml` in the home folder: `blaze = ["the billing service"]`."""
    path = settings.home / "lexicon.toml"
    told = _from_file(path)
    for word, others in told.items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise BadInput(f"{path}: {word} must be a list of texts.", fix='Write it as: word = ["other word"]')
    return {word: tuple(others) for word, others in told.items()}


def recipe_tables(settings: Settings) -> dict[str, dict[str, Any]]:
    """Recipes of one's own in `config.toml`: `[recipe.mine]` with `arms = { text = 0.3, vector = 0.7 }`."""
    told = _from_file(settings.config_path).get(RECIPES, {})
    if not isinstance(told, dict) or not all(isinstance(one, dict) for one in told.values()):
        raise BadInput(
            f"{settings.config_path}: recipe must be a table of tables.", fix="Write [recipe.NAME] above it."
        )
    return told


def prices(settings: Settings) -> dict[str, tuple[float, float]]:
    """Prices of one's own, from `prices.toml` in the home folder: `"model" = [0.5, 2.0]`, dollars for 1M in and out."""
    path = settings.home / "prices.toml"
    told = _from_file(path)
    for model, pair in told.items():
        if not isinstance(pair, list) or len(pair) != 2 or not all(_is_price(one) for one in pair):
            raise BadInput(f"{path}: {model} must be two numbers.", fix='Write it as: "model" = [0.5, 2.0]')
    return {model: (float(pair[0]), float(pair[1])) for model, pair in told.items()}


def _is_price(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6


def secret(names: Sequence[str]) -> str:
    """The first of these environment variables that is set: where keys come from, and nowhere else."""
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}.", fix="Correct that file or move it away.") from error
    except NotADirectoryError as error:
        raise BadInput(f"{path.parent} is not a folder.", fix=f"Set {PREFIX}HOME to a folder.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", fix="Make it readable for you.") from error


def _with(settings: Settings, name: str, value: Any, origin: str) -> Settings:
    names = [f.name for f in fields(Settings) if f.name != "home"]
    if name not in names:
        raise BadInput(f"{origin}: there is no setting {name!r}.", fix=f"The settings are: {', '.join(names)}.")
    wanted = type(getattr(settings, name))
    try:
        fitting = wanted(value)
    except (TypeError, ValueError) as error:
        kind = {int: "a whole number", float: "a number"}.get(wanted, "text")
        raise BadInput(f"{origin}: {name} must be {kind}, not {value!r}.") from error
    zero = next(f.metadata.get("zero") for f in fields(Settings) if f.name == name)
    if wanted is not str and (fitting < 0 or (fitting == 0 and not zero)):
        raise BadInput(f"{origin}: {name} must be {'zero or more' if zero else 'above zero'}, not {value!r}.")
    return replace(settings, **{name: fitting})
