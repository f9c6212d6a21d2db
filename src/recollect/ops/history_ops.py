"""The operations of history, as `ops.py` lists them: why, the audit log, checkpoints, holds and retention."""

from __future__ import annotations

from ..history.checkpoints import MOST
from ..history.policies import MAX_DAYS
from ..history.provenance import MAX_COUNT, MAX_DEPTH
from ..history.room import MAX_ROWS
from ..past import (
    ACTIONS,
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
)
from ..types import KINDS
from . import history_verbs as verbs
from . import history_words as words
from .operation import ID, LOOKED, PLACED, REASON, WHEN, Operation, P

FOR_A_PERSON = "what may be erased is for a person to say"
POINT = "A checkpoint, now, a time with its zone, how long ago (1d, 2h), or #NUMBER of a change."
HISTORY: tuple[Operation, ...] = (
    Operation(
        "why", "Provenance of a memory", "Why a memory is there: source, quotes, trust, changes, uses.",
        "Use it when asked how something is known, why it is believed, or what became of it: where it came from, on "
        "whose word, what it was derived from and stands for, each change, into which sessions it was put and whether "
        "that helped.",
        (
            P("id", "text", "The id, or at least its last 4 characters.", aliases=("memory_id", "key")),
            P("depth", "whole", "How far to follow what it goes back to.", 3, least=0, most=MAX_DEPTH),
            P("limit", "whole", "At most so many of each thing.", 50, least=1, most=MAX_COUNT),
        ),
        verbs.why, words.why, "GET", "/v1/memories/{id}/why", Provenance,
        read_only=True, idempotent=True, mcp="get_memory_provenance", cli="why",
    ),
    Operation(
        "rate", "Rate a memory", "Say whether a memory helped where it was shown.",
        "Use it when the user says that something remembered was of use, or was not. It counts for the last time the "
        "memory was shown, in the session if one is named.",
        (
            ID, P("helped", "flag", "Whether it helped.", aliases=("helpful", "useful")),
            P("session", "text", "The session it was shown in.", "", aliases=("session_id",)),
        ),
        verbs.rate, words.rated, "POST", "/v1/memories/{id}/rating", Sighting,
        right="write", idempotent=True, mcp="rate_memory", cli="rate",
    ),
    Operation(
        "state", "State of an entity", "What was known of an entity at a time, and how it was tied to others.",
        "Use it when asked how something was, or what was thought of it, at an earlier time.",
        (
            P("entity", "text", "Its name, as it is written.", aliases=("name",)),
            P("at", "time", f"What was known then; now unless told. {WHEN}", None, aliases=("as_of",)),
            P("true_at", "time", f"What held then; the same time unless told. {WHEN}", None),
            *LOOKED,
        ),
        verbs.state, words.state, "GET", "/v1/state", EntityState,
        read_only=True, idempotent=True, mcp="entity_state", cli="state",
    ),
    Operation(
        "audit", "Audit log", "Who did what, newest first, and who read across projects.",
        "Every change of the tenant with who made it, when, why, before and after; and each look that somebody at home "
        "in one project had at what another owns.",
        (
            P("actors", "texts", "Only what these did.", None, aliases=("actor",)),
            P("operations", "texts", "Only these operations: create, edit, forget, …", None, aliases=("operation",)),
            P("nouns", "texts", "Only changes of these: memory, source, link, …", None, aliases=("noun",)),
            P("targets", "texts", "Only changes of these ids.", None, aliases=("target",)),
            P("project", "text", "Only memories of this project.", None, aliases=("service",)),
            P("since", "time", f"Not older than. {WHEN}", None),
            P("until", "time", f"Not newer than. {WHEN}", None),
            P("reads", "flag", "With the reads across projects.", True),
            P("limit", "whole", "At most so many changes.", 100, least=1, most=MAX_ROWS),
            P("cursor", "whole", "Where the page before ended.", None, least=1, most=2**53),
        ),
        verbs.audit, words.audited, "GET", "/v1/audit", Audit,
        right="admin", read_only=True, idempotent=True, no_mcp="a log for people; a model asks get_memory_provenance",
        cli="audit",
    ),
    Operation(
        "checkpoint_create", "Create a checkpoint", "Name the present state of a scope, to compare or go back to.",
        "Use it before a large change: much is to be forgotten, merged or taken in. It copies nothing and costs "
        "nothing.",
        (P("name", "text", "What to call it."), REASON, *PLACED),
        verbs.checkpoint_create, words.checkpoint, "POST", "/v1/checkpoints", Checkpoint,
        right="write", mcp="create_checkpoint", cli="checkpoint create", status=201,
    ),
    Operation(
        "checkpoint_list", "List checkpoints", "The checkpoints there are, newest first.",
        "Those set by themselves before an import, a clean-up, a rollback or much forgetting begin with «before-».",
        (),
        verbs.checkpoint_list, words.checkpoints, "GET", "/v1/checkpoints", [Checkpoint],
        read_only=True, idempotent=True, mcp="list_checkpoints", cli="checkpoint list",
    ),
    Operation(
        "checkpoint_diff", "What changed", "What was added, changed, removed and superseded between two moments.",
        "Use it when asked what is new, or what changed since a time or a checkpoint.",
        (
            P("first", "text", POINT, aliases=("a", "from", "since")),
            P("last", "text", POINT, "now", aliases=("b", "to", "until")),
            P("limit", "whole", "At most so many of each sort.", 100, least=1, most=MOST),
            *PLACED,
        ),
        verbs.checkpoint_diff, words.differences, "GET", "/v1/checkpoints/diff", Differences,
        read_only=True, idempotent=True, mcp="what_changed", cli="checkpoint diff",
    ),
    Operation(
        "rollback", "Go back", "Bring a scope back to how it was at a checkpoint or time.",
        "What came since is archived, what changed is put back, what was rejected stays rejected and what was erased "
        "stays erased. The answer names the checkpoint that takes it back. See first what would happen: dry_run.",
        (
            P("to", "text", POINT, aliases=("name", "checkpoint")),
            P("kinds", "texts", "Only memories of these kinds.", None, choices=KINDS, aliases=("kind",)),
            P("tags", "texts", "Only with one of these tags.", None, aliases=("tag",)),
            P("sources", "texts", "Only from these sources, by id or address.", None, aliases=("source",)),
            P("agents", "texts", "Only what these agents remembered.", None),
            P("dry_run", "flag", "Only show what would happen.", False),
            REASON, *PLACED,
        ),
        verbs.rollback, words.rolled_back, "POST", "/v1/rollback", RolledBack,
        right="admin", destructive=True, no_mcp="going back is for a person to decide", cli="checkpoint rollback",
    ),
    Operation(
        "undo", "Take back", "Undo changes by their numbers, so that everything they touched is as it was.",
        "A write names the numbers of its changes in the header Recollect-Changes. All of them are taken back or none: "
        "where something was changed since, nothing happens. What was erased stays erased.",
        (P("changes", "texts", "Numbers of changes: 120, or 120-124 for several.", aliases=("change", "seq")), REASON),
        verbs.undo, words.taken_back, "POST", "/v1/undo", TakenBack,
        right="write", destructive=True, no_mcp="taking back is for a person to decide",
        no_cli="recollect checkpoint rollback '#NUMBER' goes back to a change",
    ),
    Operation(
        "checkpoint_delete", "Delete a checkpoint", "Forget a name; what it named stays in the journal.",
        "By its name or id.",
        (P("name", "text", "The name of the checkpoint."),),
        verbs.checkpoint_delete, words.checkpoint, "DELETE", "/v1/checkpoints/{name}", Checkpoint,
        right="write", destructive=True, idempotent=True, no_mcp="a model has no need to", cli="checkpoint delete",
    ),
    Operation(
        "hold_add", "Put on hold", "Keep everything inside a scope from being erased.",
        "While it stands, a purge of anything inside fails, whoever asks. Forgetting, editing and correcting go on.",
        (P("name", "text", "What to call it, such as the matter."), REASON, *PLACED),
        verbs.hold_add, words.hold, "POST", "/v1/holds", Hold,
        right="admin", no_mcp=FOR_A_PERSON, cli="hold add", status=201,
    ),
    Operation(
        "hold_list", "List holds", "What may not be erased now.", "By name, with the scope and the reason.", (),
        verbs.hold_list, words.holds, "GET", "/v1/holds", [Hold],
        right="admin", read_only=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="hold list",
    ),
    Operation(
        "hold_release", "Release a hold", "End a hold.", "By its name or id.",
        (P("name", "text", "The name of the hold."), REASON),
        verbs.hold_release, words.hold, "DELETE", "/v1/holds/{name}", Hold,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="hold release",
    ),
    Operation(
        "retention_set", "Set a retention policy", "Say how long memories of a kind are kept in a scope.",
        "Of several policies that fit a memory the narrowest counts. What is tagged pinned, or on hold, is left alone. "
        "One for the same kind and scope is replaced.",
        (
            P("days", "whole", "How many days after it was made.", least=1, most=MAX_DAYS),
            P("kind", "text", "Only of this kind.", "", choices=("", *KINDS), aliases=("type",)),
            P("action", "text", "What happens then.", "archive", choices=ACTIONS),
            REASON, *PLACED,
        ),
        verbs.retention_set, words.policy, "POST", "/v1/retention", Retention,
        right="admin", idempotent=True, no_mcp=FOR_A_PERSON, cli="retention set", status=201,
    ),
    Operation(
        "retention_list", "List retention policies", "How long what is kept.", "By kind and scope.", (),
        verbs.retention_list, words.policies, "GET", "/v1/retention", [Retention],
        right="admin", read_only=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention list",
    ),
    Operation(
        "retention_remove", "Remove a retention policy", "End a retention policy.", "By its id.",
        (P("id", "text", "The id of the policy."),),
        verbs.retention_remove, words.policy, "DELETE", "/v1/retention/{id}", Retention,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention remove",
    ),
    Operation(
        "retention_apply", "Apply retention policies", "Archive or erase what has been kept long enough.",
        "See first what would happen: dry_run.",
        (P("dry_run", "flag", "Only show what would happen.", False),),
        verbs.retention_apply, words.retained, "POST", "/v1/retention/apply", Retained,
        right="admin", destructive=True, idempotent=True, no_mcp=FOR_A_PERSON, cli="retention apply",
    ),
)  # fmt: skip
