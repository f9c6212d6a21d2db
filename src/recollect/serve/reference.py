"""The page at /docs: every address, its parameters and the errors, in plain HTML that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from .. import __version__, errors
from ..ops.catalogue import OPERATIONS
from ..ops.operation import Operation
from ..ops.parameters import Kind

KINDS: dict[Kind, str] = {
    "whole": "whole number", "flag": "true or false", "texts": "list of texts", "wholes": "list of whole numbers",
    "later": "time", "ids": "id or list of ids", "objects": "list of objects", "source": "text or object",
    "map": "object",
}  # fmt: skip


def page(address: str) -> str:
    """The whole page, with examples that call the server where the reader found it."""
    parts = {
        "ADDRESS": escape(address),
        "{version}": escape(__version__),
        "{links}": "".join(f'<a href="#{op.name}">{escape(op.name)}</a>' for op in OPERATIONS),
        "{operations}": "".join(map(_operation, OPERATIONS)),
        "{errors}": _errors(),
    }
    made = resources.files(__package__).joinpath("reference.html").read_text("utf-8")
    for name, text in parts.items():
        made = made.replace(name, text, 2)
    return made


def _operation(operation: Operation) -> str:
    addresses = operation.addresses
    shown = "".join(f"<p><code>{method} {escape(path)}</code></p>" for method, path in addresses)
    rows = "".join(
        f"<tr><td><code>{escape(one.name)}</code>{' *' if one.required else ''}</td>"
        f"<td>{KINDS.get(one.kind, one.kind)}</td>"
        f"<td>{escape(one.description)}{escape(_more(one.aliases, ' Also: ', ', '))}"
        f"{escape(_more(one.choices, ' One of: ', ', '))}</td></tr>"
        for one in operation.parameters
    )
    table = f"<table><tr><th>Parameter</th><th>Type</th><th></th></tr>{rows}</table>" if rows else ""
    return (
        f'<h3 id="{operation.name}">{escape(operation.title)} <small>{operation.right}</small></h3>{shown}'
        f"<p>{escape(operation.summary)} {escape(operation.description)}</p>{table}"
    )


def _more(words: Sequence[str], lead: str, between: str) -> str:
    return f"{lead}{between.join(words)}." if words else ""


def _errors() -> str:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.RecollectError)
    ]
    rows = "".join(
        f'<tr id="error-{kind.code}"><td><code>{kind.code}</code></td><td>{kind.status}</td>'
        f"<td>{escape((kind.__doc__ or '').strip())} {escape(kind.fix)}</td></tr>"
        for kind in kinds
    )
    return f"<table><tr><th>Code</th><th>Status</th><th></th></tr>{rows}</table>"
