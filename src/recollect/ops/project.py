"""Verbs of a project: git, tasks, ingestion and citations.

`folders` decides whose files are read. Searching the content of commits is only for the person at this machine,
because history may hold what was removed from memory. What cannot be read is named in `skipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .. import text
from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, Forbidden, GitUnavailable, NoRepository
from ..graph import HAD_INCIDENT, Node
from ..models.tokens import Tokens
from ..project import brief, tasks, truth
from ..project import patch as patches
from ..project.brief import Brief
from ..project.git import Commit, CommitQuery, Repository, visible_branch
from ..project.incidents import IMPORTANCE
from ..project.incidents import severity as severity_of
from ..project.ingest import Report, embed_later, ingest
from ..project.patch import Patch
from ..project.recognise import Kind
from ..project.state import State, authors
from ..recall.fence import HEADER, neutral
from ..recall.task import LEAD
from ..types import Forgotten, Memory, Recall, Remembered
from . import memories, words
from .folders import STATES, folder_of
from .waiting import waiting_note

BEARING = ("decision", "incident", "lesson", "rule")  # what somebody who takes a task up should know
_count = Tokens()
_NO_GIT = (NoRepository, GitUnavailable)


def _whole_project(caller: Caller, what: str) -> None:
    """Raise where something changes a whole project's memory and the caller is one user of it."""
    if caller.wall.stored().user:
        raise Forbidden(f"{what} reaches beyond {caller.wall}.", fix="Use a token of no user.")


def brief_of(
    engine: Engine, caller: Caller, *, limit: int | None = None, path: str | None = None, project: str | None = None
) -> Brief:
    """The brief of a project's folder; where no folder of it is known here, of the project alone."""
    try:
        named, place = folder_of(engine, caller, project, path)
        folder = str(place)
    except _NO_GIT:
        named, folder = project or caller.home.project, ""
    branch = visible_branch(folder) if folder and engine.settings.branches == "on" else ""
    scope = caller.scope({"project": named, "branch": branch})
    most, own = limit or engine.settings.brief_limit, not caller.token
    note = waiting_note(engine, caller)
    wanted = brief.BriefRequest(folder, scope, not caller.wall.project, limit=most, files=own, note=note)
    return brief.build(engine, wanted)


def briefed(found: Brief, now: datetime) -> str:
    return found.text or "There is nothing to tell yet."


def project_state(
    engine: Engine, caller: Caller, *, commits: int, path: str | None = None, file: str | None = None,
    patch: int | None = None, project: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {"state": None, "history": [], "authors": [], "patch": None, "task": None, "skipped": []}
    try:
        named, folder = folder_of(engine, caller, project, path)
        state = STATES.state(folder)
        found["state"] = _short(state, commits)
        if file:
            history = STATES.history(folder, file)
            found["history"], found["authors"] = list(history), list(authors(history))
        if patch:
            found["patch"] = patches.patch(STATES.repository(folder), patch, _count)
    except _NO_GIT as error:
        named = project or caller.home.project
        found["skipped"] = [f"git: {error}"]
    branch = found["state"].branch if found["state"] else ""
    found["task"] = tasks.get_task(engine, caller.scope({"project": named, "branch": branch}))
    return found


def _short(state: State, commits: int) -> State:
    return replace(state, commits=state.commits[:commits])


def standing(found: Mapping[str, Any], now: datetime) -> str:
    """What a model reads of the state."""
    lines = [f"(skipped: {neutral(line)})" for line in found["skipped"]]
    state: State | None = found["state"]
    if state:
        lines += [neutral(line) for line in told(state)]
    for commit in found["history"]:
        lines.append(neutral(f"history: {line(commit)}"))
    for one in found["authors"]:
        lines.append(neutral(f"changed by {one.name}: {one.commits} times, last {one.last:%Y-%m-%d}"))
    if found["patch"]:
        lines += changed(found["patch"], neutral)
    if found["task"]:
        lines += [HEADER, words.memory_line(found["task"])]
    return "\n".join(lines) or "Nothing is known of the project."


def changed(patch: Patch, plain: Callable[[str], str] = str) -> list[str]:
    """A diff, and what had no room."""
    left = f"(no room for the changes of: {', '.join(patch.left_out)})" if patch.left_out else ""
    return [plain(one) for one in (patch.text.rstrip("\n"), left) if one]


def told(state: State) -> list[str]:
    """A state in a few lines, for people and models."""
    where = f"on branch {state.branch}" if state.branch else "on no branch (detached)"
    at = f"at {state.head[:12]}" if state.head else "nothing committed yet"
    marks = [name for name in ("shallow", "bare", "worktree") if getattr(state, name)]
    marks += [f"submodule of {state.submodule_of}"] if state.submodule_of else []
    kind = f" ({', '.join(marks)})" if marks else ""
    lines = [f"{state.root}: {where}, {at}{kind}"]
    if state.upstream:
        lines.append(f"upstream {state.upstream}: {state.ahead} ahead, {state.behind} behind")
    if state.operation:
        lines.append(f"a {state.operation} is not finished")
    for name in ("staged", "unstaged"):
        if files := getattr(state, name):
            shown = ", ".join(_file(file) for file in files[:20])
            left = (state.counts or {}).get(name, 0) - len(files[:20])
            lines.append(f"{name}: {shown}{f' and {left} more' if left > 0 else ''}")
    for name in ("untracked", "conflicts"):
        if paths := getattr(state, name):
            left = (state.counts or {}).get(name, 0) - len(paths[:20])
            lines.append(f"{name}: {', '.join(paths[:20])}{f' and {left} more' if left > 0 else ''}")
    if state.clean and not state.bare:
        lines.append("nothing changed since the last commit")
    return [*lines, *(f"commit: {line(commit)}" for commit in state.commits)]


def _file(file: Any) -> str:
    lines = f" +{file.added} -{file.removed}" if file.added is not None else ""
    return f"{file.status} {file.path}{lines}"


def line(commit: Commit) -> str:
    return f"{commit.sha[:12]} {commit.at:%Y-%m-%d} {commit.author}: {text.shorten(commit.subject, 120)}"


def search_commits(
    engine: Engine, caller: Caller, *, limit: int, query: str = "", content: str | None = None,
    folder: str | None = None, project: str | None = None, **wanted: Any,
) -> dict[str, Any]:  # fmt: skip
    """In the whole history where the repository can be seen; else, and where no words fit, in what is remembered."""
    if content and caller.token:
        raise Forbidden("A search in the content of commits is for those on the machine of the repository.")
    found: dict[str, Any] = {"commits": [], "memories": [], "skipped": []}
    try:
        project, at = folder_of(engine, caller, project, folder)
        asked = CommitQuery(words=tuple(query.split()[:20]), content=content or "", limit=limit, **wanted)
        found["commits"] = list(STATES.repository(at).search(asked))
    except _NO_GIT as error:
        found["skipped"] = [f"git: {error}"]
    if query.strip() and not found["commits"] and not content:
        narrowed: dict[str, Any] = {name: wanted[name] for name in ("since", "until") if name in wanted}
        if project:
            narrowed["project"] = project
        near = memories.recall(engine, caller, query=query, kinds=["commit"], limit=limit, abstain=True, **narrowed)
        found["memories"] = [hit.memory for hit in near.hits if _fits(hit.memory, wanted)]
    return found


def _fits(memory: Memory, wanted: Mapping[str, Any]) -> bool:
    author, path = (str(wanted.get(name) or "").lower() for name in ("author", "path"))
    return author in memory.speaker.lower() and path in memory.content.lower()


def searched(found: Mapping[str, Any], now: datetime) -> str:
    lines = [f"(skipped: {neutral(line)})" for line in found["skipped"]]
    for commit in found["commits"]:
        files = ", ".join(file.path for file in commit.files[:10])
        more = [text.shorten(commit.body, 300), f"files: {files}" if files else ""]
        lines.append(neutral("\n  ".join([line(commit), *(part for part in more if part)])))
    if found["memories"]:
        lines += ["No commit has these words; these come close:", HEADER]
        lines += [words.memory_line(memory, 600) for memory in found["memories"]]
    return "\n".join(lines) if found["commits"] or found["memories"] else "\n".join(["No commit fits.", *lines])


def set_task_context(
    engine: Engine, caller: Caller, *, task: str, details: dict[str, Any] | None = None, **places: Any
) -> Remembered:
    return tasks.set_task(engine, caller.scope(places), task, details)


def get_task_context(engine: Engine, caller: Caller, **places: Any) -> dict[str, Any]:
    """The task, where the repository stands, and what was decided and suffered that bears on it."""
    found: dict[str, Any] = {"task": None, "state": None, "related": [], "skipped": []}
    try:
        _, folder = folder_of(engine, caller, places.get("project"))
        found["state"] = _short(STATES.state(folder), 3)
        places.setdefault("branch", visible_branch(folder))
    except _NO_GIT as error:
        found["skipped"] = [f"git: {error}"]
    where = caller.scope(places)
    if task := tasks.get_task(engine, where):
        found["task"] = task
        asked = task.content.removeprefix(LEAD)[:2000]
        near = engine.recall(asked, scope=where, kinds=BEARING, limit=5, recipe="conversation")
        found["related"] = [hit.memory for hit in near.hits]
    return found


def at_hand(found: Mapping[str, Any], now: datetime) -> str:
    if not found["task"]:
        return "No task is set."
    lines = [words.memory_line(found["task"])]
    if found["state"]:
        lines += [neutral(line) for line in told(found["state"])]
    if found["related"]:
        lines += ["What bears on it:", *(words.memory_line(memory, 600) for memory in found["related"])]
    return "\n".join(lines)


def semantic_search(engine: Engine, caller: Caller, *, query: str, **options: Any) -> Recall:
    return memories.recall(engine, caller, query=query, **options)


def ingest_files(
    engine: Engine, caller: Caller, *, path: str, kind: Kind | None = None, dry_run: bool = False,
    project: str | None = None,
) -> Report:  # fmt: skip
    _whole_project(caller, "Taking files in")
    named, place = folder_of(engine, caller, project, path)
    # What a file says is believed as far as the file, whoever asked for it to be read.
    report = ingest(engine.for_caller(actor=caller.actor), place, project=named or None, kind=kind, dry_run=dry_run)
    embed_later(engine, report)
    return report


def ingest_code(engine: Engine, caller: Caller, **given: Any) -> Report:
    return ingest_files(engine, caller, kind="code", **given)


def ingest_adr(engine: Engine, caller: Caller, **given: Any) -> Report:
    return ingest_files(engine, caller, kind="adr", **given)


def ingest_incident(
    engine: Engine, caller: Caller, *, summary: str, severity: str, lessons: str = "", services: Sequence[str] = (),
    project: str | None = None,
) -> Remembered:  # fmt: skip
    """Keep an incident, tied to the services that it was of: those that are named, or else the project."""
    level = severity_of(severity)
    if not level:
        raise BadInput(
            f"severity {severity!r:.60} is not known.", fix="Write it like SEV-2, P1 or critical, high, medium, low."
        )
    where = caller.scope({"project": project} if project else {})
    named = [name.strip() for name in services if name.strip()] or ([where.project] if where.project else [])
    told: dict[str, Any] = {"reasoning": lessons, "project": project}
    made = memories.remember(
        engine, caller, content=summary, kind="incident",
        tags=["incident", f"severity:{level}", *(f"service:{name.lower()}"[:60] for name in named)],
        importance=IMPORTANCE[level], **{name: value for name, value in told.items() if value},
    )  # fmt: skip
    if made.memory:
        graph = engine.graph(where, caller.wall)
        graph.create([Node(name, "service") for name in named])
        graph.attach([(name, HAD_INCIDENT, made.memory.id) for name in named])
    return made


def taken_in(report: Report, now: datetime) -> str:
    return words.counted({name: value for name, value in report.as_dict().items() if value}, now)


def update_memory(engine: Engine, caller: Caller, *, id: str, value: str, source: str) -> Memory:
    return memories.edit(engine, caller, id=id, content=value, source=source, reason=f"source: {source}")


def invalidate_memory(engine: Engine, caller: Caller, *, id: str, reason: str) -> Forgotten:
    return Forgotten((memories.edit(engine, caller, id=id, state="invalid", reason=reason),))


def verify(
    engine: Engine, caller: Caller, *, dry_run: bool = False, accept: Sequence[str] = (), path: str | None = None,
    project: str | None = None,
) -> truth.Verified:  # fmt: skip
    """Look at every citation of a project again; what is accepted is cited anew first."""
    _whole_project(caller, "Verifying")
    named, folder = folder_of(engine, caller, project, path)
    if not named:
        raise BadInput("Which project is meant is not known.", fix="Name it.")
    repository: Repository = STATES.repository(folder)
    accepted = [caller.owned(memories.find(engine, caller, id)).id for id in accept]
    for id in [] if dry_run else accepted:
        truth.accept(engine, repository, id)
    return truth.verify(engine, repository, named, mark=not dry_run)


def verified(found: truth.Verified, now: datetime) -> str:
    lines = [f"{found.checked} memories cite something; {len(found.stale)} need a look."]
    for one in found.stale:
        lines.append(neutral(f"{one.id} {text.shorten(one.title, 80)}: {'; '.join(one.reasons)}"))
    return "\n".join([*lines, *(f"{id} stands again" for id in found.recovered)])
