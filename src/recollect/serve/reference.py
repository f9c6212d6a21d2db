"""The page at /docs: every address, its parameters and the errors, in plain HTML that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .. import __version__, errors
from ..ops.catalogue import OPERATIONS
from ..ops.operation import Operation
from ..ops.parameters import Kind

KINDS: dict[Kind, str] = {
    "whole": "whole number", "flag": "true or false", "texts": "list of texts", "wholes": "list of whole numbers",
    "later": "time", "ids": "id or list of ids", "objects": "list of objects", "source": "text or object",
    "map": "object",
}  # fmt: skip
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem; }
h3 { margin: 2rem 0 .25rem; } h3 small { font-weight: 400; opacity: .7; }
code, pre { font: 14px/1.45 ui-monospace, monospace; background: var(--soft); border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .75rem 1rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: .75rem; white-space: nowrap; }
"""
INTRO = """
<p>Every operation takes and gives JSON. Send <code>Authorization: Bearer …</code> with a token, made by <code>recollect
token create</code>; the owner of the home may send its secret, which lies in <code>~/.recollect/secret</code>. The
machine-readable form of this page is <a href="/openapi.json">/openapi.json</a>.</p>
<pre>echo "Authorization: Bearer $(cat ~/.recollect/secret)" > owner
curl -H @owner --json '{"content": "We deploy on Thursdays."}' ADDRESS/v1/memories
curl -H @owner --json '{"query": "when do we deploy?"}' ADDRESS/v1/recall</pre>
<p>A memory's version comes as <code>ETag</code>; send it back as <code>If-Match</code> to change only that version, or
as <code>If-None-Match</code> to be told that nothing changed. A write with an <code>Idempotency-Key</code> is done
once. <code>GET /v1/events</code> streams every change and goes on after <code>Last-Event-ID</code>.</p>
"""


def page(address: str) -> str:
    """The whole page, with examples that call the server where the reader found it."""
    intro = INTRO.replace("ADDRESS", escape(address))
    links = "".join(f'<a href="#{op.name}">{escape(op.name)}</a>' for op in OPERATIONS)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Recollect over HTTP</title><style>{STYLE}</style></head><body>"
        f"<h1>Recollect over HTTP <small>{escape(__version__)}</small></h1>{intro}"
        f"<h2>Operations</h2><nav>{links}</nav>{''.join(map(_operation, OPERATIONS))}"
        f"<h2>Errors</h2><p>An error is <code>application/problem+json</code> with a code and a fix.</p>{_errors()}"
        "</body></html>"
    )


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
