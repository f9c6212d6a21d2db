"""The task at hand: a memory of kind `task` with a tag of its own, which a context tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ..store.contract import Store
from ..types import Filter, Memory, Scope

AT_HAND = "task-context"
LEAD = "Current task: "
MOST = 200  # tasks of one project, the newest, among which it is looked for


def stored_task(store: Store, tenant: str, scope: Scope, now: datetime) -> str:
    """What is being worked on in a scope, where somebody has set it."""
    tasks = Filter(Scope(scope.user, scope.project), inside=True, kinds=("task",), tags=(AT_HAND,), current_at=now)
    found = task_of(store.page(tenant, tasks, None, MOST), scope)
    return found.content.removeprefix(LEAD) if found else ""


def task_of(tasks: Iterable[Memory], scope: Scope) -> Memory | None:
    """The newest task of the branch where there is one, else that of the project."""
    known: dict[Scope, Memory] = {}
    for task in tasks:
        known.setdefault(task.scope, task)
    project = Scope(scope.user, scope.project)
    return known.get(replace(project, branch=scope.branch)) or known.get(project)
