"""The commands that take memory in from elsewhere and hand it out."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput
from ..text import title_of
from . import present
from .capture import captured
from .present import Look
from .program import App
from .terminal import progress

if TYPE_CHECKING:
    from ..tap.bring import Brought


def export(app: App, output: str, form: str, journal: bool, reference: bool, salvage: bool) -> None:
    from ..store.checksums import noticing
    from ..tap import outward

    form = "server-memory" if reference else form
    if form != "jsonl" and (journal or salvage):
        raise BadInput(f"--journal and --salvage are of JSON lines, not of {form}.", fix="Leave --as out.")
    if form == "markdown":
        _export_notes(app, output)
        return

    path = Path(output)
    device = path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")  # which holds ordinary files
    if output != "-" and (device or (path.exists() and not path.is_file())):
        raise BadInput(f"{output} is not a file.", fix="Name a file, or - for standard output.")
    with _passing(app, output) as folder:
        target = folder / "export.jsonl" if output == "-" else path
        if salvage:
            count, damaged = _salvaged(app, target, journal)
        else:
            with app.open() as engine, progress("exporting") as step, noticing() as damaged:
                if journal:
                    count = engine.export(target, journal=True, progress=step)
                else:
                    count = outward.write(engine, form, target, step)
        if output == "-":
            with target.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    app.skipped(list(damaged))
    reference = form == "server-memory"
    data = {"entities" if reference else "memories": count, "path": output, "skipped": list(damaged)}
    what = present.plural(count, "entity", "entities") if reference else present.memories(count)
    words = f"✓ exported {what}" + ("" if output == "-" else f" to {output}")
    app.say(data, lambda _, out: words, err=output == "-")


def _export_notes(app: App, output: str) -> None:
    from ..tap import outward

    if output == "-":
        raise BadInput("Notes are files, which standard output cannot hold.", fix="Name a folder with --output.")
    with app.open() as engine, progress("exporting") as step:
        count = outward.write(engine, "markdown", Path(output).expanduser(), step)
    app.say({"memories": count, "path": output}, lambda _, out: f"✓ exported {present.memories(count)} to {output}")


def _passing(app: App, file: str) -> AbstractContextManager[Path]:
    """A folder for what comes from standard input or goes to standard output; a file needs none."""
    from .. import settings
    from ..scratch import scratch

    return scratch(settings.load(**app.given)[0].home) if file == "-" else nullcontext(Path(file).parent)


def _salvaged(app: App, path: Path, journal: bool) -> tuple[int, dict[str, None]]:
    """Write what can still be read; nothing is opened where that is not needed, and nothing is changed."""
    from .. import exchange, settings
    from ..store import open_store, salvage

    chosen, _ = settings.load(**app.given)
    now = datetime.now(UTC)
    if chosen.remote:
        with closing(open_store(chosen.place, chosen.busy_timeout, now)) as store:
            found = salvage.from_store(store, chosen.tenant)
    else:
        found = salvage.from_file(chosen.store_path, chosen.tenant)
    return exchange.export_salvaged(found, path, now, journal=journal), dict.fromkeys(found.skipped)


def import_file(app: App, file: str, dry_run: bool, no_embed: bool, trust: str, source: str = "") -> None:
    from ..tap.bring import Asked, bring

    for name in ("user", "project"):
        app.given[name] = app.places.get(name) or app.given[name]
    named = {name: value for name, value in app.places.items() if value}
    with _passing(app, file) as folder:
        path = folder / "standard input" if file == "-" else Path(file).expanduser()
        if file == "-" and sys.stdin is not None:
            with path.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        try:
            with app.open() as engine, progress("importing") as step:
                asked = Asked(path, source, named, trust, not no_embed, dry_run)
                brought = bring(engine, asked, step)
        except BadInput as error:
            error.message = error.message.replace(f"{folder}{os.sep}", "") if file == "-" else error.message
            raise
    told = {**brought.as_dict(), **(brought.imported.as_dict() if brought.imported else {})}
    app.say(told, lambda _, out: _brought(brought, out))


def _brought(found: Brought, out: Look) -> str:
    lines = []
    if found.imported:
        lines.append(present.imported(found.imported, out))
    elif found.talk:
        lines.append(captured(found.talk, out))
    else:
        counted = present.tally(found.made) or "nothing that can be imported"
        lines.append(f"{found.title}: {counted}")
        for one in found.samples:
            lines += out.wrap(f"{one.get('kind', 'fact')}: {title_of(one['content'], 100)}", "  ")
    if found.format != "recollect" or not found.imported:
        told = (("of users", found.users), ("of projects", found.projects), ("passed over", found.passed),
                ("kept as metadata of the sources", found.unmapped))  # fmt: skip
        for what, counts in told:
            if counts and not found.talk:
                lines += out.wrap(f"{what}: {present.tally(counts)}", "  ")
    if found.cut:
        lines.append(f"  texts that were too long and are cut: {found.cut}")
    if found.checkpoint:
        lines.append(out.dim(f"  take it back with: recollect checkpoint rollback {found.checkpoint}"))
    return "\n".join(lines)
