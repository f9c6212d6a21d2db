"""Python by the standard library's parser: for where its grammar is not installed. Pure."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterator

from .imports import Import
from .languages import PYTHON
from .symbol import Outline, Symbol

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def outline(text: str) -> Outline | None:
    """What a file holds; None where it cannot be parsed, for this parser forgives nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a file does wrongly is not for our reader to hear
            return _outline(ast.parse(text), text.splitlines(keepends=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _outline(tree: ast.Module, lines: list[str]) -> Outline:
    imports = tuple(found for node in ast.walk(tree) for found in _imports(node))
    symbols = tuple(_symbols(tree, "", lines))
    return Outline(PYTHON, ast.get_docstring(tree) or "", imports, symbols, tuple(_statements(tree, lines)))


def _statements(tree: ast.Module, lines: list[str]) -> Iterator[str]:
    for node in tree.body:
        told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        symbols = any(isinstance(one, Definition) for one in ast.walk(node))
        if not (told or symbols or isinstance(node, ast.Import | ast.ImportFrom)):
            yield "".join(lines[node.lineno - 1 : node.end_lineno]).strip("\n")


def _imports(node: ast.AST) -> list[Import]:
    if isinstance(node, ast.Import):
        return [Import(one.name, (one.asname or one.name.split(".")[0],), whole=True) for one in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    dots = "." * node.level
    if node.module:
        return [Import(dots + node.module, tuple(one.asname or one.name for one in node.names), bool(dots))]
    return [Import(dots + one.name, (one.asname or one.name,), near=True, whole=True) for one in node.names]


def _symbols(node: ast.AST, space: str, lines: list[str]) -> Iterator[Symbol]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            name = f"{space}.{child.name}" if space else child.name
            yield _symbol(child, name, space, lines)
            if isinstance(child, ast.ClassDef):
                yield from _symbols(child, name, lines)
        elif isinstance(child, ast.stmt):
            yield from _symbols(child, space, lines)


def _symbol(node: Definition, name: str, space: str, lines: list[str]) -> Symbol:
    first = min((one.lineno for one in node.decorator_list), default=node.lineno)
    last = node.end_lineno or node.lineno
    body = node.body[0].lineno
    signature = " ".join("".join(lines[node.lineno - 1 : max(body - 1, node.lineno)]).split()).rstrip(" :")
    calls = {ast.unparse(one.func): None for one in ast.walk(node) if isinstance(one, ast.Call) and _plain(one.func)}
    return Symbol(
        name=name,
        noun="type" if isinstance(node, ast.ClassDef) else "function",
        signature=signature,
        doc=ast.get_docstring(node) or "",
        source=textwrap.dedent(_without_bodies(node, first, last, lines)).strip("\n"),
        first=first,
        last=last,
        parent=space,
        calls=() if isinstance(node, ast.ClassDef) else tuple(calls)[:40],
        own=PYTHON.own,
    )


def _plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and _plain(node.value))


def _without_bodies(node: Definition, first: int, last: int, lines: list[str]) -> str:
    """The lines of a definition; of a class, of its methods only the head."""
    if not isinstance(node, ast.ClassDef):
        return "".join(lines[first - 1 : last])
    kept, at = [], first
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and child.body[0].lineno > child.lineno:
            kept += [*lines[at - 1 : child.body[0].lineno - 1], " " * child.body[0].col_offset + "...\n"]
            at = (child.end_lineno or child.lineno) + 1
    return "".join([*kept, *lines[at - 1 : last]])
