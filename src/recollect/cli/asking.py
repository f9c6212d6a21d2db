"""Questions of the command line: to the daemon that runs, or else to the store itself, with the same result.

Both ways lead to the verbs of `reading`. These and the engine are loaded only where no daemon answers.
"""

from __future__ import annotations

import os
from typing import Any, TypeVar, cast

from .. import settings
from ..types import Noun
from . import terminal, warm
from .program import App

N = TypeVar("N", bound=Noun)


def ask(app: App, verb: str, kind: type[N], **options: Any) -> N:
    """What a verb gives the person at this terminal, in this folder and the places that the command line names."""
    given = {**options, **app.places}
    found = warm.ask(settings.load(**app.given)[0], terminal.actor(), os.getcwd(), verb, kind, given)
    if found is None:
        from ..serve.reading import VERBS

        with app.open() as engine:
            found = cast(N, VERBS[verb](engine, app.caller(engine), **given))
    return found
