"""Commits as memories. The id of a source is derived from the commit, so each is stored once.

A commit of a branch belongs to that branch until it is merged (`truth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from .. import ids, text
from ..agents.places import Seen
from ..engine import Engine
from ..types import Draft, Scope, Source
from .git import Commit, Repository

IMPORTANCE = 3  # below what somebody meant to be remembered
MAX_NAMED = 20  # files that are named in a memory
MAX_PATH = 200  # characters of the name of one
MAX_BODY = 4000  # characters of a message that are kept
OFF = "off"


def import_commits(
    engine: Engine, repository: Repository, scope: Scope, branch: str, seen: Seen, *, embed: bool = True
) -> int:  # fmt: skip
    """Remember what was committed since the last time, oldest first; gives how many commits were new.

    `branch` is where HEAD is, or nothing on the default branch. Nothing is done where the settings say so.
    """
    head = repository.resolve("HEAD")
    known = seen.heads.get(branch, "")
    if engine.settings.commits == OFF or not head or known == head:
        return 0
    most = engine.settings.commits_at_first
    if known and repository.contains(known, head):
        found = repository.log(f"{known}..{head}", limit=10 * most)
    else:  # never seen, or its history was written anew
        found = repository.log(head, limit=most)
    base = _in_default(repository, branch, most)
    fresh = _unknown(engine, scope.project, found)
    drafts = [draft(one, replace(scope, branch="" if one.sha in base else branch)) for one in reversed(fresh)]
    made = engine.remember_many(drafts, embed=embed) if drafts else ()
    seen.heads[branch] = head
    return sum(result.action == "created" for result in made)


def draft(commit: Commit, scope: Scope) -> Draft:
    """A commit as it is remembered: found by its message, its files and who made it."""
    names = [file.path[-MAX_PATH:] for file in commit.files[:MAX_NAMED]]
    left = len(commit.files) + commit.more - len(names)
    files = f"Files: {', '.join(names)}{f' and {left} more' if left else ''}" if names else ""
    who = f"Commit {commit.sha[:12]} by {commit.author[:200]}, {commit.at:%Y-%m-%d}."
    body = "\n\n".join(part for part in (commit.subject[:MAX_BODY], commit.body[:MAX_BODY], files, who) if part)
    source = Source(
        source_id(scope.project, commit.sha), "commit", uri=f"commit:{commit.sha}", title=commit.subject[:300],
        content=commit.message[: 2 * MAX_BODY] or commit.sha, author=commit.author[:200], occurred_at=commit.at,
    )  # fmt: skip
    return Draft(
        body, kind="commit", title=text.shorten(commit.subject, 200), speaker=commit.author[:200], scope=scope,
        refs=(f"commit:{commit.sha}",), importance=IMPORTANCE, source=source,
        valid_from=min(commit.at, datetime.now(UTC)),  # a clock that is ahead must not hide it
    )  # fmt: skip


def source_id(project: str, sha: str) -> str:
    return ids.derive("commit", project, sha)


def _unknown(engine: Engine, project: str, commits: Sequence[Commit]) -> list[Commit]:
    names = {source_id(project, commit.sha): commit for commit in commits}
    known = {source.id for source in engine.sources(list(names))}
    return [commit for id, commit in names.items() if id not in known]


def _in_default(repository: Repository, branch: str, most: int) -> set[str]:
    """The newest commits of the default branch, where another is checked out: those are not of the branch."""
    default = repository.default() if branch else ""
    tip = repository.resolve(f"refs/heads/{default}") or repository.resolve(f"refs/remotes/origin/{default}")
    if not branch or not tip:
        return set()
    return set(repository.ask("rev-list", f"--max-count={20 * most}", tip).split())
