"""The contents of the command line: in which section each is listed, and where those written by hand are.

All others are made from operations (`operations`), and listed under "Look" or "Change" where no section names them. The
lines of help come from `operations.json`, so that `recollect --help` loads no command. `make docs` writes that file.
"""

from __future__ import annotations

import json
from importlib import resources

SECTIONS = {
    "Begin": "remember recall ask context brief tour",
    "Look": "list show why history state audit stats usage answers git commits",
    "Change": "edit link rate forget reject review checkpoint task verify",
    "Serve": "serve status dashboard top stop logs service mcp hook token webhook",
    "Keep": "ingest capture bank watch hold retention export import embed jobs migrate-store backup restore scan doctor"
    " janitor health eval",
    "Set up": "install uninstall config completion version",
}
HAND = {
    "answers": "answers",
    "bank": "bank brief watch",
    "capture": "capture scan",
    "daemon": "serve status dashboard stop logs service mcp hook",
    "evaluation": "eval",
    "history": "audit checkpoint",
    "ingest": "ingest",
    "install": "install uninstall",
    "memories": "edit show forget export import embed jobs migrate-store doctor config version tour completion",
    "project": "git",
    "review": "review",
    "upkeep": "janitor top backup restore",
}
FILE = resources.files(__package__).joinpath("operations.json")
_TOLD: dict[str, dict[str, str]] = json.loads(FILE.read_text("utf-8"))["commands"]
_BY_HAND = {name: module for module, names in HAND.items() for name in names.split()}
_LISTED = {name for names in SECTIONS.values() for name in names.split()}
# Where each command is; nowhere where it is made from an operation.
MODULES = {name: _BY_HAND.get(name, "") for name in (*_BY_HAND, *(one for one in _TOLD if one not in _BY_HAND))}
CONTENTS: dict[str, dict[str, str]] = {
    section: {
        name: _TOLD.get(name, {}).get("help", "")
        for name in (*names.split(), *(n for n, one in _TOLD.items() if n not in _LISTED and one["section"] == section))
    }
    for section, names in SECTIONS.items()
}
