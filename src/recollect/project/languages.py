"""Languages: which grammar reads which file, and which nodes of its trees are functions, types, imports, calls. Data.

A language is a row of this table and no code path of its own, but for how its imports are written (`symbols.py`). The
names of nodes are those of the grammar packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Language:
    """How one language's trees are read.

    `functions` are not looked into for further symbols; `types` have members; `spaces` only lend their name to what is
    in them. `bound` are nodes that give a name to one of `values` (`const f = () => …`): the fields of the name and of
    the value. `wrappers` belong to the one symbol in them (`export`, a decorator); `attached` stand before a symbol and
    belong to it. `calls` is a query for what is called; `own` are the words for what a method belongs to, which is
    `implied` where a bare name may mean it. `prototypes` are declarations without a body, which count in headers only.
    """

    name: str
    suffixes: tuple[str, ...]
    package: str
    functions: frozenset[str]
    types: frozenset[str]
    imports: frozenset[str]
    calls: str
    entry: str = "language"
    spaces: Mapping[str, str] = field(default_factory=dict)
    bound: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset()
    prototypes: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset(("comment",))
    joint: str = "."
    own: tuple[str, ...] = ("this",)
    implied: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTHON = Language(
    "python", (".py", ".pyi", ".pyw"), "tree_sitter_python",
    functions=_words("function_definition"), types=_words("class_definition"),
    imports=_words("import_statement import_from_statement"), calls="(call function: (_) @callee)",
    wrappers=_words("decorated_definition"), own=("self", "cls"),
)  # fmt: skip
JAVASCRIPT = Language(
    "javascript", (".js", ".jsx", ".mjs", ".cjs"), "tree_sitter_javascript",
    functions=_words("function_declaration generator_function_declaration method_definition function_signature"),
    types=_words("class_declaration abstract_class_declaration interface_declaration enum_declaration "
                 "type_alias_declaration"),
    imports=_words("import_statement export_statement variable_declarator"),
    calls="(call_expression function: (_) @callee) (new_expression constructor: (_) @callee)",
    spaces={"internal_module": "name", "module": "name"},
    bound={
        "variable_declarator": ("name", "value"), "pair": ("key", "value"), "assignment_expression": ("left", "right"),
        "public_field_definition": ("name", "value"), "field_definition": ("property", "value"),
    },
    values=_words("arrow_function function_expression generator_function class"),
    wrappers=_words("export_statement ambient_declaration lexical_declaration variable_declaration "
                    "expression_statement"),
    attached=_words("decorator"),
)  # fmt: skip
TYPESCRIPT = replace(
    JAVASCRIPT, name="typescript", suffixes=(".ts", ".mts", ".cts"), package="tree_sitter_typescript",
    entry="language_typescript",
)  # fmt: skip
GO = Language(
    "go", (".go",), "tree_sitter_go",
    functions=_words("function_declaration method_declaration"), types=_words("type_spec"),
    imports=_words("import_spec"), calls="(call_expression function: (_) @callee)",
    wrappers=_words("type_declaration"), own=(),
)  # fmt: skip
RUST = Language(
    "rust", (".rs",), "tree_sitter_rust",
    functions=_words("function_item function_signature_item macro_definition"),
    types=_words("struct_item enum_item union_item trait_item"), imports=_words("use_declaration"),
    calls="(call_expression function: (_) @callee) (macro_invocation macro: (_) @callee)",
    spaces={"impl_item": "type", "mod_item": "name"}, attached=_words("attribute_item"),
    comments=_words("line_comment block_comment"), joint="::", own=("self", "Self"),
)  # fmt: skip
JAVA = Language(
    "java", (".java",), "tree_sitter_java",
    functions=_words("method_declaration constructor_declaration compact_constructor_declaration"),
    types=_words("class_declaration interface_declaration enum_declaration record_declaration "
                 "annotation_type_declaration"),
    imports=_words("import_declaration"),
    calls="(method_invocation) @callee (object_creation_expression type: (_) @callee)",
    comments=_words("line_comment block_comment"), implied=True,
)  # fmt: skip
C = Language(
    "c", (".c", ".h"), "tree_sitter_c",
    functions=_words("function_definition"),
    types=_words("struct_specifier union_specifier enum_specifier type_definition"),
    imports=_words("preproc_include"), calls="(call_expression function: (_) @callee)",
    prototypes=_words("declaration"), wrappers=_words("template_declaration"),
)  # fmt: skip
CPP = replace(
    C, name="cpp", suffixes=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl"),
    package="tree_sitter_cpp", types=C.types | {"class_specifier"}, spaces={"namespace_definition": "name"}, joint="::",
    implied=True,
)  # fmt: skip
LANGUAGES = (
    PYTHON, JAVASCRIPT, TYPESCRIPT, replace(TYPESCRIPT, name="tsx", suffixes=(".tsx",), entry="language_tsx"), GO, RUST,
    JAVA, C, CPP,
)  # fmt: skip
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++")
BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
# Code without a grammar here: it is read as blocks of text.
OTHERS = {
    ".rb": "ruby", ".php": "php", ".cs": "c#", ".kt": "kotlin", ".kts": "kotlin", ".swift": "swift",
    ".scala": "scala", ".sh": "shell", ".bash": "shell", ".zsh": "shell", ".ps1": "powershell", ".sql": "sql",
    ".lua": "lua", ".pl": "perl", ".pm": "perl", ".r": "r", ".jl": "julia", ".ex": "elixir", ".exs": "elixir",
    ".erl": "erlang", ".hs": "haskell", ".ml": "ocaml", ".mli": "ocaml", ".clj": "clojure", ".dart": "dart",
    ".zig": "zig", ".nim": "nim", ".vue": "vue", ".svelte": "svelte", ".m": "objective-c", ".mm": "objective-c",
    ".groovy": "groovy", ".gradle": "gradle", ".tf": "terraform", ".proto": "protobuf", ".graphql": "graphql",
    ".cmake": "cmake", ".f90": "fortran", ".vb": "basic", ".fs": "f#", ".el": "lisp", ".lisp": "lisp",
    ".rkt": "racket", ".scm": "scheme", ".s": "assembly", ".asm": "assembly", ".v": "verilog", ".vhd": "vhdl",
    ".sol": "solidity", ".cu": "cuda", ".glsl": "glsl", ".wgsl": "wgsl", ".d": "d",
}  # fmt: skip
_CPP_ONLY = ("class ", "namespace ", "template", "public:", "private:", "std::", "constexpr ")


def language_of(path: str, text: str = "") -> Language | None:
    """The language of a file, by its name; a `.h` file that speaks C++ is read as such.

    >>> [found.name for p in ("a/b.py", "x.tsx", "y.h") if (found := language_of(p))], language_of("z.rb")
    (['python', 'tsx', 'c'], None)
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".h" and any(word in text for word in _CPP_ONLY):
        suffix = ".hpp"
    return BY_SUFFIX.get(suffix)
