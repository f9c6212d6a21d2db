"""Imports: what a file of code needs from elsewhere, as each language writes it. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_MODULE = 150
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
Of = Callable[["Node | None"], str]


@dataclass(frozen=True, slots=True)
class Import:
    """A module as it is written in the code, the names it gives to the file, and whether it is beside the file."""

    module: str
    names: tuple[str, ...] = ()
    near: bool = False

    def target(self, path: str) -> str:
        """What a link to it names: a file of this project, or a module of elsewhere.

        >>> Import(".types", near=True).target("src/app/main.py"), Import("./x", near=True).target("web/a.ts")
        ('file:src/app/types.py', 'file:web/x.ts')
        >>> Import("b.h", near=True).target("src/a.c"), Import("os.path").target("a.py")
        ('file:src/b.h', 'module:os.path')
        """
        if not self.near:
            return f"module:{self.module}"
        folder, suffix = posixpath.split(path)[0], posixpath.splitext(path)[1]
        if self.module.startswith(".") and "/" not in self.module:  # Python's dots: one is this folder
            dots = len(self.module) - len(self.module.lstrip("."))
            module = "../" * (dots - 1) + self.module[dots:].replace(".", "/")
        else:
            module = self.module
        found = posixpath.normpath(posixpath.join(folder, module or "__init__"))
        known = posixpath.splitext(found)[1] if "/" in self.module or not self.module.startswith(".") else ""
        return f"file:{found}" if known else f"file:{found}{suffix}"


def import_of(language: str, node: Node, of: Of) -> list[Import]:
    """The imports that one node of a tree makes."""
    found = _READERS[language](node, of)
    return [one for one in found if one.module and len(one.module) <= MAX_MODULE and "\n" not in one.module]


def _python(node: Node, of: Of) -> list[Import]:
    names = node.children_by_field_name("name")
    if node.type == "import_statement":
        found = []
        for one in names:
            alias = of(one.child_by_field_name("alias"))
            module = of(one.child_by_field_name("name")) if alias else of(one)
            found.append(Import(module, (alias or module.split(".")[0],)))
        return found
    module = of(node.child_by_field_name("module_name"))
    local = tuple(of(one.child_by_field_name("alias")) or of(one) for one in names)
    if module.strip(".") or not module:
        return [Import(module, local, module.startswith("."))]
    return [Import(module + of(one.child_by_field_name("name") or one), (name,), True)
            for one, name in zip(names, local, strict=True)]  # fmt: skip


def _script(node: Node, of: Of) -> list[Import]:
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        if value is None or value.type != "call_expression" or of(value.child_by_field_name("function")) != "require":
            return []
        source, bound = value.child_by_field_name("arguments"), of(node.child_by_field_name("name"))
    else:
        source = node.child_by_field_name("source")
        bound = "".join(of(child) for child in node.named_children if child.type == "import_clause")
    if source is None:
        return []
    module = of(source).strip("()'\"` \n")
    names = tuple(word for word in _WORD.findall(bound) if word not in ("as", "type", "default"))
    return [Import(module, names, module.startswith("."))]


def _go(node: Node, of: Of) -> list[Import]:
    module = of(node.child_by_field_name("path")).strip('"`')
    return [Import(module, (of(node.child_by_field_name("name")) or module.split("/")[-1],))]


def _rust(node: Node, of: Of) -> list[Import]:
    argument = node.child_by_field_name("argument")
    told = " ".join(of(argument).split())
    head = re.split(r"::\{|::\*| as ", told)[0]
    names = tuple(word for word in _WORD.findall(told[len(head) :]) if word not in ("as", "self"))
    return [Import(head, names or (head.split("::")[-1],))]


def _java(node: Node, of: Of) -> list[Import]:
    told = of(node).removeprefix("import").strip("; \n").removeprefix("static ").strip()
    return [Import(told.removesuffix(".*"), (told.split(".")[-1],))]


def _include(node: Node, of: Of) -> list[Import]:
    path = of(node.child_by_field_name("path"))
    return [Import(path.strip('<>" '), (), path.startswith('"'))]


_READERS: dict[str, Callable[[Node, Of], list[Import]]] = {
    "python": _python, "javascript": _script, "typescript": _script, "tsx": _script, "go": _go, "rust": _rust,
    "java": _java, "c": _include, "cpp": _include,
}  # fmt: skip
