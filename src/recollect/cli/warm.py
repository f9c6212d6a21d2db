"""Ask a running daemon over its Unix socket, if it has the same version, store and settings as this process."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__, errors
from ..entrypoints import link
from ..settings import Settings

ALIVE = 2.0  # seconds in which a daemon shows that it is at work
PATIENCE = 60.0  # seconds that it may work then


def ask(chosen: Settings, actor: str, folder: str, verb: str, given: dict[str, Any]) -> tuple[Any] | None:
    """What the daemon answers somebody in a folder, as it is sent; None where none would answer the same."""
    found = link.daemon(str(chosen.home.absolute()))
    if found is None or found.version != __version__ or not found.socket:
        return None
    sent = {
        "verb": verb,
        "given": given,
        "settings": chosen.fingerprint(),
        "tenant": chosen.tenant,
        "user": chosen.user,
        "project": chosen.project,
        "actor": actor,
        "folder": folder,
    }
    try:
        answer = found.open("POST", link.READ, json.dumps(sent).encode(), timeout=ALIVE)
        try:
            if answer.status != 200:
                return None
            answer.extend(PATIENCE)
            told = json.loads(answer.read())
        finally:
            answer.close()
    except (OSError, ValueError):  # it does not answer, or it ended meanwhile
        return None
    if error := told.get("error"):
        raise errors.of(error["code"])(error["message"], fix=error["fix"])
    return (told["result"],)
