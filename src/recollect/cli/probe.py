"""The probe of `doctor`: sends a turn through the real hook, recalls it, and erases it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from typing import Any

from .. import engine, settings
from ..capture import sessions
from ..entrypoints import link
from ..errors import RecollectError
from ..ops import hooks
from ..settings import Settings
from ..types import Check, Scope

HOST = "claude"
PATIENCE = 10.0  # seconds; a daemon looks into the spool every two
_STATUS = "recollect status, and recollect logs"


def by_host(name: str, captures: bool, remarks: list[str], **given: Any) -> Check:
    """Whether what is said to a connected assistant would be captured."""
    if remarks:
        return Check(f"capture by {name}", "warning", "; ".join(remarks), f"recollect install {name}")
    if not captures:
        return Check(f"capture by {name}", "ok", "it has the tools; without hooks, it stores what it is asked to")
    tried = capture(name, **given)
    return Check(f"capture by {name}", tried.status, tried.detail, tried.fix)


def capture(host: str = HOST, **given: Any) -> Check:
    """Whether a turn that is given to the hook can be recalled."""
    try:
        chosen, _ = settings.load(**given)
        if not chosen.remote and not chosen.store_path.exists():
            return Check("capture", "ok", "not tried: there is no store yet")
        if given.get("store") or given.get("tenant"):
            return Check("capture", "ok", "not tried: hooks write where the settings say, not where this command looks")
        return _tried(chosen, host)
    except (RecollectError, OSError, subprocess.SubprocessError) as error:
        return Check("capture", "broken", f"the probe failed: {error}", _STATUS)


def _tried(chosen: Settings, host: str) -> Check:
    session = f"{hooks.PROBE}{secrets.token_hex(8)}"
    said = f"Probe {session[-16:]}: the doctor looks whether what is said is captured."
    running = link.daemon(str(chosen.home)) is not None
    began = time.monotonic()
    with engine.open(actor="doctor") as memory:
        try:
            done = _hook(chosen, host, {"session_id": session, "last_assistant_message": said, "cwd": "/"})
            if done.returncode or done.stderr:
                return Check("capture", "broken", f"the hook says: {done.stderr.strip()[:300]}", _STATUS)
            if not running:
                hooks.take_in(memory, chosen.home)
            found = _found(memory, said, session)
        finally:
            memory.forget(scope=Scope(session=session), purge=True)
            sessions.drop(chosen.home, *hooks.names(chosen.tenant, host, session))
    way = "the daemon" if running else "the spool, as no daemon runs"
    if not found:
        return Check("capture", "broken", f"a turn went through the hook to {way}, and is not recalled", _STATUS)
    took = round((time.monotonic() - began) * 1000)
    return Check("capture", "ok", f"a turn went through the hook to {way}, was recalled and erased ({took} ms)")


def _hook(chosen: Settings, host: str, told: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "recollect", "hook", "Stop", "--host", host, "--no-start"]
    environment = {**os.environ, "RECOLLECT_HOME": str(chosen.home)}
    return subprocess.run(
        command, input=json.dumps(told), capture_output=True, text=True, env=environment, check=False, timeout=30
    )  # fmt: skip


def _found(memory: engine.Engine, said: str, session: str) -> bool:
    end = time.monotonic() + PATIENCE
    while True:
        hits = memory.recall(said, scope=Scope(session=session)).hits
        if any(hit.memory.scope.session == session for hit in hits):
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
