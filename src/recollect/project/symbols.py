"""Symbols: the functions and types of a code file, its imports and calls, by tree-sitter. Pure; never raises."""

from __future__ import annotations

import inspect
import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from .imports import Import, import_of
from .languages import HEADERS, PYTHON, Language, language_of

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query

MAX_TEXT = 1_000_000  # characters of a file that are parsed
MAX_SYMBOLS = 2000
MAX_CALLS = 40
MAX_NAME = 200
MAX_SIGNATURE = 500
MAX_DEPTH = 60  # how deep symbols are looked for: what lies deeper was written by a machine
# Nodes that hold data and no symbols; a table of ten thousand rows need not be walked.
_DATA = frozenset(
    """list dictionary set tuple array initializer_list array_initializer literal_value string template_string
    jsx_element binary_operator binary_expression""".split()
)
_CALLED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*")
_NAMED = re.compile(r"[\w$.#:~<>=!+\-*/%&|^\[\]() ]+")
_GENERIC = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_MARKS = re.compile(r"^[ \t]*(?:/\*+!?|\*+/|\*(?!\*)|//[/!]?|#+)[ \t]?|[ \t]*\*+/[ \t]*$", re.MULTILINE)
_LICENCE = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)
_QUOTES = re.compile(r"""\A[A-Za-z]{0,2}('''|\"\"\"|'|")(.*?)\1?\Z""", re.DOTALL)
_NEEDS = re.compile(r"package|preproc_include|preproc_if|preproc_call|use_declaration|mod_item|extern_crate|ERROR")
_REQUIRED = re.compile(r"\A[^\n]*\brequire\([^\n]*\Z|\Aif (?:typing\.)?TYPE_CHECKING\b")
_EXPORTED = re.compile(r"\A(?:(?:module\.)?exports|window|this)(?:\.|\Z)")

Noun = Literal["function", "type"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or a type: its name with the names around it, what it promises, where it stands, what it calls.

    `source` is all of it with its comments and decorators; of a type, the bodies of its members are left out. `parent`
    are the names around it; `own` the words by which it speaks of what it belongs to (`self`, a receiver).
    """

    name: str
    noun: Noun
    signature: str
    doc: str
    source: str
    first: int
    last: int
    parent: str = ""
    calls: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """A file: what it says of itself, what it needs, and what is in it, from top to bottom.

    `statements` are what stands outside of functions and types: constants, tables, what a script does.
    """

    language: Language
    doc: str
    imports: tuple[Import, ...]
    symbols: tuple[Symbol, ...]
    statements: tuple[str, ...] = ()


def outline(text: str, path: str) -> Outline | None:
    """What a file of code holds; None where no parser for it is here."""
    language = language_of(path, text)
    if language is None:
        return None
    found = grammar(language)
    return _Reader(language, found, text[:MAX_TEXT], path.lower().endswith(HEADERS)).outline() if found else None


def missing(path: str, text: str = "") -> str:
    """What must be installed for a file to be read by a grammar; nothing where it is here, or none is known."""
    language = language_of(path, text)
    return "" if language is None or grammar(language) else language.package.replace("_", "-")


def grammar(language: Language) -> Grammar | None:
    """The grammar of a language, loaded when first asked for; None where it is not installed or does not fit."""
    return _grammar(language.package, language.entry)


@cache
def _grammar(package: str, entry: str) -> Grammar | None:
    try:
        from tree_sitter import Language as Grammar

        return Grammar(getattr(import_module(package), entry)())
    except (ImportError, AttributeError, ValueError, OSError):  # not there, or of an age that does not fit
        return None


@cache
def _calls(grammar: Grammar, pattern: str) -> Query:
    """The question for the calls in a tree; making it takes longer than asking it of a file."""
    from tree_sitter import Query

    return Query(grammar, pattern)


@dataclass(frozen=True, slots=True)
class _Place:
    """A node on the way through the tree: the names around it, and whether it is merely an argument of a call."""

    node: Node
    space: str = ""
    depth: int = 0
    loose: bool = False


class _Reader:
    """Walks one tree."""

    def __init__(self, language: Language, grammar: Grammar, text: str, header: bool) -> None:
        from tree_sitter import Parser

        self._language = language
        self._grammar = grammar
        self._header = header
        self._raw = text.encode("utf-8", "replace")
        self._root = Parser(grammar).parse(self._raw).root_node

    def outline(self) -> Outline:
        imports: list[Import] = []
        found: list[tuple[Node, Symbol]] = []
        for place in self._walk():
            if place.node.type in self._language.imports:
                imports += import_of(self._language.name, place.node, self._of)
            if len(found) < MAX_SYMBOLS and (symbol := self._symbol(place)):
                found.append((place.node, symbol))
        statements = self._statements([(node.start_byte, node.end_byte) for node, _ in found])
        return Outline(self._language, self._module_doc(), tuple(imports), self._with_calls(found), statements)

    def _of(self, node: Node | None) -> str:
        return "" if node is None else self._raw[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _walk(self) -> Iterator[_Place]:
        """Every node that may be a symbol or an import; functions and data are not looked into."""
        values = self._language.values
        stack = [_Place(self._root)]
        while stack:
            place = stack.pop()
            node = place.node
            yield place
            if node.type in _DATA or place.depth > MAX_DEPTH or self._is_function(place):
                continue
            loose = node.type == "arguments" or (place.loose and node.type not in values)
            inner = self._inner(place)
            stack += [_Place(child, inner, place.depth + 1, loose) for child in reversed(node.named_children)]

    def _value(self, place: _Place) -> Node | None:
        """The function or class that a node gives a name to."""
        names = self._language.bound.get(place.node.type)
        if names is None or (place.loose and place.node.type == "pair"):
            return None
        value = place.node.child_by_field_name(names[1])
        return value if value is not None and value.type in self._language.values else None

    def _is_function(self, place: _Place) -> bool:
        if place.node.type in self._language.functions:
            return True
        value = self._value(place)
        return value is not None and value.type != "class"

    def _is_prototype(self, node: Node) -> bool:
        if not self._header or node.type not in self._language.prototypes:
            return False
        parent = node.parent
        return _function_declarator(node) is not None and (parent is None or parent.type != "field_declaration_list")

    def _body(self, node: Node) -> Node | None:
        if node.type == "type_definition":
            inner = node.child_by_field_name("type")
            return None if inner is None else inner.child_by_field_name("body")
        names = self._language.bound.get(node.type)
        value = node.child_by_field_name(names[1]) if names else node
        return None if value is None else value.child_by_field_name("body")

    def _name(self, node: Node) -> str:
        """The name as it is written, without the names around it."""
        if node.type in self._language.bound:
            left = self._of(node.child_by_field_name(self._language.bound[node.type][0])).strip("'\"")
            return _EXPORTED.sub("", left).replace(".prototype.", ".")
        name = node.child_by_field_name("name")
        if name is None:
            name = _declared(node)
        told = " ".join(self._of(name).split())
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:  # Go: func (s *Server[T]) Serve()
            words = _GENERIC.sub("", self._of(receiver)).strip("()").replace("*", " ").split()
            told = f"{words[-1]}.{told}" if words and told else told
        return told

    def _inner(self, place: _Place) -> str:
        """The names around what is inside a node."""
        node, language = place.node, self._language
        if node.type in language.spaces:
            name = _GENERIC.sub("", self._of(node.child_by_field_name(language.spaces[node.type])))
        elif node.type in language.types or node.type in language.bound:
            name = self._name(node) if self._holds(place) else ""
        else:
            return place.space
        return self._joined(place.space, name) if len(name) <= MAX_NAME else place.space

    def _holds(self, place: _Place) -> bool:
        """Whether a node is a type with members, or an object with a name."""
        names = self._language.bound.get(place.node.type)
        if names is None:
            return self._body(place.node) is not None
        value = place.node.child_by_field_name(names[1])
        return value is not None and value.type in ("object", "class") and not place.loose

    def _joined(self, space: str, name: str) -> str:
        return self._language.joint.join(part for part in (space, name) if part)

    def _symbol(self, place: _Place) -> Symbol | None:
        node, language = place.node, self._language
        noun = self._noun(place)
        name = self._name(node) if noun else ""
        if noun is None or not name or len(name) > MAX_NAME or not _NAMED.fullmatch(name):
            return None
        outer = self._outer(node)
        before = self._before(outer)
        first = before[0] if before else outer
        doc = self._docstring(node) if language is PYTHON else ""
        doc = doc or self._comment(before)
        if noun == "function" and place.space and not doc and self._body(node) is None:
            return None  # what a type merely promises is told with the type
        return Symbol(
            name=self._joined(place.space, name),
            noun=noun,
            signature=self._signature(node, outer),
            doc=doc,
            source=self._source(first, outer, node if noun == "type" else None),
            first=first.start_point[0] + 1,
            last=outer.end_point[0] + 1,
            parent=self._joined(place.space, name.rpartition(language.joint)[0]),
            own=self._own(node),
        )

    def _noun(self, place: _Place) -> Noun | None:
        node = place.node
        if self._is_function(place):
            return None if place.loose and node.type == "method_definition" else "function"
        if self._is_prototype(node):
            return "function"
        if node.type in self._language.types:
            parent = node.parent
            named = parent is not None and parent.type == "type_definition"  # C: it goes by the name it is given there
            return "type" if not named and (self._body(node) is not None or not _needs_body(node)) else None
        return "type" if self._value(place) is not None else None

    def _outer(self, node: Node) -> Node:
        """The node with what wraps it alone: its export, its decorators, its template."""
        parent = node.parent
        while parent is not None and parent.type in self._language.wrappers:
            if sum(child.type == node.type for child in parent.named_children) != 1:
                break
            node, parent = parent, parent.parent
        return node

    def _before(self, node: Node) -> list[Node]:
        """The comments and attributes that stand right before a node and belong to it."""
        found: list[Node] = []
        row = node.start_point[0]
        one = node.prev_named_sibling
        while one is not None and (one.type in self._language.comments or one.type in self._language.attached):
            end = one.end_point[0] - (one.end_point[1] == 0 and one.end_point[0] > one.start_point[0])
            if end < row - 1:
                break
            earlier = one.prev_named_sibling
            if earlier is not None and earlier.end_point[0] == one.start_point[0] and earlier.end_point[1]:
                break  # it stands behind something else on its line
            found.append(one)
            row, one = one.start_point[0], earlier
        return found[::-1]

    def _comment(self, nodes: list[Node]) -> str:
        told = "\n".join(self._of(node) for node in nodes if node.type in self._language.comments)
        return inspect.cleandoc(_MARKS.sub("", told)).strip()

    def _docstring(self, node: Node) -> str:
        body = node if node.type == "module" else self._body(node)
        held = next((child for child in body.named_children if child.type != "comment"), None) if body else None
        if held is not None and held.type == "expression_statement" and held.named_child_count:
            held = held.named_children[0]
        if held is None or held.type != "string":
            return ""
        quoted = _QUOTES.match(self._of(held))
        return inspect.cleandoc(quoted[2]).strip() if quoted else ""

    def _module_doc(self) -> str:
        """What a file says of itself: its docstring, or the comment it begins with unless that is a licence."""
        if self._language is PYTHON:
            return self._docstring(self._root)
        head: list[Node] = []
        for node in self._root.named_children:
            if node.type not in self._language.comments:
                near = head and node.start_point[0] - head[-1].end_point[0] <= 1
                if near and node.type not in self._language.imports and not node.type.startswith(("package", "import")):
                    return ""  # it belongs to what follows
                break
            head.append(node)
        told = self._comment(head)
        return "" if _LICENCE.search(told) else told

    def _statements(self, symbols: list[tuple[int, int]]) -> tuple[str, ...]:
        """The text of what stands at the top of the file and holds no symbol."""
        starts = sorted(start for start, _ in symbols)
        found = []
        for node in self._root.named_children:
            at = bisect_right(starts, node.start_byte - 1)
            holds = at < len(starts) and starts[at] < node.end_byte
            if holds or node.type in self._language.comments or "import" in node.type or _NEEDS.match(node.type):
                continue
            before = self._before(node)
            told = self._source(before[0] if before else node, node, None)
            if not (_REQUIRED.search(told) or (self._language is PYTHON and _QUOTES.fullmatch(told.strip()))):
                found.append(told)
        return tuple(found)

    def _signature(self, node: Node, outer: Node) -> str:
        body = self._body(node)
        decorated = self._language is PYTHON and outer is not node
        start = node.start_byte if decorated else outer.start_byte
        end = body.start_byte if body is not None else node.end_byte
        told = " ".join(self._raw[start:end].decode("utf-8", "replace").split())
        return told.rstrip(" :{=;").removesuffix("=>").strip()[:MAX_SIGNATURE]

    def _source(self, first: Node, outer: Node, type: Node | None) -> str:
        """The text from the first comment to the end; of a type without the bodies of its members."""
        start = first.start_byte
        line = self._raw.rfind(b"\n", 0, start) + 1
        start = line if not self._raw[line:start].strip() else start
        parts, at = [], start
        for body in self._bodies(type) if type is not None else ():
            parts.append(self._raw[at : body.start_byte] + b"...")
            at = body.end_byte
        parts.append(self._raw[at : outer.end_byte])
        return textwrap.dedent(b"".join(parts).decode("utf-8", "replace")).strip("\n")

    def _bodies(self, type: Node) -> Iterator[Node]:
        stack = [(type, 0)]
        while stack:
            node, depth = stack.pop()
            if node is not type and self._is_function(_Place(node)):
                if (body := self._body(node)) is not None:
                    yield body
            elif depth < MAX_DEPTH and node.type not in _DATA:
                stack += [(child, depth + 1) for child in reversed(node.named_children)]

    def _own(self, node: Node) -> tuple[str, ...]:
        """The words by which a function speaks of what it belongs to."""
        receiver = node.child_by_field_name("receiver")
        words = self._of(receiver).strip("()").split()
        return (*self._language.own, *(words[:1] if len(words) > 1 else ()))

    def _with_calls(self, found: list[tuple[Node, Symbol]]) -> tuple[Symbol, ...]:
        """The symbols, each with what it calls, as it is written there."""
        from tree_sitter import QueryCursor

        functions = [
            (node.start_byte, node.end_byte, n) for n, (node, symbol) in enumerate(found) if symbol.noun == "function"
        ]
        starts = [start for start, _, _ in functions]
        calls: dict[int, dict[str, None]] = {}
        captured = QueryCursor(_calls(self._grammar, self._language.calls)).captures(self._root) if functions else {}
        for node in sorted(captured.get("callee", ()), key=lambda one: one.start_byte):
            at = bisect_right(starts, node.start_byte) - 1
            if at < 0 or node.start_byte >= functions[at][1]:
                continue
            mine = calls.setdefault(functions[at][2], {})
            if len(mine) < MAX_CALLS and (name := self._called(node)):
                mine[name] = None
        return tuple(replace(symbol, calls=tuple(calls.get(n, ()))) for n, (_, symbol) in enumerate(found))

    def _called(self, node: Node) -> str:
        told = self._of(node)
        if node.type == "method_invocation":  # Java
            parts = (self._of(node.child_by_field_name(name)) for name in ("object", "name"))
            told = ".".join(part for part in parts if part)
        told = _GENERIC.sub("", told).strip()
        return told if len(told) <= MAX_NAME and _CALLED.fullmatch(told) else ""


def _needs_body(node: Node) -> bool:
    """In C `struct s` alone only speaks of a type that is told elsewhere."""
    return node.type.endswith("_specifier") or node.type == "type_definition"


def _function_declarator(node: Node) -> Node | None:
    """The part of a declaration in C that names a function, under pointers and references."""
    found: Node | None = node
    for _ in range(MAX_DEPTH):
        found = found.child_by_field_name("declarator") if found is not None else None
        if found is None or found.type == "function_declarator":
            return found
    return None


def _declared(node: Node) -> Node | None:
    """The name inside a declarator of C."""
    found = node.child_by_field_name("declarator")
    for _ in range(MAX_DEPTH):
        inner = None if found is None else found.child_by_field_name("declarator")
        if inner is None and found is not None and found.type == "reference_declarator":
            inner = next((child for child in found.named_children if child.type.endswith("declarator")), None)
        if inner is None:
            return found
        found = inner
    return found
