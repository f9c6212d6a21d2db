"""Statements that read, for transactions and for the reads beside them. They name their values `:like_this`."""

from __future__ import annotations

from ..types import USAGE_FIELDS, Memory
from .rows import SUMMED, TABLES, columns, noun_name, quoted

CONTENT = ("seq", "at", "actor", "operation", "noun", "target", "before", "after", "reason")  # what a digest proves
MEMORY_COLUMNS = (*columns(Memory), *USAGE_FIELDS)
MEMORIES = f"""
    select {", ".join(f"m.{name}" for name in quoted(columns(Memory)))}, coalesce(u.recalled, 0),
      coalesce(u.accessed, 0), u.last_recalled_at, u.last_accessed_at, m.checksum
    from memory m left join usage u on u.tenant = m.tenant and u.memory = m.id
    where m.tenant = :tenant"""
# Joined to an empty text, a column is out of the planner's reach: searching by scope, in one project, means looking at
# everything.
SAME = """
    select id from memory where tenant = :tenant and content_hash = :content_hash
    and state || '' in ('active', 'pending')
    and "user" || '' = :user and project || '' = :project and branch = :branch and agent = :agent and session = :session
    limit 1"""
TOMBSTONE = """
    and key = :key and ("user" in ('', :user) or :user = '') and (project in ('', :project) or :project = '') limit 1"""
# Everything but the words, which the hash stands for: whoever is given a source learns nothing that they did not say.
ALIKE = ("kind", "uri", "content_hash", "title", "author", "session", "position", "occurred_at")
SOURCE_LIKE = (
    "".join(
        f" and {name} {'is not distinct from' if name in ('position', 'occurred_at') else '='} :{name}"
        for name in ALIKE
    )
    + " limit 1"
)
NOUN = {
    kind: f"select {', '.join(quoted((*columns(kind), *SUMMED.get(kind, ()))))} "
    f"from {noun_name(kind)} where tenant = :tenant"
    for kind in TABLES
}
# What was said just before in a session: the nearest earlier turn.
TURN_BEFORE = f"""{MEMORIES} and m.session = :session and m.position < :position and m.kind = 'turn'
    and m.state = 'active' and m."user" || '' = :user and m.project || '' = :project and m.branch = :branch
    and m.agent = :agent order by m.position desc, m.id desc limit 1"""
# Turns that carry what another said as their context.
TURNS_AFTER = """
    and session = :session and position > :position and context <> ''
    and context = substr(:content, 1, length(context))"""
SOURCE_IS_USED = """
    select exists (select 1 from memory where tenant = :tenant and source = :source)
      or exists (select 1 from evidence where tenant = :tenant and source = :source)"""
DROPPED = """
    select noun, target, before from journal
    where tenant = :tenant and noun in ('evidence', 'link') and after is null and before is not null"""
WAS_PURGED = "select exists (select 1 from journal where tenant = :tenant and target = :id and operation = 'purge')"
HEAD = "select coalesce(max(seq), 0) from journal where tenant = :tenant"
NEWEST = "select seq, chain from journal where tenant = :tenant order by seq desc limit 1"

ENTRY_COLUMNS = ", ".join((*CONTENT, "purged", "salt", "digest"))
ENTRIES = f"select {ENTRY_COLUMNS} from journal where tenant = :tenant and seq > :after"
BY_TIME = " order by coalesce(m.valid_from, m.created_at) desc, m.id desc limit :limit"
CHAIN_AT = "select chain from journal where tenant = :tenant and seq = :seq"
UNSUMMED = {kind: f"{NOUN[kind]} and id > :after and checksum is null order by id limit :limit" for kind in SUMMED}
META = "select value from meta where key = :key"
SUMMING, DONE = "checksums", "done"  # the entry in `meta` that says how far a tenant's rows have their checksums
