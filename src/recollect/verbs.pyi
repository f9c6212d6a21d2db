# Written by scripts/listed.py from the declarations of operations.
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .agent_types import Agent, Handoff, Member, Pool, Share
from .answers.counters import Ask
from .answers.types import Answered, Seeded
from .history_types import (
    Audit,
    Checkpoint,
    Differences,
    EntityState,
    Hold,
    Provenance,
    Retained,
    Retention,
    RolledBack,
    Sighting,
    TakenBack,
    Timeline,
)
from .ops.operation import Operation
from .overview import Map, Pair
from .project.brief import Brief
from .project.ingest import Report
from .project.truth import Verified
from .recall.graph import Node, Subgraph
from .recall.steps import NextRecall
from .store.answers import Answer
from .store.census import Facets
from .types import Entry, Forgotten, Link, Memory, Page, Recall, Remembered, Scope, Source
from .upkeep.health import Health

class Verbs:
    def _call(self, operation: Operation, given: Mapping[str, Any]) -> Any: ...
    def remember(
        self,
        content: str,
        *,
        kind: str | None = ...,
        title: str | None = ...,
        reasoning: str | None = ...,
        tags: Sequence[str] | None = ...,
        importance: int | None = ...,
        refs: Sequence[str] | None = ...,
        keywords: Sequence[str] | None = ...,
        confidence: float | None = ...,
        network: str | None = ...,
        context: str | None = ...,
        speaker: str | None = ...,
        position: int | None = ...,
        valid_from: datetime | str | None = ...,
        valid_to: datetime | str | None = ...,
        expires_at: datetime | str | None = ...,
        source: Source | str | None = ...,
        evidence: Sequence[str] | None = ...,
        place: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        merge: bool | None = ...,
        scope: Scope | None = ...,
    ) -> Remembered: ...
    def recall(
        self,
        query: str,
        *,
        limit: int | None = ...,
        kinds: Sequence[str] | None = ...,
        networks: Sequence[str] | None = ...,
        tags: Sequence[str] | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        min_importance: int | None = ...,
        states: Sequence[str] | None = ...,
        as_of: datetime | str | None = ...,
        true_at: datetime | str | None = ...,
        max_tokens: int | None = ...,
        recipe: str | None = ...,
        effort: str | None = ...,
        fusion: str | None = ...,
        diversity: float | None = ...,
        shown: Sequence[str] | None = ...,
        abstain: bool | None = ...,
        explain: bool | None = ...,
        peek: bool | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Recall: ...
    def get(
        self,
        id: str,
        *,
        peek: bool | None = ...,
        as_of: datetime | str | None = ...,
        true_at: datetime | str | None = ...,
    ) -> Memory: ...
    def edit(
        self,
        id: str,
        *,
        content: str | None = ...,
        kind: str | None = ...,
        title: str | None = ...,
        reasoning: str | None = ...,
        tags: Sequence[str] | None = ...,
        importance: int | None = ...,
        refs: Sequence[str] | None = ...,
        keywords: Sequence[str] | None = ...,
        confidence: float | None = ...,
        network: str | None = ...,
        context: str | None = ...,
        speaker: str | None = ...,
        position: int | None = ...,
        valid_from: datetime | str | None = ...,
        valid_to: datetime | str | None = ...,
        expires_at: datetime | str | None = ...,
        source: Source | str | None = ...,
        state: str | None = ...,
        version: str | None = ...,
        reason: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Memory: ...
    def reject(self, id: str | Sequence[str], *, reason: str | None = ..., undo: bool | None = ...) -> Forgotten: ...
    def pending(
        self,
        *,
        limit: int | None = ...,
        cursor: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Page: ...
    def approve(
        self, id: str | Sequence[str], *, into: str | None = ..., reason: str | None = ...
    ) -> tuple[Memory, ...]: ...
    def link(self, origin: str, relation: str, target: str, *, reason: str | None = ...) -> Link: ...
    def links(self, id: str) -> tuple[Link, ...]: ...
    def history(self, id: str) -> tuple[Entry, ...]: ...
    def tags(
        self,
        *,
        limit: int | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> dict[str, Any]: ...
    def projects(self, *, limit: int | None = ...) -> dict[str, Any]: ...
    def stats(self) -> dict[str, Any]: ...
    def usage(
        self, *, since: str | None = ..., until: str | None = ..., project: str | None = ...
    ) -> dict[str, Any]: ...
    def mend(self) -> dict[str, Any]: ...
    def janitor(self, *, dry_run: bool | None = ..., steps: Sequence[str] | None = ...) -> dict[str, Any]: ...
    def janitor_report(self) -> dict[str, Any]: ...
    def health(self, *, rebuild: bool | None = ...) -> Health: ...
    def memory_tool(
        self,
        command: str,
        *,
        path: str | None = ...,
        view_range: Sequence[int] | None = ...,
        file_text: str | None = ...,
        old_str: str | None = ...,
        new_str: str | None = ...,
        insert_line: int | None = ...,
        insert_text: str | None = ...,
        old_path: str | None = ...,
        new_path: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> dict[str, Any]: ...
    def token_create(
        self,
        *,
        can: Sequence[str] | None = ...,
        name: str | None = ...,
        user: str | None = ...,
        project: str | None = ...,
        expires_at: datetime | str | None = ...,
    ) -> dict[str, Any]: ...
    def token_list(self) -> dict[str, Any]: ...
    def token_revoke(self, id: str) -> dict[str, Any]: ...
    def webhook_add(
        self, url: str, *, operations: Sequence[str] | None = ..., secret: str | None = ...
    ) -> dict[str, Any]: ...
    def webhook_list(self) -> dict[str, Any]: ...
    def webhook_remove(self, id: str) -> dict[str, Any]: ...
    def why(self, id: str, *, depth: int | None = ..., limit: int | None = ...) -> Provenance: ...
    def rate(self, id: str, helped: bool, *, session: str | None = ...) -> Sighting: ...
    def state(
        self,
        entity: str,
        *,
        at: datetime | str | None = ...,
        true_at: datetime | str | None = ...,
        networks: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> EntityState: ...
    def timeline(
        self,
        entity: str | None = ...,
        *,
        around: str | None = ...,
        kinds: Sequence[str] | None = ...,
        networks: Sequence[str] | None = ...,
        tags: Sequence[str] | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        min_importance: int | None = ...,
        states: Sequence[str] | None = ...,
        limit: int | None = ...,
        cursor: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Timeline: ...
    def audit(
        self,
        *,
        actors: Sequence[str] | None = ...,
        operations: Sequence[str] | None = ...,
        nouns: Sequence[str] | None = ...,
        targets: Sequence[str] | None = ...,
        project: str | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        reads: bool | None = ...,
        limit: int | None = ...,
        cursor: int | None = ...,
    ) -> Audit: ...
    def checkpoint_create(
        self,
        name: str,
        *,
        reason: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Checkpoint: ...
    def checkpoint_list(self) -> tuple[Checkpoint, ...]: ...
    def checkpoint_diff(
        self,
        first: str,
        last: str | None = ...,
        *,
        limit: int | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Differences: ...
    def rollback(
        self,
        to: str,
        *,
        kinds: Sequence[str] | None = ...,
        tags: Sequence[str] | None = ...,
        sources: Sequence[str] | None = ...,
        agents: Sequence[str] | None = ...,
        dry_run: bool | None = ...,
        reason: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> RolledBack: ...
    def undo(self, changes: Sequence[str], *, reason: str | None = ...) -> TakenBack: ...
    def checkpoint_delete(self, name: str) -> Checkpoint: ...
    def hold_add(
        self,
        name: str,
        *,
        reason: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Hold: ...
    def hold_list(self) -> tuple[Hold, ...]: ...
    def hold_release(self, name: str, *, reason: str | None = ...) -> Hold: ...
    def retention_set(
        self,
        days: int,
        *,
        kind: str | None = ...,
        action: str | None = ...,
        reason: str | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Retention: ...
    def retention_list(self) -> tuple[Retention, ...]: ...
    def retention_remove(self, id: str) -> Retention: ...
    def retention_apply(self, *, dry_run: bool | None = ...) -> Retained: ...
    def semantic_search(
        self,
        query: str,
        *,
        limit: int | None = ...,
        kinds: Sequence[str] | None = ...,
        project: str | None = ...,
        scope: Scope | None = ...,
    ) -> Recall: ...
    def set_task_context(
        self, task: str, *, details: Mapping[str, Any] | None = ..., project: str | None = ..., branch: str | None = ...
    ) -> Remembered: ...
    def get_task_context(self, *, project: str | None = ..., branch: str | None = ...) -> dict[str, Any]: ...
    def brief(self, *, limit: int | None = ..., path: str | None = ..., project: str | None = ...) -> Brief: ...
    def project_state(
        self,
        *,
        file: str | None = ...,
        commits: int | None = ...,
        patch: int | None = ...,
        path: str | None = ...,
        project: str | None = ...,
    ) -> dict[str, Any]: ...
    def search_commits(
        self,
        query: str | None = ...,
        *,
        author: str | None = ...,
        path: str | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        content: str | None = ...,
        limit: int | None = ...,
        folder: str | None = ...,
        project: str | None = ...,
    ) -> dict[str, Any]: ...
    def ingest_code(self, path: str, *, project: str | None = ..., dry_run: bool | None = ...) -> Report: ...
    def ingest_adr(self, path: str, *, project: str | None = ..., dry_run: bool | None = ...) -> Report: ...
    def ingest_incident(
        self,
        summary: str,
        *,
        severity: str | None = ...,
        lessons: str | None = ...,
        services: Sequence[str] | None = ...,
        project: str | None = ...,
    ) -> Remembered: ...
    def ingest_files(
        self, path: str, *, kind: str | None = ..., project: str | None = ..., dry_run: bool | None = ...
    ) -> Report: ...
    def update_memory(self, id: str, value: str, source: str) -> Memory: ...
    def invalidate_memory(self, id: str, reason: str) -> Forgotten: ...
    def verify(
        self,
        *,
        accept: Sequence[str] | None = ...,
        dry_run: bool | None = ...,
        path: str | None = ...,
        project: str | None = ...,
    ) -> Verified: ...
    def ask(
        self,
        question: str,
        *,
        fresh: bool | None = ...,
        networks: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Answered: ...
    def remember_answer(
        self,
        question: str,
        answer: str,
        *,
        pin: bool | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> Answered: ...
    def forget_answer(
        self, question: str, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> Answer: ...
    def feedback(
        self,
        question: str,
        helpful: bool,
        *,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> Answer: ...
    def answer_stats(
        self, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> dict[str, Any]: ...
    def answer_asks(self, *, limit: int | None = ...) -> tuple[Ask, ...]: ...
    def pin_answer(
        self,
        question: str,
        *,
        undo: bool | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> Answer: ...
    def answer_get(
        self, question: str, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> dict[str, Any]: ...
    def answer_put(
        self,
        question: str,
        answer: str,
        *,
        memories: Sequence[str] | None = ...,
        files: Sequence[str] | None = ...,
        repositories: Sequence[str] | None = ...,
        hours: float | None = ...,
        confidence: float | None = ...,
        compute_ms: float | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> Answered: ...
    def answer_seed(
        self,
        *,
        documents: bool | None = ...,
        talk: bool | None = ...,
        limit: int | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> Seeded: ...
    def answers(
        self,
        *,
        limit: int | None = ...,
        tier: str | None = ...,
        kept: bool | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        scope: Scope | None = ...,
    ) -> tuple[Answer, ...]: ...
    def answer(
        self, id: str, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> Answer: ...
    def graph_query(
        self,
        entity: str,
        *,
        to: str | None = ...,
        relation: str | None = ...,
        direction: str | None = ...,
        depth: int | None = ...,
        types: Sequence[str] | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        as_of: datetime | str | None = ...,
        networks: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Subgraph: ...
    def entity_merge(
        self, entity: str, other: str, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> Node: ...
    def entity_split(
        self, entity: str, other: str, *, project: str | None = ..., user: str | None = ..., scope: Scope | None = ...
    ) -> Node: ...
    def entity_summaries(self) -> dict[str, Any]: ...
    def recall_next(
        self,
        question: str,
        *,
        thoughts: Sequence[str] | None = ...,
        shown: Sequence[str] | None = ...,
        limit: int | None = ...,
        networks: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> NextRecall: ...
    def whoami(self) -> dict[str, Any]: ...
    def browse(
        self,
        *,
        text: str | None = ...,
        limit: int | None = ...,
        cursor: str | None = ...,
        kinds: Sequence[str] | None = ...,
        networks: Sequence[str] | None = ...,
        tags: Sequence[str] | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        min_importance: int | None = ...,
        states: Sequence[str] | None = ...,
        trusts: Sequence[str] | None = ...,
        sources: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Page: ...
    def facets(
        self,
        *,
        kinds: Sequence[str] | None = ...,
        networks: Sequence[str] | None = ...,
        tags: Sequence[str] | None = ...,
        since: datetime | str | None = ...,
        until: datetime | str | None = ...,
        min_importance: int | None = ...,
        states: Sequence[str] | None = ...,
        trusts: Sequence[str] | None = ...,
        sources: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> Facets: ...
    def recalled(
        self,
        *,
        limit: int | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> tuple[Memory, ...]: ...
    def looks(self, *, after: int | None = ..., limit: int | None = ...) -> dict[str, Any]: ...
    def growth(self, *, days: int | None = ...) -> dict[str, Any]: ...
    def graph(
        self,
        *,
        focus: Sequence[str] | None = ...,
        depth: int | None = ...,
        limit: int | None = ...,
        as_of: datetime | str | None = ...,
    ) -> Map: ...
    def disputes(self, *, limit: int | None = ...) -> tuple[Pair, ...]: ...
    def twins(self, *, limit: int | None = ...) -> tuple[Pair, ...]: ...
    def secrets(self, *, limit: int | None = ...) -> dict[str, Any]: ...
    def preview(
        self,
        *,
        prompt: str | None = ...,
        said: Sequence[str] | None = ...,
        project: str | None = ...,
        user: str | None = ...,
        branch: str | None = ...,
        agent: str | None = ...,
        session: str | None = ...,
        scope: Scope | None = ...,
    ) -> dict[str, Any]: ...
    def checks(self) -> dict[str, Any]: ...
    def jobs(self, *, limit: int | None = ...) -> dict[str, Any]: ...
    def settings(self) -> dict[str, Any]: ...
    def assistants(self) -> dict[str, Any]: ...
    def try_models(self) -> dict[str, Any]: ...
    def register_agent(
        self,
        agent_type: str,
        *,
        name: str | None = ...,
        owner: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        agent: str | None = ...,
        token: str | None = ...,
        can: Sequence[str] | None = ...,
        scope: str | None = ...,
    ) -> Agent: ...
    def get_agent_info(self, agent: str | None = ...) -> dict[str, Any]: ...
    def get_agents_for_user(self, *, user: str | None = ..., active: bool | None = ...) -> dict[str, Any]: ...
    def deactivate_agent(self, agent: str, *, reason: str | None = ...) -> Agent: ...
    def activate_agent(self, agent: str, *, reason: str | None = ...) -> Agent: ...
    def create_pool(
        self,
        name: str,
        *,
        scope: str | None = ...,
        open: bool | None = ...,
        purpose: str | None = ...,
        agent: str | None = ...,
    ) -> Pool: ...
    def list_pools(self) -> dict[str, Any]: ...
    def join_pool(self, pool: str, *, permission: str | None = ..., agent: str | None = ...) -> Member: ...
    def invite_to_pool(
        self, pool: str, invited: str, *, permission: str | None = ..., agent: str | None = ...
    ) -> Member: ...
    def leave_pool(self, pool: str, *, removed: str | None = ..., agent: str | None = ...) -> Member: ...
    def share_memory_to_scope(
        self, pool: str, memory: str, *, scope: str | None = ..., agent: str | None = ...
    ) -> Share: ...
    def unshare_memory(self, pool: str, memory: str, *, agent: str | None = ...) -> Share: ...
    def query_shared(
        self,
        query: str | None = ...,
        *,
        pool: str | None = ...,
        max_scope: str | None = ...,
        limit: int | None = ...,
        agent: str | None = ...,
    ) -> Recall: ...
    def initiate_handoff(
        self,
        task: str,
        *,
        target: str | None = ...,
        needs: str | None = ...,
        state: Mapping[str, Any] | None = ...,
        memories: Sequence[str] | None = ...,
        files: Sequence[str] | None = ...,
        ttl_seconds: int | None = ...,
        key: str | None = ...,
        agent: str | None = ...,
    ) -> Handoff: ...
    def accept_handoff(self, handoff: str, *, budget: int | None = ..., agent: str | None = ...) -> dict[str, Any]: ...
    def complete_handoff(
        self, handoff: str, *, result: Mapping[str, Any] | None = ..., agent: str | None = ...
    ) -> Handoff: ...
    def reject_handoff(self, handoff: str, reason: str, *, agent: str | None = ...) -> Handoff: ...
    def get_pending_handoffs(self, *, agent: str | None = ...) -> dict[str, Any]: ...
    def list_handoffs(self, *, states: Sequence[str] | None = ..., limit: int | None = ...) -> dict[str, Any]: ...
    def search_code_kb(self, query: str, *, service: str | None = ..., limit: int | None = ...) -> Recall: ...
    def search_decisions(self, query: str, *, topic: str | None = ..., limit: int | None = ...) -> Recall: ...
    def search_incidents(
        self, query: str, *, service: str | None = ..., severity: str | None = ..., limit: int | None = ...
    ) -> Recall: ...

def name_of(operation: Operation) -> str: ...
def positional(operation: Operation) -> list[str]: ...
