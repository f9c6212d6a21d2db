"""The operations on a project: its repository, the task at hand, what its files tell, and whether that still stands."""

from __future__ import annotations

from ..project.brief import Brief
from ..project.git import Commit
from ..project.ingest import Report
from ..project.recognise import KINDS
from ..project.state import Author, State
from ..project.truth import Verified
from ..recall.query import MAX_LIMIT
from ..types import Forgotten, Memory, Recall, Remembered
from . import project as verbs
from . import words
from .operation import FILTERS, LOOKED, WHEN, Operation, P

_PROJECT = P("project", "text", "The project.", None, aliases=("service", "service_name"))
_BRANCH = P("branch", "text", "Only of this branch.", None, rare=True)
_FOLDER = "on the machine of the daemon; the one the assistant works in unless told"
_KEY = P("id", "text", "The id of the memory.", aliases=("key", "memory_id"))
_PATH = P("path", "path", "The file or folder, as the machine of the daemon calls it, or below the project's folder.",
          aliases=("file", "folder"))  # fmt: skip
_DRY = P("dry_run", "flag", "Only tell what would be done.", False)

PROJECT: tuple[Operation, ...] = (
    Operation(
        "semantic_search", "Search the project's memory",
        "Find decisions, incidents, conventions, code and anything else that bears on a question, by meaning.",
        "Use it before designing, changing or explaining something.",
        (
            P("query", "text", "What to look for, in plain words.", aliases=("q", "text", "question")),
            P("limit", "whole", "At most so many.", 10, aliases=("k", "top_k", "n"), least=1, most=MAX_LIMIT),
            FILTERS[0], LOOKED[0],
        ),
        verbs.semantic_search, words.recalled, "POST", "/v1/project/search", Recall,
        read_only=True, idempotent=True, mcp="semantic_search", cli="recall",
    ),
    Operation(
        "set_task_context", "Set the task at hand",
        "Keep what is being worked on, so that the next session can go on with it.",
        "Use it when work on something begins or turns to something else. A new task takes the place of the one "
        "before.",
        (P("task", "text", "What is being worked on."), P("details", "map", "Anything more, by name.", None),
         _PROJECT, _BRANCH),
        verbs.set_task_context, words.remembered, "POST", "/v1/project/task", Remembered,
        right="write", idempotent=True, mcp="set_task_context", cli="task set", status=201,
    ),
    Operation(
        "get_task_context", "Get the task at hand",
        "What was being worked on, where the repository stands, and what was decided that bears on it.",
        "Use it at the start of a session.",
        (_PROJECT, _BRANCH),
        verbs.get_task_context, verbs.at_hand, "GET", "/v1/project/task",
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
        verbs.brief_of, verbs.briefed, "GET", "/v1/project/brief", Brief,
        read_only=True, mcp="session_brief", cli="brief",
    ),
    Operation(
        "project_state", "State of the repository",
        "Branch, what is staged and what is not, the last commits; the history of a file and who changed it.",
        "Use it to see where the work stands, or who changed a file and why.",
        (
            P("file", "path", "Also the history of this file.", None),
            P("commits", "whole", "So many of the last commits.", 10, least=0, most=200),
            P("path", "path", f"A folder of the repository, {_FOLDER}.", None, rare=True, aliases=("folder",)),
            _PROJECT,
        ),
        verbs.project_state, verbs.standing, "GET", "/v1/project/state",
        {"state": State | None, "history": [Commit], "authors": [Author], "task": Memory | None, "skipped": [str]},
        read_only=True, idempotent=True, mcp="project_state", cli="git",
    ),
    Operation(
        "search_commits", "Search commits",
        "Find commits by words of the message, author, file, date, or a text that they added or removed.",
        "Use it when asked when or why something was changed. Where no message has the words, commits that are "
        "remembered and come close are given.",
        (
            P("query", "text", "Words of the message; each must occur.", "", aliases=("q", "text", "message")),
            P("author", "text", "Name or address of who made it.", None),
            P("path", "path", "Only commits that changed this file or folder.", None, aliases=("file",)),
            P("since", "time", f"Not older than. {WHEN}", None, aliases=("after",)),
            P("until", "time", f"Not newer than. {WHEN}", None, aliases=("before",)),
            P("content", "text", "A text that the commit added or removed.", None, aliases=("code", "pickaxe")),
            P("limit", "whole", "At most so many.", 20, aliases=("k", "top_k", "n"), least=1, most=200),
            P("folder", "path", f"A folder of the repository, {_FOLDER}.", None, rare=True),
            _PROJECT,
        ),
        verbs.search_commits, verbs.searched, "GET", "/v1/project/commits",
        {"commits": [Commit], "memories": [Memory], "skipped": [str]},
        read_only=True, idempotent=True, mcp="search_commits", cli="commits",
    ),
    Operation(
        "ingest_code", "Take code in", "Read the symbols of source files, with what they say and what they call.",
        "Use it when code is to be found by what it does. What has not changed since the last time is left alone.",
        (_PATH, _PROJECT, _DRY),
        verbs.ingest_code, verbs.taken_in, "POST", "/v1/project/code", Report,
        right="write", idempotent=True, mcp="ingest_code", cli="ingest",
    ),
    Operation(
        "ingest_adr", "Take decision records in",
        "Read architecture decision records: what was decided, why, and what took its place since.",
        "Use it on a record or a folder of them.",
        (_PATH, _PROJECT, _DRY),
        verbs.ingest_adr, verbs.taken_in, "POST", "/v1/project/decisions", Report,
        right="write", idempotent=True, mcp="ingest_adr", cli="ingest",
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
        verbs.ingest_incident, words.remembered, "POST", "/v1/project/incidents", Remembered,
        right="write", mcp="ingest_incident", cli="remember", status=201,
    ),
    Operation(
        "ingest_files", "Take files in",
        "Read what files tell: decisions, post-mortems, code, documents, memory files of assistants.",
        "Use it on a file or folder of any of these; what it is is recognised. What has not changed since the last "
        "time is left alone, and what came from a file that is gone leaves memory.",
        (_PATH, P("kind", "text", "Take all of it for this.", None, choices=KINDS, aliases=("as", "type")), _PROJECT,
         _DRY),
        verbs.ingest_files, verbs.taken_in, "POST", "/v1/project/files", Report,
        right="write", idempotent=True, mcp="ingest_files", cli="ingest",
    ),
    Operation(
        "update_memory", "Replace a memory", "Replace what a memory says, with where the new text comes from.",
        "Its history keeps what it said before.",
        (_KEY, P("value", "text", "What it says from now on."), P("source", "text", "Where that comes from.")),
        verbs.update_memory, words.changed, "PUT", "/v1/memories/{id}/content", Memory,
        right="write", idempotent=True, mcp="update_memory", cli="edit",
    ),
    Operation(
        "invalidate_memory", "Invalidate a memory", "Take what no longer holds out of search, with the reason.",
        "It ends to hold now, and is still found by who asks what held before. A person can bring it back.",
        (_KEY, P("reason", "text", "Why it no longer holds.")),
        verbs.invalidate_memory, words.forgotten, "POST", "/v1/memories/{id}/invalidate", Forgotten,
        right="write", destructive=True, idempotent=True, mcp="invalidate_memory", cli="forget",
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
        verbs.verify, verbs.verified, "POST", "/v1/project/verify", Verified,
        right="write", idempotent=True, mcp="verify_memories", cli="verify",
    ),
)  # fmt: skip
