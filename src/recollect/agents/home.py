"""Home: the project that a call is of, decided here for every surface.

It is the project that was named, else that of the settings, else that of the folder the caller works in. A command
works in its folder; a request tells its own with the header `Recollect-Folder`, which only counts on this machine.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ..regular_files import check_path, read_text
from .access import Caller

FOLDER = "recollect-folder"


def at_home(caller: Caller, folder: str = "", project: str = "") -> Caller:
    """The caller, at home in their project, and known to work in a folder."""
    if folder and not caller.token:
        check_path(folder)
        caller = replace(caller, folder=folder)
    named = project or caller.home.project or project_of(caller.folder)
    return caller.at({"project": named}) if named else caller


def project_of(cwd: str) -> str:
    """The project a folder belongs to: the name of its repository, or of the folder itself.

    >>> project_of("/nowhere/shop"), project_of("")
    ('shop', '')
    """
    if not cwd or not os.path.isabs(cwd):
        return ""
    here = Path(os.path.normpath(cwd))
    for folder in (here, *here.parents):
        git = folder / ".git"
        try:
            if git.is_dir():
                return folder.name[:200]
            if git.is_file():  # a worktree: its repository is where the link leads
                home = Path(read_text(git).partition(":")[2].strip())
                main = next((up.parent for up in home.parents if up.name == ".git"), folder)
                return main.name[:200]
        except OSError:
            return ""  # a folder that is not ours to look into
    return "" if here in (Path.home(), Path(here.anchor)) else here.name[:200]
