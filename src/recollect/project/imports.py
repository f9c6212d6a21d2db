"""Imports: what a file of code needs from elsewhere, as each language writes it. Pure."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_MODULE = 150
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_JOINTS = re.compile(r"::|[./]")
_DOTTED = re.compile(r"(\.+)([\w.]*)")
Of = Callable[["Node | None"], str]


@dataclass(frozen=True, slots=True)
class Import:
    """A module as it is written in the code, the names it gives to the file, and whether it is written as beside it.

    `whole` says that the name stands for the module itself and not for something in it.
    """

    module: str
    names: tuple[str, ...] = ()
    near: bool = False
    whole: bool = False

    def files(self, path: str) -> tuple[str, ...]:
        """The files of this project that it may mean, seen from the file that imports it.

        >>> Import(".types", near=True).files("src/app/main.py")
        ('src/app/types.py', 'src/app/types/__init__.py')
        >>> Import("./x", near=True).files("web/a.ts"), Import("b.h", near=True).files("src/a.c")
        (('web/x.ts', 'web/x/index.ts'), ('src/b.h',))
        >>> Import("app.db").files("src/app/main.py"), Import("crate::a::B").files("core/src/x/y.rs")
        (('src/app/db.py', 'src/app/db/__init__.py'), ('core/src/a/B.rs', 'core/src/a.rs'))
        >>> Import("redis").files("src/app/main.py")
        ()
        """
        folder, suffix = posixpath.split(path)[0], posixpath.splitext(path)[1]
        if self.near:
            dotted = _DOTTED.fullmatch(self.module)  # one dot of Python is this folder
            module = "../" * (len(dotted[1]) - 1) + dotted[2].replace(".", "/") if dotted else self.module
            return _may_be(posixpath.normpath(posixpath.join(folder, module)), suffix)
        return self._inside(folder.split("/"), suffix)

    def _inside(self, folders: list[str], suffix: str) -> tuple[str, ...]:
        """A module of the project itself: its first name is one of the folders that the file lies in."""
        parts = _JOINTS.split(self.module)
        if suffix == ".rs":
            if parts[0] != "crate" or "src" not in folders:
                return ()
            above, parts = folders[: folders.index("src") + 1], parts[1:]
            found = ("/".join([*above, *parts]), "/".join([*above, *parts[:-1]]))
            return tuple(f"{one}.rs" for one in found if parts and not one.endswith("src"))
        if suffix not in (".py", ".java") or parts[0] not in folders or parts[0] in _LANGUAGES_OWN:
            return ()
        module = "/".join([*folders[: folders.index(parts[0])], *parts])
        modules = [f"{module}/{name}{suffix}" for name in self.names if suffix == ".py" and not self.whole]
        return (*_may_be(module, suffix), *modules)

    def foreign(self, path: str) -> bool:
        """Whether it is something to depend on: not of this project, and not of the language itself."""
        first = _JOINTS.split(self.module)[0]
        if path.endswith(".go"):
            return "." in self.module.split("/")[0]
        return not self.near and not self.module.startswith("node:") and first not in _LANGUAGES_OWN


class OwnFiles:
    """The files of a project, found by the absolute imports that mean them."""

    def __init__(self, files: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._packages: set[str] = set()
        for file in files:
            *folders, name = file.split("/")
            self._by_name.setdefault(name, []).append(file)
            if name.endswith(".py"):
                self._packages.update(folders)

    def find(self, module: str, names: tuple[str, ...], path: str) -> str | None:
        """The file that an import means, an empty one where only its folder is known; or None where it is foreign.

        It is looked for below every folder, because any of them may be where imports start: the root, `src`, the folder
        of a service. Of several the one nearest to the importing file is meant. A single name could be anything: it is
        looked for only in the folders above the file and their `src`, or must be a package.

        >>> own = OwnFiles(["src/shop/db.py", "src/shop/__init__.py", "auth/pool.py", "tests/test_db.py", "x/redis.py"])
        >>> own.find("shop.db", (), "tests/test_db.py"), own.find("shop", ("x",), "tests/test_db.py")
        ('src/shop/db.py', 'src/shop/__init__.py')
        >>> own.find("auth", ("pool",), "tests/test_db.py"), own.find("redis", (), "tests/test_db.py")
        ('auth/pool.py', None)
        """
        suffix = posixpath.splitext(path)[1]
        parts = [part for part in _JOINTS.split(re.sub(r"^[@~]/", "", module)) if part]
        stem = "/".join(parts)
        if suffix in _HEADERS:
            wanted = [module]
        else:
            wanted = [one for name in names for one in _named(f"{stem}/{name}", suffix)]
            wanted += _named(stem, suffix) + (_named("/".join(parts[:-1]), suffix) if len(parts) > 2 else [])
        found = next((file for one in wanted if (file := self._nearest(one, path))), None)
        return "" if found is None and suffix == ".py" and parts[:1] and parts[0] in self._packages else found

    def _nearest(self, wanted: str, path: str) -> str:
        named = self._by_name.get(wanted.rpartition("/")[2], ())
        found = [file for file in named if file == wanted or file.endswith(f"/{wanted}")]
        if "/" not in wanted:
            near = {posixpath.join(folder, start, wanted) for folder in _above(path) for start in ("", "src", "lib")}
            found = [file for file in found if file in near]
        return max(found, key=lambda file: (len(posixpath.commonpath([file, path])), -len(file), file), default="")


def _named(stem: str, suffix: str) -> list[str]:
    """The files that a module may be: written in any of the languages that import each other."""
    family = next((some for some in _FAMILIES if suffix in some), (suffix,))
    return [one for other in family for one in _may_be(stem, other)]


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]


_HEADERS = (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh")
_FAMILIES = ((".ts", ".tsx", ".js", ".jsx", ".mjs"), (".java", ".kt"))
_LANGUAGES_OWN = sys.stdlib_module_names | frozenset(
    "std core alloc crate self super java javax fs path http https util events stream crypto".split()
)
_INDEX = {".py": "__init__.py"} | {suffix: f"index{suffix}" for suffix in (".ts", ".tsx", ".js", ".jsx", ".mjs")}


def _may_be(found: str, suffix: str) -> tuple[str, ...]:
    """A module's file: named as it is, or the one that stands for a folder."""
    if suffix != ".py" and posixpath.splitext(found)[1]:
        return (found,)
    return (found + suffix, f"{found}/{_INDEX[suffix]}") if suffix in _INDEX else (found + suffix,)


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
            found.append(Import(module, (alias or module.split(".")[0],), whole=True))
        return found
    module = of(node.child_by_field_name("module_name"))
    local = tuple(of(one.child_by_field_name("alias")) or of(one) for one in names)
    if module.strip(".") or not module:
        return [Import(module, local, module.startswith("."))]
    return [
        Import(module + of(one.child_by_field_name("name") or one), (name,), near=True, whole=True)
        for one, name in zip(names, local, strict=True)
    ]


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
    return [Import(module, names, module.startswith("."), whole="*" in bound)]


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
