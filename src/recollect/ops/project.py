"""Verbs of a project: what the operations on git, tasks, ingestion and truth do for a caller.

Whose files are read is decided in `folders`. What a whole project is told is not for those behind a user's wall to
change. A search in the content of commits is only for the person at this machine: history may hold what was taken out
of memory, and a yes or no for any text would tell it letter by letter.

What cannot be read is said in the answer (`skipped`) where there is something else to tell, and is an error where not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from .. import text
from ..agents.access import Caller
from ..engine import Engine
from ..errors import BadInput, Forbidden, GitUnavailable, NoRepository
from ..graph import SUFFERED, Node
from ..project import brief, tasks, truth
from ..project.brief import Brief
from ..project.git import Commit, Repository, Wanted, seen_from
from ..project.incidents import IMPORTANCE
from ..project.incidents import severity as severity_of
from ..project.ingest import Report, embed_later, ingest
from ..project.recognise import KINDS as FILE_KINDS
from ..project.recognise import Kind
from ..project.state import Author, State, authors
from ..project.truth import Verified
from ..recall.fence import HEADER, neutral
from ..recall.query import MAX_LIMIT
from ..recall.task import LEAD
from ..types import Forgotten, Memory, Recall, Remembered
from . import memories, words
from .folders import STATES, folder_of
from .operation import FILTERS, LOOKED, WHEN, Operation, P

_PROJECT = P("project", "text", "The project.", None, aliases=("service", "service_name"))
_BRANCH = P("branch", "text", "Only of this branch.", None, rare=True)
_FOLDER = "on the machine of the daemon; the one the assistant works in unless told"
_KEY = P("id", "text", "The id of the memory.", aliases=("key", "memory_id"))
_PATH = P("path", "path", "The file or folder, as the machine of the daemon calls it, or below the project's folder.",
          aliases=("file", "folder"))  # fmt: skip
_DRY = P("dry_run", "flag", "Only tell what would be done.", False)
BEARING = ("decision", "incident", "lesson", "rule")  # what somebody who takes a task up should know
_NO_GIT = (NoRepository, GitUnavailable)


def _whole_project(caller: Caller, what: str) -> None:
    """Raise where something changes a whole project's memory and the caller is one user of it."""
    if caller.wall.stored().user:
        raise Forbidden(f"{what} reaches beyond {caller.wall}.", fix="Use a token of no user.")


# -- the brief --------------------------------------------------------------------------------------------------------


def brief_of(
    engine: Engine, caller: Caller, *, limit: int | None = None, path: str | None = None, project: str | None = None
) -> Brief:
    """The brief of a project's folder; where no folder of it is known here, of the project alone."""
    try:
        named, place = folder_of(engine, caller, project, path)
        folder = str(place)
    except _NO_GIT:
        named, folder = project or caller.home.project, ""
    branch = seen_from(folder) if folder and engine.settings.branches == "on" else ""
    scope = caller.scope({"project": named, "branch": branch})
    most, own = limit or engine.settings.brief_limit, not caller.token
    return brief.make(engine, brief.Wanted(folder, scope, not caller.wall.project, limit=most, files=own))


def briefed(found: Brief, now: datetime) -> str:
    return found.text or "There is nothing to tell yet."


# -- the state --------------------------------------------------------------------------------------------------------


def project_state(
    engine: Engine, caller: Caller, *, commits: int, path: str | None = None, file: str | None = None,
    project: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {"state": None, "history": [], "authors": [], "task": None, "skipped": []}
    try:
        named, folder = folder_of(engine, caller, project, path)
        state = STATES.state(folder)
        found["state"] = _short(state, commits)
        if file:
            history = STATES.history(folder, file)
            found["history"], found["authors"] = list(history), list(authors(history))
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
    if found["task"]:
        lines += [HEADER, words.memory_line(found["task"])]
    return "\n".join(lines) or "Nothing is known of the project."


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


# -- commits ----------------------------------------------------------------------------------------------------------


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
        asked = Wanted(words=tuple(query.split()[:20]), content=content or "", limit=limit, **wanted)
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


# -- the task at hand -------------------------------------------------------------------------------------------------


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
        places.setdefault("branch", seen_from(folder))
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


# -- searching and ingesting ------------------------------------------------------------------------------------------


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
        graph.attach([(name, SUFFERED, made.memory.id) for name in named])
    return made


def taken_in(report: Report, now: datetime) -> str:
    return words.counted({name: value for name, value in report.as_dict().items() if value}, now)


# -- keeping it true --------------------------------------------------------------------------------------------------


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


# -- operations -------------------------------------------------------------------------------------------------------

GROUPS = {"task": "Keep what is being worked on from one session to the next."}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "semantic_search", "Search the project's memory",
        "Find decisions, incidents, conventions, code and anything else that bears on a question, by meaning.",
        "Use it before designing, changing or explaining something.",
        (
            P("query", "text", "What to look for, in plain words.", aliases=("q", "text", "question")),
            P("limit", "whole", "At most so many.", 10, aliases=("k", "top_k", "n"), least=1, most=MAX_LIMIT),
            FILTERS[0], LOOKED[0],
        ),
        semantic_search, words.recalled, "POST", "/v1/project/search", Recall,
        read_only=True, idempotent=True, mcp="semantic_search", within="recall",
    ),
    Operation(
        "set_task_context", "Set the task at hand",
        "Keep what is being worked on, so that the next session can go on with it.",
        "Use it when work on something begins or turns to something else. A new task takes the place of the one "
        "before.",
        (P("task", "text", "What is being worked on.", cli="TEXT..."),
         P("details", "map", "Anything more, by name.", None, cli="--detail"),
         _PROJECT, _BRANCH),
        set_task_context, words.remembered, "POST", "/v1/project/task", Remembered,
        right="write", idempotent=True, mcp="set_task_context", cli="task set", status=201,
        help="Set the task at hand; it takes the place of the one before.",
    ),
    Operation(
        "get_task_context", "Get the task at hand",
        "What was being worked on, where the repository stands, and what was decided that bears on it.",
        "Use it at the start of a session.",
        (_PROJECT, _BRANCH),
        get_task_context, at_hand, "GET", "/v1/project/task",
        {"task": Memory | None, "state": State | None, "related": [Memory], "skipped": [str]},
        read_only=True, idempotent=True, mcp="get_task_context", cli="task get",
    ),
    Operation(
        "brief", "Brief for a session",
        "What to know before the first word: standing rules, and what bears on the work at hand.",
        "Use it at the start of a session, where no hook has told it. What is asked for is composed of the feature, "
        "branch, task and files that are worked on; the last line says how the answer came about.",
        (
            P("limit", "whole", "At most so many memories.", None, aliases=("k", "top_k", "n"), least=1, most=200),
            P("path", "path", f"A folder of the project, {_FOLDER}.", None, rare=True, aliases=("folder",)),
            _PROJECT,
        ),
        brief_of, briefed, "GET", "/v1/project/brief", Brief,
        read_only=True, mcp="session_brief", within="brief",
    ),
    Operation(
        "project_state", "State of the repository",
        "Branch, what is staged and what is not, the last commits; the history of a file and who changed it.",
        "Use it to see where the work stands, or who changed a file and why.",
        (
            P("file", "path", "Also the history of this file.", None),
            P("commits", "whole", "So many of the last commits.", 10, least=0, most=200, cli="-n --commits"),
            P("path", "path", f"A folder of the repository, {_FOLDER}.", None, rare=True, aliases=("folder",)),
            _PROJECT,
        ),
        project_state, standing, "GET", "/v1/project/state",
        {"state": State | None, "history": [Commit], "authors": [Author], "task": Memory | None, "skipped": [str]},
        read_only=True, idempotent=True, mcp="project_state", cli="git",
        help="Where the repository of this folder stands, and what is at hand.",
    ),
    Operation(
        "search_commits", "Search commits",
        "Find commits by words of the message, author, file, date, or a text that they added or removed.",
        "Use it when asked when or why something was changed. Where no message has the words, commits that are "
        "remembered and come close are given.",
        (
            P("query", "text", "Words of the message; each must occur.", "", aliases=("q", "text", "message"),
              cli="[QUERY]..."),
            P("author", "text", "Name or address of who made it.", None),
            P("path", "path", "Only commits that changed this file or folder.", None, aliases=("file",)),
            P("since", "time", f"Not older than. {WHEN}", None, aliases=("after",)),
            P("until", "time", f"Not newer than. {WHEN}", None, aliases=("before",)),
            P("content", "text", "A text that the commit added or removed.", None, aliases=("code", "pickaxe"),
              cli="-S --content"),
            P("limit", "whole", "At most so many.", 20, aliases=("k", "top_k", "n"), least=1, most=200,
              cli="-n --limit"),
            P("folder", "path", f"A folder of the repository, {_FOLDER}.", None, rare=True),
            _PROJECT,
        ),
        search_commits, searched, "GET", "/v1/project/commits",
        {"commits": [Commit], "memories": [Memory], "skipped": [str]},
        read_only=True, idempotent=True, mcp="search_commits", cli="commits",
        help="Search the commits of this repository.\n\nQUERY are words of the message; each must occur. Where none "
        "has them, commits that are remembered and come close are told.",
    ),
    Operation(
        "ingest_code", "Take code in", "Read the symbols of source files, with what they say and what they call.",
        "Use it when code is to be found by what it does. What has not changed since the last time is left alone.",
        (_PATH, _PROJECT, _DRY),
        ingest_code, taken_in, "POST", "/v1/project/code", Report,
        right="write", idempotent=True, mcp="ingest_code", within="ingest",
    ),
    Operation(
        "ingest_adr", "Take decision records in",
        "Read architecture decision records: what was decided, why, and what took its place since.",
        "Use it on a record or a folder of them.",
        (_PATH, _PROJECT, _DRY),
        ingest_adr, taken_in, "POST", "/v1/project/decisions", Report,
        right="write", idempotent=True, mcp="ingest_adr", within="ingest",
    ),
    Operation(
        "ingest_incident", "Record an incident",
        "Keep what went wrong in production and what was learnt from it, so that the same change is not made again.",
        "Post-mortems that lie in files are read by ingest_files.",
        (
            P("summary", "text", "What happened, and the cause."),
            P("severity", "text", "How bad it was: SEV-1 to SEV-5, P1 to P5, critical, high, medium or low.", "medium"),
            P("lessons", "text", "What was learnt.", ""),
            P("services", "texts", "The services that it was of; the project unless told.", (),
              aliases=("affected_services", "components")),
            _PROJECT,
        ),
        ingest_incident, words.remembered, "POST", "/v1/project/incidents", Remembered,
        right="write", mcp="ingest_incident", within="remember", status=201,
    ),
    Operation(
        "ingest_files", "Take files in",
        "Read what files tell: decisions, post-mortems, code, documents, memory files of assistants.",
        "Use it on a file or folder of any of these; what it is is recognised. What has not changed since the last "
        "time is left alone, and what came from a file that is gone leaves memory.",
        (_PATH, P("kind", "text", "Take all of it for this.", None, choices=FILE_KINDS, aliases=("as", "type")),
         _PROJECT, _DRY),
        ingest_files, taken_in, "POST", "/v1/project/files", Report,
        right="write", idempotent=True, mcp="ingest_files", within="ingest",
    ),
    Operation(
        "update_memory", "Replace a memory", "Replace what a memory says, with where the new text comes from.",
        "Its history keeps what it said before.",
        (_KEY, P("value", "text", "What it says from now on."), P("source", "text", "Where that comes from.")),
        update_memory, words.changed, "PUT", "/v1/memories/{id}/content", Memory,
        right="write", idempotent=True, mcp="update_memory", within="edit",
    ),
    Operation(
        "invalidate_memory", "Invalidate a memory", "Take what no longer holds out of search, with the reason.",
        "It ends to hold now, and is still found by who asks what held before. A person can bring it back.",
        (_KEY, P("reason", "text", "Why it no longer holds.")),
        invalidate_memory, words.forgotten, "POST", "/v1/memories/{id}/invalidate", Forgotten,
        right="write", destructive=True, idempotent=True, mcp="invalidate_memory", within="forget",
    ),
    Operation(
        "verify", "Verify citations", "Look whether the files, symbols and commits that memories cite still stand.",
        "Use it after code has changed. What does not stand is marked stale and listed; a memory that was looked at "
        "and is still true is accepted.",
        (
            P("accept", "texts", "Ids of memories that are still true: they cite the files as they are now.", ()),
            _DRY,
            P("path", "path", f"A folder of the repository, {_FOLDER}.", None, rare=True, aliases=("folder",)),
            _PROJECT,
        ),
        verify, verified, "POST", "/v1/project/verify", Verified,
        right="write", idempotent=True, mcp="verify_memories", cli="verify",
        help="Look whether what memories cite still stands.\n\nFiles, symbols and commits are looked at again. What "
        "does not stand is marked stale and listed, and shown so wherever it is recalled. Ends with 1 if anything is.",
    ),
)  # fmt: skip
