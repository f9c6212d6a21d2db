"""Where a remote model is: the URLs of the settings, read.

    ollama://localhost/llama3.2:3b      a model of an Ollama server; ollama://llama3.2:3b is on this machine
    openai://gpt-4.1-mini               anthropic://claude-haiku-4-5    gemini://gemini-2.5-flash    voyage://voyage-4
    http://gpu:8000/v1?model=qwen3      whatever speaks OpenAI's protocol: vLLM, llama.cpp, LM Studio, OpenRouter, …

Options behind a `?`: `dimension`, `timeout` (seconds), `base` (another address of the same protocol) and `key`, the
*name* of the environment variable with the key. To a server that the URL spells out, no key is sent unless `key` names
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from ..errors import BadInput, ModelUnavailable
from ..settings import secret
from .http import is_near

PROVIDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ollama": ("http://127.0.0.1:11434", ()),
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": ("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",)),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    "voyage": ("https://api.voyageai.com/v1", ("VOYAGE_API_KEY",)),
}
OPTIONS = ("base", "dimension", "key", "model", "timeout")
FORMS = "ollama://host/model, openai://model, anthropic://model, gemini://model, voyage://model or https://…?model=…"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,80}")


@dataclass(frozen=True, slots=True)
class Address:
    """A model of a provider. `official` says that the base is the provider's own."""

    provider: str
    base: str
    model: str
    key: str = field(repr=False, default="")
    official: bool = True
    dimension: int | None = None
    timeout: float | None = None

    @property
    def free(self) -> bool:
        """Whether nobody sends a bill: the server is this machine's or its network's."""
        return is_near(urlsplit(self.base).hostname or "")


def parse(url: str, providers: tuple[str, ...]) -> Address:
    """The address in a URL, with its key from the environment.

    >>> parse("ollama://gpu/nomic-embed-text?dimension=768", ("ollama",)).base
    'http://gpu:11434'
    >>> parse("ollama://llama3.2:3b", ("ollama",)).model
    'llama3.2:3b'
    >>> parse("http://127.0.0.1:8000/v1?model=org/name", ("openai",)).model
    'org/name'
    """
    scheme, _, rest = url.partition("://")
    parts = urlsplit(f"//{rest}")
    options = _options(parts.query)
    if "@" in parts.netloc:
        raise BadInput("The URL of a model holds a password.", fix="Name the variable that has the key: ?key=NAME")
    provider = "openai" if scheme in ("http", "https") else scheme
    if provider not in providers:
        known = ", ".join(f"{name}://" for name in providers)
        raise BadInput(f"{scheme}:// is no address of such a model.", fix=f"Use {known} or an http(s) URL.")
    default, names = PROVIDERS[provider]
    path = unquote(parts.path).strip("/")
    if scheme in ("http", "https"):
        base, model = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}", options.get("model", "")
        names = ()
    elif provider == "ollama" and path:
        host = parts.netloc or "127.0.0.1:11434"
        base, model = f"http://{host}" + ("" if re.search(r":\d+$", host) else ":11434"), path
    else:
        base, model = default, "/".join(part for part in (unquote(parts.netloc), path) if part)
    base = options.get("base", base).rstrip("/")
    if not model or not re.match(r"https?://[^/]", base):
        raise BadInput("The URL of a model names no model, or no server.", fix=f"Write {FORMS}.")
    official = base == default
    key = _key(provider, base, (options["key"],) if "key" in options else names)
    size, seconds = (_number(options, name) for name in ("dimension", "timeout"))
    return Address(provider, base, model, key, official, None if size is None else int(size), seconds)


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query))
    if unknown := sorted(options.keys() - set(OPTIONS)):
        raise BadInput(f"The URL of a model has no option {unknown[0]!r}.", fix=f"There are: {', '.join(OPTIONS)}.")
    if not _NAME.fullmatch(options.get("key", "NAME")):
        raise BadInput("key is the name of an environment variable.", fix="Put the key there, and its name here.")
    return options


def _key(provider: str, base: str, names: tuple[str, ...]) -> str:
    if not names:
        return ""
    if base.startswith("http://") and not is_near(urlsplit(base).hostname or ""):
        raise BadInput(f"{base} would get the key unencrypted.", fix="Use https.")
    if not (found := secret(names)):
        raise ModelUnavailable(f"There is no key for {provider}.", fix=f"Set {' or '.join(names)} in the environment.")
    if not found.isascii() or not found.isprintable():
        raise ModelUnavailable(f"The key in {names[0]} has characters that no key has.", fix="Set it again.")
    return found


def _number(options: dict[str, str], name: str) -> float | None:
    if name not in options:
        return None
    try:
        value = float(options[name])
    except ValueError:
        value = 0.0
    if not 0 < value <= 100_000 or (name == "dimension" and value % 1):
        raise BadInput(f"{name} in the URL of a model must be a number above zero, not {options[name]!r:.40}.")
    return value
