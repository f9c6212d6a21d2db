"""The docs are executed: every console block, every Python block, and nothing in the program is left out of them."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from foreign_files import unpack
from recollect import errors
from recollect.cli import cli
from recollect.settings import Settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_python_on_a_page_does_what_the_page_says(page: Path) -> None:
    parser = doctest.DocTestParser()
    code = "\n".join(blocks(page, "python"))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(parser.get_doctest(code, {}, page.name, str(page), 0))
    assert runner.failures == 0
    assert runner.tries > 0


def commands(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block with the lines they are said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=lambda page: page.name)
def test_the_commands_on_a_page_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "120"}
    if page.name == "importing.md" or page.name.startswith("from-"):
        unpack(tmp_path)  # what the programs keep that the page speaks of
        environment["RECOLLECT_EMBEDDER"] = "hashing"
    for block in blocks(page, "console"):
        for command, wanted in commands(block):
            done = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
            )
            assert done.returncode == 0, (command, done.stdout, done.stderr)
            for line in wanted:
                pattern = ".*".join(re.escape(part) for part in line.split("…"))
                assert re.search(pattern, done.stdout, re.DOTALL), (command, line, done.stdout)


def test_every_command_setting_and_error_is_documented() -> None:
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert [name for name in cli.list_commands(None) if f"## {name}\n" not in text] == []
    assert [f.name for f in fields(Settings) if f"`{f.name}`" not in text] == []
    codes = [error.code for error in vars(errors).values() if isinstance(error, type) and hasattr(error, "code")]
    assert [code for code in codes if f"`{code}`" not in text] == []


def test_every_file_a_page_links_to_is_there() -> None:
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_every_package_and_module_is_named_by_the_architecture() -> None:
    told = ARCHITECTURE.split("## Five flows")[0]
    package = ROOT / "src" / "recollect"
    homes = {path.relative_to(package).parts[0] for path in package.rglob("*.py")} - {"__main__.py"}
    assert [home for home in sorted(homes) if f"`{home}`" not in told and f"`{home}/`" not in told] == []


def test_every_file_that_the_architecture_names_is_there() -> None:
    places = (ROOT, ROOT / "src" / "recollect", ROOT / "src" / "recollect" / "store" / "sql" / "sqlite")
    named = re.findall(r"`([\w./-]+(?:\.(?:py|sql|toml|txt)|/))`", ARCHITECTURE)
    assert len(named) > 100
    assert [path for path in named if not any((place / path).exists() for place in places)] == []


def test_the_table_of_tasks_names_a_file_and_what_is_found_in_it() -> None:
    table = ARCHITECTURE.split("## Where to change what")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if "` |" in line]
    assert len(rows) >= 20
    for task, file, wanted in rows:
        path = re.findall(r"`([^`]+)`", file)[0]
        assert wanted.strip("`") in (ROOT / path).read_text("utf-8"), f"{task}: {path} has no {wanted}"


def test_pages_use_straight_quotation_marks() -> None:
    pages = [*PAGES, *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "evaluation/README.md"))]
    assert [page.name for page in pages if re.search("[\u00ab\u00bb]", page.read_text("utf-8"))] == []


def test_the_glossary_stays_short() -> None:
    assert len(ARCHITECTURE.split("## Glossary")[1].strip().splitlines()) <= 30
