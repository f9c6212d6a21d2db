-- The whole of a Recollect store in PostgreSQL, as it stands today. This file is the truth that people read; the
-- numbered migrations beside it are how a database gets here, and a test proves that they arrive at exactly this.
--
-- Conventions, as in the SQLite schema: ids are 26 characters, ordered by time; times are microseconds since 1970, UTC;
-- lists are JSON arrays of text; an empty scope column means «everywhere». Every table has the tenant first in its
-- primary key and in each of its indexes, and no foreign key leaves the tenant, so that all of them can be distributed
-- by tenant. The only index without the tenant in it is the one over vectors, made by the program when there are
-- enough of them.
--
-- Row-level security is a second wall behind the `where` of every statement: a connection sees the rows of the tenant
-- that it has named in `recollect.tenant`, and of no other.

create table migration (
  version    integer primary key,
  name       text not null,
  sha256     text not null,
  applied_at bigint not null
);

create table meta (
  key   text primary key,
  value text not null
);

-- One row a tenant. It is the tenant's write lock; it numbers the journal without gaps; and it knows how many memories
-- there are and how many words they hold, which the weighing of words needs at every search.
create table head (
  tenant   text collate "C" primary key,
  seq      bigint not null default 0,
  memories bigint not null default 0,
  words    bigint not null default 0,
  chain bytea
);

-- The journal: append-only, numbered without gaps in each tenant. `before` and `after` hold the changed fields of the
-- target in their wire form; null `before` is a creation, null `after` a removal. Only a purge may blank them.
-- `digest` is a hash of the salt and the whole row; `chain` is a hash of the chain of the row before, of the row without its
-- content, and of the digest. A purge takes the salt too, so that the digest which stays tells nothing about the content.
-- `checksum` of the other tables tells a row that was damaged. Rows of older versions get theirs little by little.
create table journal (
  tenant    text collate "C" not null,
  seq       bigint not null,
  at        bigint not null,
  actor     text not null,
  operation text not null,
  noun      text not null,
  target    text collate "C" not null,
  before    text,
  after     text,
  reason    text not null default '',
  purged    integer not null default 0,
  salt bytea,
  digest bytea,
  chain bytea,
  primary key (tenant, seq)
);
create index journal_target on journal (tenant, target, seq);
create index journal_at on journal (tenant, at);

create function keep_journal() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (new.tenant, new.seq, new.at, new.actor, new.operation, new.noun, new.target)
      = (old.tenant, old.seq, old.at, old.actor, old.operation, old.noun, old.target)
    and ((new.purged = 1 and new.before is null and new.after is null and new.reason = '' and new.salt is null
        and new.digest is not distinct from old.digest and new.chain is not distinct from old.chain)
      or (old.chain is null and new.before is not distinct from old.before
        and new.after is not distinct from old.after and new.reason = old.reason and new.purged = old.purged))
  then return new;
  end if;
  raise exception 'the journal is append-only';
end $$;
create trigger journal_is_append_only before update or delete on journal for each row execute function keep_journal();

-- Where knowledge came from. A statement of a person has no content of its own: the memory is what they said.
create table source (
  tenant       text collate "C" not null,
  id           text collate "C" not null,
  kind         text not null,
  uri          text not null default '',
  title        text not null default '',
  content      text not null default '',
  author       text not null default '',
  session      text collate "C" not null default '',
  position     bigint,
  occurred_at  bigint,
  created_at   bigint not null,
  content_hash text collate "C" not null default '',
  checksum bigint,
  primary key (tenant, id)
);
create index source_like on source (tenant, kind, content_hash);
create index source_session on source (tenant, session, position);

create table memory (
  tenant       text collate "C" not null,
  id           text collate "C" not null,
  kind         text not null,
  network      text not null,
  title        text not null,
  content      text not null,
  reasoning    text not null,
  context      text not null,
  speaker      text not null,
  position     bigint,
  keywords     text not null,
  tags         text not null,
  refs         text not null,
  importance   integer not null check (importance between 1 and 10),
  confidence   double precision not null check (confidence between 0 and 1),
  trust        text not null check (trust in ('unverified', 'derived', 'cited', 'stated')),
  state        text not null check (state in
                 ('pending', 'active', 'superseded', 'invalid', 'expired', 'archived', 'rejected')),
  "user"       text not null,
  project      text not null,
  branch       text not null,
  agent        text collate "C" not null,
  session      text collate "C" not null,
  valid_from   bigint,
  valid_to     bigint,
  created_at   bigint not null,
  updated_at   bigint not null,
  expires_at   bigint,
  observed     integer not null,
  content_hash text collate "C" not null,
  source       text collate "C" not null,
  checksum bigint,
  primary key (tenant, id),
  foreign key (tenant, source) references source (tenant, id)
);
create index memory_hash on memory (tenant, content_hash);
create index memory_scope on memory (tenant, project, "user", state);
create index memory_source on memory (tenant, source);
create index memory_session on memory (tenant, session, position) where position is not null;
create index memory_time on memory (tenant, coalesce(valid_from, created_at), id);
create index memory_network on memory (tenant, network, coalesce(valid_from, created_at), id);

create table usage (
  tenant           text collate "C" not null,
  memory           text collate "C" not null,
  recalled         integer not null default 0,
  accessed         integer not null default 0,
  last_recalled_at bigint,
  last_accessed_at bigint,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);

create table memory_tag (
  tenant text collate "C" not null,
  tag    text collate "C" not null,
  memory text collate "C" not null,
  primary key (tenant, tag, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);
create index memory_tag_memory on memory_tag (tenant, memory);

-- What a memory refers to (files, commits, decisions, URLs): two that share one are neighbours.
create table memory_ref (
  tenant text collate "C" not null,
  ref    text collate "C" not null,
  memory text collate "C" not null,
  primary key (tenant, ref, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);
create index memory_ref_memory on memory_ref (tenant, memory);

-- Full text over terms that our own tokenizer made, the same words as in SQLite: in which memories a term occurs, how
-- often (weighted by where), and how many terms the memory has. It is a plain table and not a GIN index because of the
-- wall: behind row-level security an index serves only operators that are proof against leaks, which those of GIN are not.
create table posting (
  tenant text collate "C" not null,
  term   text collate "C" not null,
  memory text collate "C" not null,
  weight real not null,
  length integer not null,
  primary key (tenant, term, memory)
);
-- The terms of each memory, by which its postings are found again.
create table memory_terms (
  tenant text collate "C" not null,
  memory text collate "C" not null,
  length integer not null,
  terms  text[] not null,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);

-- One row a chunk: the vector in half precision. Vectors of different models are never compared.
create table embedding (
  tenant text collate "C" not null,
  memory text collate "C" not null,
  model  text not null,
  chunk  integer not null,
  vector halfvec not null,
  primary key (tenant, memory, model, chunk),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);

create table evidence (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  memory     text collate "C" not null,
  source     text collate "C" not null,
  quote      text not null default '',
  place      text not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade,
  foreign key (tenant, source) references source (tenant, id)
);
create index evidence_memory on evidence (tenant, memory);
create index evidence_source on evidence (tenant, source);

create table entity (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  kind       text not null,
  name       text not null,
  key        text collate "C" not null,
  project    text not null default '',
  detail     text not null default '{}',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id),
  unique (tenant, kind, key, project)
);
create index entity_name on entity (tenant, lower(name));

-- Edges between memories and entities; which of the two an end is stands beside it, so there is no foreign key.
create table link (
  tenant      text collate "C" not null,
  id          text collate "C" not null,
  origin      text collate "C" not null,
  relation    text not null,
  target      text collate "C" not null,
  origin_kind text not null check (origin_kind in ('memory', 'entity')),
  target_kind text not null check (target_kind in ('memory', 'entity')),
  weight      double precision not null,
  reason      text not null default '',
  valid_from  bigint,
  valid_to    bigint,
  created_at  bigint not null,
  checksum bigint,
  primary key (tenant, id),
  unique (tenant, origin, relation, target)
);
create index link_target on link (tenant, target);

-- The graph. What each memory names (`mention`) and says of it (`edge`), by the keys of names (`language/entities.py`), and
-- which version of the extractor read the memory (`extraction`). Derived: not journalled, made again by a job, and gone with
-- the memory or when its text changes. An entity is seen by whoever sees a memory that names it, and by nobody else.
-- `short` is what else it may be called: the first name of a person, the name of a team.
create table extraction (
  tenant  text collate "C" not null,
  memory  text collate "C" not null,
  version text collate "C" not null,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);

create table mention (
  tenant     text collate "C" not null,
  key        text collate "C" not null,
  memory     text collate "C" not null,
  name       text not null,
  kind       text collate "C" not null,
  short      text collate "C" not null,
  confidence double precision not null,
  primary key (tenant, key, memory),
  foreign key (tenant, memory) references extraction (tenant, memory) on delete cascade
);
create index mention_memory on mention (tenant, memory);
create index mention_short on mention (tenant, short, memory) where short <> '';

create table edge (
  tenant     text collate "C" not null,
  head       text collate "C" not null,
  memory     text collate "C" not null,
  relation   text collate "C" not null,
  tail       text collate "C" not null,
  confidence double precision not null,
  quote      text not null,
  primary key (tenant, head, memory, relation, tail),
  foreign key (tenant, memory) references extraction (tenant, memory) on delete cascade
);
create index edge_tail on edge (tenant, tail, memory);
create index edge_memory on edge (tenant, memory);

create table tombstone (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  key        text collate "C" not null,
  "user"     text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text collate "C" not null default '',
  session    text collate "C" not null default '',
  memory     text collate "C" not null default '',
  reason     text not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id)
);
create index tombstone_key on tombstone (tenant, key);

-- Questions with their answers: a cache, derived and not journalled. A question is kept from the first time it is asked;
-- while it is cold it has no answer and no vector. `seq` is the journal row it was computed at, `watched` whether
-- knowledge that came after may end it, `stale` why it may no longer be served, `retired` the hash of an answer that was
-- turned down, and `changed` a number that grows with every change, for those who keep the vectors in memory.
create table answer (
  tenant         text collate "C" not null,
  id             text collate "C" not null,
  kind           text not null default 'computed' check (kind in ('computed', 'timely', 'given')),
  question       text not null,
  question_hash  text collate "C" not null,
  answer         text collate "C",
  sources        text not null default '[]',
  version        integer not null default 0,
  tier           text not null default 'cold' check (tier in ('cold', 'warm', 'hot', 'core')),
  pinned         integer not null default 0,
  asked          integer not null default 0,
  hits           integer not null default 0,
  compute_ms     integer,
  confidence     double precision,
  liked          integer not null default 0,
  disliked       integer not null default 0,
  stale          text not null default '',
  retired        text not null default '',
  model          text not null default '',
  vector         bytea,
  "user"         text collate "C" not null default '',
  project        text collate "C" not null default '',
  seq            bigint not null default 0,
  watched        integer not null default 0,
  changed        bigint not null default 0,
  first_asked_at bigint not null,
  last_asked_at  bigint not null,
  expires_at     bigint,
  primary key (tenant, id),
  unique (tenant, question_hash, "user", project)
);
create index answer_shelf on answer (tenant, "user", project, model, changed);
create index answer_age on answer (tenant, last_asked_at);
create index answer_kind on answer (tenant, kind);
create table answer_dependency (
  tenant  text collate "C" not null,
  answer  text collate "C" not null,
  kind    text not null check (kind in ('memory', 'file', 'commit', 'setting')),
  target  text collate "C" not null,
  version text not null default '',
  primary key (tenant, answer, kind, target),
  foreign key (tenant, answer) references answer (tenant, id) on delete cascade
);
create index answer_dependency_target on answer_dependency (tenant, kind, target);

create table checkpoint (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  name       text not null,
  seq        bigint not null,
  "user"     text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text collate "C" not null default '',
  session    text collate "C" not null default '',
  reason     text not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id),
  unique (tenant, name)
);

create table job (
  tenant       text collate "C" not null,
  id           text collate "C" not null,
  kind         text not null,
  payload      text not null default '{}',
  state        text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  attempts     integer not null default 0,
  max_attempts integer not null default 5,
  run_at       bigint not null,
  leased_by    text not null default '',
  leased_until bigint,
  error        text not null default '',
  progress     text not null default '{}',
  created_at   bigint not null,
  finished_at  bigint,
  primary key (tenant, id)
);
create index job_due on job (tenant, state, run_at);

-- Who works on the memory: assistants, pipelines, people. `key` is what a caller is known by (a token, or the name of a
-- program on this machine); one without a key acts through an orchestrator alone. `reach` is the widest sharing it reads.
create table agent (
  tenant text collate "C" not null,
  id text collate "C" not null,
  name text not null,
  kind text not null,
  "user" text collate "C" not null default '',
  project text collate "C" not null default '',
  branch text collate "C" not null default '',
  agent text collate "C" not null default '',
  session text collate "C" not null default '',
  can text not null default '[]',
  reach text not null,
  key text collate "C" not null default '',
  metadata text not null default '{}',
  created_at bigint not null,
  retired_at bigint,
  checksum bigint,
  primary key (tenant, id)
);
create unique index agent_key on agent (tenant, key) where key <> '';
create index agent_owner on agent (tenant, "user");

-- When an agent was there: a record of use, not journalled. An empty session is whatever has none.
create table agent_session (
  tenant text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  started_at bigint not null,
  seen_at bigint not null,
  ended_at bigint,
  primary key (tenant, agent, session)
);
create index agent_session_seen on agent_session (tenant, ended_at, seen_at);

-- What agents share with each other. Shares point at memories and never copy them; a member is invited or has joined.
create table pool (
  tenant text collate "C" not null,
  id text collate "C" not null,
  name text not null,
  purpose text not null default '',
  "user" text collate "C" not null default '',
  project text collate "C" not null default '',
  branch text collate "C" not null default '',
  agent text collate "C" not null default '',
  session text collate "C" not null default '',
  reach text not null,
  joining text not null check (joining in ('open', 'invited')),
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id),
  unique (tenant, "user", name)
);

create table member (
  tenant text collate "C" not null,
  id text collate "C" not null,
  pool text collate "C" not null,
  agent text collate "C" not null,
  permission text not null check (permission in ('read', 'write', 'admin')),
  state text not null check (state in ('invited', 'joined')),
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id)
);
create index member_pool on member (tenant, pool);
create index member_agent on member (tenant, agent);

create table share (
  tenant text collate "C" not null,
  id text collate "C" not null,
  pool text collate "C" not null,
  memory text collate "C" not null,
  reach text not null,
  shared_by text collate "C" not null,
  "user" text collate "C" not null default '',
  project text collate "C" not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id)
);
create index share_pool on share (tenant, pool);
create index share_memory on share (tenant, memory);

-- Work that one agent passes to another: to `target`, or to whoever can do what it `needs`.
create table handoff (
  tenant text collate "C" not null,
  id text collate "C" not null,
  source text collate "C" not null,
  target text collate "C" not null default '',
  taken_by text collate "C" not null default '',
  needs text not null default '',
  task text not null,
  progress text not null default '{}',
  memories text not null default '[]',
  files text not null default '[]',
  state text not null check (state in ('pending', 'accepted', 'completed', 'rejected', 'expired')),
  result text not null default '{}',
  reason text not null default '',
  attempts integer not null default 0,
  "user" text collate "C" not null default '',
  project text collate "C" not null default '',
  branch text collate "C" not null default '',
  agent text collate "C" not null default '',
  session text collate "C" not null default '',
  created_at bigint not null,
  accepted_at bigint,
  closed_at bigint,
  expires_at bigint not null,
  checksum bigint,
  primary key (tenant, id)
);
create index handoff_target on handoff (tenant, target, state);
create index handoff_state on handoff (tenant, state);

create table token (
  tenant       text collate "C" not null,
  id           text collate "C" not null,
  sha256       text not null,
  name         text not null default '',
  "user"       text not null default '',
  project      text not null default '',
  can          text not null default '["read"]',
  created_at   bigint not null,
  expires_at   bigint,
  revoked_at   bigint,
  last_used_at bigint,
  primary key (tenant, id),
  unique (tenant, sha256)
);

-- Where changes are posted to. `cursor` is the last journal row the address took; `private` says that it may be on this
-- machine or its network. The secret lies here as it is, because each delivery is signed with it.
create table webhook (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  url        text not null,
  operations text not null default '[]',
  secret     text not null,
  private    integer not null default 0,
  cursor     bigint not null,
  failures   integer not null default 0,
  error      text not null default '',
  next_at    bigint,
  created_at bigint not null,
  primary key (tenant, id)
);

-- What models cost, summed by day (UTC), project, operation and model; `nanos` are billionths of a dollar, `refused`
-- counts calls that a budget put off, `estimated` those whose tokens the provider did not tell.
create table ledger (
  tenant     text collate "C" not null,
  day        text collate "C" not null,
  project    text collate "C" not null,
  operation  text collate "C" not null,
  model      text collate "C" not null,
  calls      bigint not null,
  refused    bigint not null,
  tokens_in  bigint not null,
  tokens_out bigint not null,
  nanos      bigint not null,
  estimated  bigint not null,
  primary key (tenant, day, project, operation, model)
);

-- Where a memory was put before somebody, and whether that helped: a record of use, not journalled. `project` is where
-- they stood, `owner` the project of the memory; `helped` is 1, -1, or 0 while nobody has said.
create table sighting (
  tenant  text collate "C" not null,
  memory  text collate "C" not null,
  at      bigint not null,
  session text collate "C" not null,
  way     text collate "C" not null,
  actor   text not null,
  project text not null,
  owner   text not null,
  helped  integer not null,
  primary key (tenant, memory, at, session, way),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
);
create index sighting_at on sighting (tenant, at);

-- What may not be erased while it stands.
create table hold (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  name       text not null,
  "user"     text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text collate "C" not null default '',
  session    text collate "C" not null default '',
  reason     text not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id),
  unique (tenant, name)
);

-- How long memories of a kind are kept in a scope, and what happens then. An empty kind is any.
create table retention (
  tenant     text collate "C" not null,
  id         text collate "C" not null,
  kind       text collate "C" not null,
  days       integer not null check (days > 0),
  action     text not null check (action in ('archive', 'purge')),
  "user"     text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text collate "C" not null default '',
  session    text collate "C" not null default '',
  reason     text not null default '',
  created_at bigint not null,
  checksum bigint,
  primary key (tenant, id)
);

do $$
declare name text;
begin
  for name in select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy wall on %I using (tenant = current_setting(''recollect.tenant'', true))', name);
  end loop;
end $$;
-- The list of tenants, for work that goes through all of them one by one.
create policy roll on head for select using (current_setting('recollect.tenant', true) = '*');
-- A token is looked up by its hash before its tenant is known.
create policy presented on token for select using (sha256 = current_setting('recollect.token', true));
