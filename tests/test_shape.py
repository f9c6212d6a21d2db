"""The shape of the house: layers, sizes, orphans, and the public door."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import recollect
from recollect.cli.commands import commands
from recollect.ops.catalogue import OPERATIONS

PKG = Path(recollect.__file__).parent
FILES = {path: ast.parse(path.read_text("utf-8")) for path in PKG.rglob("*.py")}
# From the ground up: a home imports from the lines above its own. Names on one line do not know each other.
LAYERS = [
    "secret_values",
    "errors ids personal rank redact text vectors",
    "regular_files times",
    "settings",
    "entrypoints",
    "scratch types",
    "grounding",
    "language",
    "agent_types arguments checks history_types nouns",
    "models",
    "store",
    "agents",
    "remember",
    "graph",
    "history",
    "exchange",
    "recall",
    "capture",
    "answers",
    "upkeep",
    "overview",
    "core",
    "lookup",
    "engine",
    "project",
    "tap",
    "install",
    "ops",
    "verbs",
    "client",
    "__init__",
    "adapters",
    "serve",
    "cli",
    "__main__",
]
LEVEL = {name: number for number, names in enumerate(LAYERS) for name in names.split()}
PURE = "times ids text rank vectors checks language grounding".split()
MAX_FILE, MAX_FUNCTION, MAX_PACKAGE = 600, 50, 59_800
MAX_BRANCHES, MAX_SAME = 20, 12
# Where everything may be caught: the process would otherwise die without a word, or the library raises bare exceptions.
CATCH_ALL = {"models/onnx.py", "serve/gate.py", "serve/work.py", "upkeep/jobs.py"}


def home(path: Path) -> str:
    return path.relative_to(PKG).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The homes and modules that a file imports, as paths below the package."""
    depth = len(path.relative_to(PKG).parts)
    for node in ast.walk(FILES[path]):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = path.relative_to(PKG).parts[: depth - node.level]
            base = ".".join([*above, *(node.module.split(".") if node.module else [])])
            yield from [base] if node.module else [f"{base}.{alias.name}".strip(".") for alias in node.names]
            if node.module:
                yield from (f"{base}.{alias.name}" for alias in node.names)


def test_no_file_or_function_has_outgrown_its_noun() -> None:
    lines = {path: path.read_text("utf-8").count("\n") for path in FILES}
    assert {str(path): n for path, n in lines.items() if n > MAX_FILE} == {}, "split by noun, or delete"
    assert sum(lines.values()) < MAX_PACKAGE, "delete something first"
    long = {
        f"{path.name}:{node.name}": size
        for path, tree in FILES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (size := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION
    }
    assert long == {}, "a noun is missing"


def branches(function: ast.AST) -> int:
    """The places where a function decides where to go on."""
    kinds = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.match_case)
    return sum(isinstance(node, kinds) for node in ast.walk(function))


def test_no_function_has_too_many_branches() -> None:
    many = {
        f"{path.name}:{node.name}": count
        for path, tree in FILES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (count := branches(node)) > MAX_BRANCHES
    }
    assert many == {}, "split it, or decide by a table"


def test_no_block_is_written_twice() -> None:
    """Runs of twelve lines, blank lines and imports aside, that stand in two places."""
    seen: dict[tuple[str, ...], str] = {}
    twice = set()
    for path in sorted(FILES):
        told = [(n, line.strip()) for n, line in enumerate(path.read_text("utf-8").splitlines(), 1)]
        lines = [(n, line) for n, line in told if line and not line.startswith(("import ", "from "))]
        for at in range(len(lines) - MAX_SAME + 1):
            block = tuple(line for _, line in lines[at : at + MAX_SAME])
            place = f"{path.relative_to(PKG)}:{lines[at][0]}"
            if seen.setdefault(block, place) != place:
                twice.add((seen[block], place))
    assert twice == set(), "let both use one"


def test_imports_point_down() -> None:
    up = [
        (str(path.relative_to(PKG)), target)
        for path in FILES
        for target in imported(path)
        if (other := target.split(".")[0]) in LEVEL and other != home(path) and LEVEL[other] >= LEVEL[home(path)]
    ]
    assert up == [], "move the code down, or pass the value in"


def test_only_the_command_line_knows_its_library() -> None:
    clicking = {
        home(path)
        for path, tree in FILES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(name.name.split(".")[0] == "click" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "click")
    }
    assert clicking == {"cli"}


def test_every_module_has_its_layer_and_is_reached() -> None:
    assert {home(path) for path in FILES} <= LEVEL.keys(), "give the new home a layer"
    used = {target for path in FILES for target in imported(path)}
    modules = {".".join(path.relative_to(PKG).with_suffix("").parts) for path in FILES}
    declared = {f"cli.{one.run.partition('.')[0]}" for one in commands().values()} | {one.module for one in OPERATIONS}
    views = {module.replace("ops.", "cli.") for module in declared}
    entries = {
        "__init__",
        "__main__",
        *recollect._NAMES,
        *declared,
        *views,
        *(name for name in modules if name.startswith("adapters.")),  # imported by those whose framework they serve
        *(name for name in modules if name.endswith(".__init__")),
    }
    assert modules - used - entries == set(), "nothing imports these; delete them"


def test_pure_modules_touch_neither_disk_nor_clock_nor_environment() -> None:
    banned = {"os", "time", "sqlite3", "apsw", "socket", "pathlib", "random", "secrets", "subprocess"}
    for path, tree in FILES.items():
        if home(path) in PURE:
            names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            names |= {
                str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level
            }
            assert not {name.split(".")[0] for name in names} & banned, path
            assert not [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "now"], path


def test_nothing_catches_everything() -> None:
    broad = {
        str(path.relative_to(PKG))
        for path, tree in FILES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
        and not any(isinstance(inner, ast.Raise) and inner.exc is None for inner in node.body)
    }
    assert broad <= CATCH_ALL


def test_only_the_store_speaks_sql() -> None:
    words = ("select ", "insert into", "update ", "delete from")
    for path, tree in FILES.items():
        if home(path) != "store":
            texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            assert not [text for text in texts if text.lower().lstrip().startswith(words)], path


def test_only_one_file_changes_knowledge() -> None:
    """The journal's promise by structure: no other file of the store writes a table that is knowledge."""
    knowledge = ("memory", "source", "evidence", "link", "tombstone", "journal", "entity", "checkpoint")
    for path, tree in FILES.items():
        texts = [n.value.lower() for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        writes = {
            table
            for text in texts
            for table in knowledge
            for verb in ("insert into", "insert or replace into", "update", "delete from")
            if f"{verb} {table} " in text + " "
        }
        assert not writes or path.name == "changes.py", (path, writes)


def test_the_public_api_is_pinned() -> None:
    assert sorted(recollect.__all__) == [
        "Ambiguous", "BadInput", "BadTime", "BudgetSpent", "Captured", "ChangedMeanwhile", "Check", "Client",
        "CopyDiffers", "Draft", "Engine", "Entry", "Evidence", "Finding", "Forbidden", "Forgotten", "Held", "Hit",
        "Job", "LimitReached", "Link", "Memory", "Message", "MigrationChanged", "ModelUnavailable", "Near",
        "NewerSchema", "NotADatabase", "NotFound", "Page", "RateLimited", "Recall", "RecollectError", "Refused",
        "Remembered", "Scope", "ServerUnavailable", "Source", "StoreCorrupt", "StoreFull", "StoreLocked",
        "StoreReadOnly", "StoreUnavailable", "TooLarge", "TooSlow", "Unauthorised", "WrongState", "open",
    ]  # fmt: skip
    verbs = {name for name in dir(recollect.Engine) if not name.startswith("_")}
    assert verbs == {
        "agents", "approve", "audit", "capture", "changes", "checkpoints", "close", "context", "count", "edit",
        "embed", "embed_later", "evidence", "export", "extract", "extract_entities", "for_caller", "forget",
        "forget_recalls", "gatekeeper", "get", "graph", "handoffs", "has_unread", "head", "history", "import_",
        "janitor", "jobs", "knowledge", "link", "links", "list", "mend", "model", "observer", "other_tenants",
            "pending",
        "pipeline", "policies", "pools", "propose", "queue", "rate", "recall", "recall_next", "reject",
        "remember",
        "remember_many", "saw", "shared", "shelf", "shown", "shows", "sources", "state", "stats", "summaries", "tenant",
        "timeline", "tokens", "wait", "warm", "webhooks", "why",
    }  # fmt: skip


def test_only_the_models_import_what_reports_home() -> None:
    """`models/__init__.py` silences onnxruntime before it is imported; another place would come too early."""
    importing = {
        path
        for path, tree in FILES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Import) and any(name.name.split(".")[0] == "onnxruntime" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "onnxruntime")
    }
    assert {home(path) for path in importing} == {"models"}


def test_importing_the_package_loads_no_heavy_library_and_touches_no_file(tmp_path: Path) -> None:
    code = (
        "import sys, recollect; heavy = {'numpy', 'onnxruntime', 'tokenizers', 'mcp', 'click'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    environment = {"RECOLLECT_HOME": str(tmp_path / "home"), "PYTHONPATH": str(PKG.parent), "PATH": ""}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    assert not (tmp_path / "home").exists()
