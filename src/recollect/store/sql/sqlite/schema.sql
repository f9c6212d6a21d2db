-- The whole of a Recollect store, as it stands today. This file is the truth that people read; the numbered
-- migrations beside it are how a database gets here, and a test proves that they arrive at exactly this.
--
-- Conventions. Every table has the tenant, and every statement names it: the tenant is a wall. Ids are 26 characters,
-- ordered by time. Times are microseconds since 1970, UTC. Lists are JSON arrays of text. An empty scope column means
-- «everywhere». `n` is a number of this file alone, for the full text and vector indexes; it never leaves the store.
--
-- Everything a person would call knowledge is changed only together with a journal row, by one function of the store.
-- What is derived (memory_fts, memory_tag, embedding) or mere statistics (usage) is not journalled: the first can be
-- made again from the rows, and losing the second loses no knowledge.

create table migration (
  version    integer primary key,
  name       text not null,
  sha256     text not null,
  applied_at integer not null
) strict;

create table meta (
  key   text primary key,
  value text not null
) strict;

-- The journal: append-only, numbered without gaps in each tenant. `before` and `after` hold the changed fields of the
-- target in their wire form; null `before` is a creation, null `after` a removal. Only a purge may blank them.
-- `digest` is a hash of the salt and the whole row; `chain` is a hash of the chain of the row before, of the row without its
-- content, and of the digest. A purge takes the salt too, so that the digest which stays tells nothing about the content.
-- `checksum` of the other tables tells a row that was damaged. Rows of older versions get theirs little by little.
create table journal (
  tenant    text not null,
  seq       integer not null,
  at        integer not null,
  actor     text not null,
  operation text not null,
  noun      text not null,
  target    text not null,
  before    text,
  after     text,
  reason    text not null default '',
  purged    integer not null default 0,
  salt blob,
  digest blob,
  chain blob,
  primary key (tenant, seq)
) strict, without rowid;
create index journal_target on journal (tenant, target, seq);
create index journal_at on journal (tenant, at);

create trigger journal_is_append_only before update on journal
when not (
  new.tenant is old.tenant and new.seq is old.seq and new.at is old.at and new.actor is old.actor
  and new.operation is old.operation and new.noun is old.noun and new.target is old.target
  and ((new.purged = 1 and new.before is null and new.after is null and new.reason = '' and new.salt is null
      and new.digest is old.digest and new.chain is old.chain)
    or (old.chain is null and new.before is old.before and new.after is old.after and new.reason is old.reason
      and new.purged is old.purged))
)
begin select raise(abort, 'the journal is append-only'); end;
create trigger journal_is_never_replaced before insert on journal
when exists (select 1 from journal where tenant = new.tenant and seq = new.seq)
begin select raise(abort, 'the journal is append-only'); end;
create trigger journal_is_never_deleted before delete on journal
begin select raise(abort, 'the journal is append-only'); end;

-- Where knowledge came from. A statement of a person has no content of its own: the memory is what they said.
create table source (
  tenant       text not null,
  id           text not null,
  kind         text not null,
  uri          text not null default '',
  title        text not null default '',
  content      text not null default '',
  author       text not null default '',
  session      text not null default '',
  position     integer,
  occurred_at  integer,
  created_at   integer not null,
  content_hash text not null default '',
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create index source_uri on source (tenant, kind, uri, content_hash);
create index source_session on source (tenant, session, position);

create table memory (
  n            integer primary key,
  tenant       text not null,
  id           text not null,
  kind         text not null,
  network      text not null,
  title        text not null,
  content      text not null,
  reasoning    text not null,
  context      text not null,
  speaker      text not null,
  position     integer,
  keywords     text not null,
  tags         text not null,
  refs         text not null,
  importance   integer not null check (importance between 1 and 10),
  confidence   real not null check (confidence between 0 and 1),
  trust        text not null check (trust in ('unverified', 'derived', 'cited', 'stated')),
  state        text not null check (state in
                 ('pending', 'active', 'superseded', 'invalid', 'expired', 'archived', 'rejected')),
  user         text not null,
  project      text not null,
  branch       text not null,
  agent        text not null,
  session      text not null,
  valid_from   integer,
  valid_to     integer,
  created_at   integer not null,
  updated_at   integer not null,
  expires_at   integer,
  observed     integer not null,
  content_hash text not null,
  source       text not null,
  checksum integer,
  unique (tenant, id),
  foreign key (tenant, source) references source (tenant, id)
) strict;
create index memory_hash on memory (tenant, content_hash);
create index memory_scope on memory (tenant, project, user, state);
create index memory_source on memory (tenant, source);
create index memory_session on memory (tenant, session, position) where position is not null;
create index memory_time on memory (tenant, coalesce(valid_from, created_at), id);
create index memory_network on memory (tenant, network, coalesce(valid_from, created_at), id);

create table usage (
  tenant           text not null,
  memory           text not null,
  recalled         integer not null default 0,
  accessed         integer not null default 0,
  last_recalled_at integer,
  last_accessed_at integer,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
) strict, without rowid;

create table memory_tag (
  tenant text not null,
  tag    text not null,
  memory integer not null references memory (n) on delete cascade,
  primary key (tenant, tag, memory)
) strict, without rowid;
create index memory_tag_memory on memory_tag (memory);

-- What a memory refers to (files, commits, decisions, URLs): two that share one are neighbours.
create table memory_ref (
  tenant text not null,
  ref    text not null,
  memory integer not null references memory (n) on delete cascade,
  primary key (tenant, ref, memory)
) strict, without rowid;
create index memory_ref_memory on memory_ref (memory);

-- Full text over terms that our own tokenizer made (SQL function `terms`, registered on every connection), so that
-- another store can be given the very same words. `wall` holds tenant and project as tokens, so that a small tenant or
-- project is searched inside the index and not by joining rows. Its weight in the ranking is nought.
create virtual table memory_fts using fts5 (
  wall, title, content, keywords, reasoning, tags, context,
  content = '', contentless_delete = 1, detail = full, tokenize = 'unicode61 remove_diacritics 0'
);
insert into memory_fts (memory_fts, rank) values ('rank', 'bm25(0.0, 2.0, 1.0, 2.0, 0.5, 1.5, 1.0)');

create trigger memory_is_indexed after insert on memory begin
  insert into memory_fts (rowid, wall, title, content, keywords, reasoning, tags, context) values (
    new.n, wall(new.tenant, new.project), terms(new.title), terms(new.content),
    terms_of_list(new.keywords), terms(new.reasoning), terms_of_list(new.tags),
    terms(around(new.context, new.speaker, new.valid_from, new.refs)));
  insert into memory_tag (tenant, tag, memory) select distinct new.tenant, value, new.n from json_each(new.tags);
  insert into memory_ref (tenant, ref, memory) select distinct new.tenant, lower(value), new.n from json_each(new.refs);
end;
create trigger memory_is_reindexed after update on memory
when new.title is not old.title or new.content is not old.content or new.keywords is not old.keywords
  or new.reasoning is not old.reasoning or new.tags is not old.tags or new.project is not old.project
  or new.context is not old.context or new.speaker is not old.speaker or new.valid_from is not old.valid_from
  or new.refs is not old.refs
begin
  delete from memory_fts where rowid = old.n;
  insert into memory_fts (rowid, wall, title, content, keywords, reasoning, tags, context) values (
    new.n, wall(new.tenant, new.project), terms(new.title), terms(new.content),
    terms_of_list(new.keywords), terms(new.reasoning), terms_of_list(new.tags),
    terms(around(new.context, new.speaker, new.valid_from, new.refs)));
  delete from memory_tag where memory = old.n;
  delete from memory_ref where memory = old.n;
  insert into memory_tag (tenant, tag, memory) select distinct new.tenant, value, new.n from json_each(new.tags);
  insert into memory_ref (tenant, ref, memory) select distinct new.tenant, lower(value), new.n from json_each(new.refs);
end;
create trigger memory_is_unindexed after delete on memory begin
  delete from memory_fts where rowid = old.n;
end;

-- One row a chunk: the vector in half precision. Vectors of different models are never compared.
create table embedding (
  n      integer primary key,
  tenant text not null,
  memory integer not null references memory (n) on delete cascade,
  model  text not null,
  chunk  integer not null,
  vector blob not null,
  checksum integer,
  unique (memory, model, chunk)
) strict;
create index embedding_model on embedding (tenant, model);

create table evidence (
  tenant     text not null,
  id         text not null,
  memory     text not null,
  source     text not null,
  quote      text not null default '',
  place      text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade,
  foreign key (tenant, source) references source (tenant, id)
) strict, without rowid;
create index evidence_memory on evidence (tenant, memory);
create index evidence_source on evidence (tenant, source);

create table entity (
  tenant     text not null,
  id         text not null,
  kind       text not null,
  name       text not null,
  key        text not null,
  project    text not null default '',
  detail     text not null default '{}',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id),
  unique (tenant, kind, key, project)
) strict, without rowid;
create index entity_name on entity (tenant, lower(name));

-- Edges between memories and entities; which of the two an end is stands beside it, so there is no foreign key.
create table link (
  tenant      text not null,
  id          text not null,
  origin      text not null,
  relation    text not null,
  target      text not null,
  origin_kind text not null check (origin_kind in ('memory', 'entity')),
  target_kind text not null check (target_kind in ('memory', 'entity')),
  weight      real not null,
  reason      text not null default '',
  valid_from  integer,
  valid_to    integer,
  created_at  integer not null,
  checksum integer,
  primary key (tenant, id),
  unique (tenant, origin, relation, target)
) strict, without rowid;
create index link_target on link (tenant, target);

-- The graph. What each memory names (`mention`) and says of it (`edge`), by the keys of names (`language/entities.py`), and
-- which version of the extractor read the memory (`extraction`). Derived: not journalled, made again by a job, and gone with
-- the memory or when its text changes. An entity is seen by whoever sees a memory that names it, and by nobody else.
-- `short` is what else it may be called: the first name of a person, the name of a team.
create table extraction (
  tenant  text not null,
  memory  text not null,
  version text not null,
  primary key (tenant, memory),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
) strict, without rowid;

create table mention (
  tenant     text not null,
  key        text not null,
  memory     text not null,
  name       text not null,
  kind       text not null,
  short      text not null,
  confidence real not null,
  primary key (tenant, key, memory),
  foreign key (tenant, memory) references extraction (tenant, memory) on delete cascade
) strict, without rowid;
create index mention_memory on mention (tenant, memory);
create index mention_short on mention (tenant, short, memory) where short <> '';

create table edge (
  tenant     text not null,
  head       text not null,
  memory     text not null,
  relation   text not null,
  tail       text not null,
  confidence real not null,
  quote      text not null,
  primary key (tenant, head, memory, relation, tail),
  foreign key (tenant, memory) references extraction (tenant, memory) on delete cascade
) strict, without rowid;
create index edge_tail on edge (tenant, tail, memory);
create index edge_memory on edge (tenant, memory);

create table tombstone (
  tenant     text not null,
  id         text not null,
  key        text not null,
  user       text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text not null default '',
  session    text not null default '',
  memory     text not null default '',
  reason     text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create index tombstone_key on tombstone (tenant, key);

-- Questions with their answers: a cache, derived and not journalled. A question is kept from the first time it is asked;
-- while it is cold it has no answer and no vector. `seq` is the journal row it was computed at, `watched` whether
-- knowledge that came after may end it, `stale` why it may no longer be served, `retired` the hash of an answer that was
-- turned down, and `changed` a number that grows with every change, for those who keep the vectors in memory.
create table answer (
  tenant         text not null,
  id             text not null,
  kind           text not null default 'computed' check (kind in ('computed', 'timely', 'given')),
  question       text not null,
  question_hash  text not null,
  answer         text,
  sources        text not null default '[]',
  version        integer not null default 0,
  tier           text not null default 'cold' check (tier in ('cold', 'warm', 'hot', 'core')),
  pinned         integer not null default 0,
  asked          integer not null default 0,
  hits           integer not null default 0,
  compute_ms     integer,
  confidence     real,
  liked          integer not null default 0,
  disliked       integer not null default 0,
  stale          text not null default '',
  retired        text not null default '',
  model          text not null default '',
  vector         blob,
  user           text not null default '',
  project        text not null default '',
  seq            integer not null default 0,
  watched        integer not null default 0,
  changed        integer not null default 0,
  first_asked_at integer not null,
  last_asked_at  integer not null,
  expires_at     integer,
  primary key (tenant, id),
  unique (tenant, question_hash, user, project)
) strict, without rowid;
create index answer_shelf on answer (tenant, user, project, model, changed);
create index answer_age on answer (tenant, last_asked_at);
create index answer_kind on answer (tenant, kind);
create table answer_dependency (
  tenant  text not null,
  answer  text not null,
  kind    text not null check (kind in ('memory', 'file', 'commit', 'setting')),
  target  text not null,
  version text not null default '',
  primary key (tenant, answer, kind, target),
  foreign key (tenant, answer) references answer (tenant, id) on delete cascade
) strict, without rowid;
create index answer_dependency_target on answer_dependency (tenant, kind, target);

create table checkpoint (
  tenant     text not null,
  id         text not null,
  name       text not null,
  seq        integer not null,
  user       text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text not null default '',
  session    text not null default '',
  reason     text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id),
  unique (tenant, name)
) strict, without rowid;

create table job (
  tenant       text not null,
  id           text not null,
  kind         text not null,
  payload      text not null default '{}',
  state        text not null default 'queued' check (state in ('queued', 'running', 'done', 'failed', 'cancelled')),
  attempts     integer not null default 0,
  max_attempts integer not null default 5,
  run_at       integer not null,
  leased_by    text not null default '',
  leased_until integer,
  error        text not null default '',
  progress     text not null default '{}',
  created_at   integer not null,
  finished_at  integer,
  primary key (tenant, id)
) strict, without rowid;
create index job_due on job (tenant, state, run_at);

-- Who works on the memory: assistants, pipelines, people. `key` is what a caller is known by (a token, or the name of a
-- program on this machine); one without a key acts through an orchestrator alone. `reach` is the widest sharing it reads.
create table agent (
  tenant text not null,
  id text not null,
  name text not null,
  kind text not null,
  user text not null default '',
  project text not null default '',
  branch text not null default '',
  agent text not null default '',
  session text not null default '',
  can text not null default '[]',
  reach text not null,
  key text not null default '',
  metadata text not null default '{}',
  created_at integer not null,
  retired_at integer,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create unique index agent_key on agent (tenant, key) where key <> '';
create index agent_owner on agent (tenant, user);

-- When an agent was there: a record of use, not journalled. An empty session is whatever has none.
create table agent_session (
  tenant text not null,
  agent text not null,
  session text not null,
  started_at integer not null,
  seen_at integer not null,
  ended_at integer,
  primary key (tenant, agent, session)
) strict, without rowid;
create index agent_session_seen on agent_session (tenant, ended_at, seen_at);

-- What agents share with each other. Shares point at memories and never copy them; a member is invited or has joined.
create table pool (
  tenant text not null,
  id text not null,
  name text not null,
  purpose text not null default '',
  user text not null default '',
  project text not null default '',
  branch text not null default '',
  agent text not null default '',
  session text not null default '',
  reach text not null,
  joining text not null check (joining in ('open', 'invited')),
  created_at integer not null,
  checksum integer,
  primary key (tenant, id),
  unique (tenant, user, name)
) strict, without rowid;

create table member (
  tenant text not null,
  id text not null,
  pool text not null,
  agent text not null,
  permission text not null check (permission in ('read', 'write', 'admin')),
  state text not null check (state in ('invited', 'joined')),
  created_at integer not null,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create index member_pool on member (tenant, pool);
create index member_agent on member (tenant, agent);

create table share (
  tenant text not null,
  id text not null,
  pool text not null,
  memory text not null,
  reach text not null,
  shared_by text not null,
  user text not null default '',
  project text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create index share_pool on share (tenant, pool);
create index share_memory on share (tenant, memory);

-- Work that one agent passes to another: to `target`, or to whoever can do what it `needs`.
create table handoff (
  tenant text not null,
  id text not null,
  source text not null,
  target text not null default '',
  taken_by text not null default '',
  needs text not null default '',
  task text not null,
  progress text not null default '{}',
  memories text not null default '[]',
  files text not null default '[]',
  state text not null check (state in ('pending', 'accepted', 'completed', 'rejected', 'expired')),
  result text not null default '{}',
  reason text not null default '',
  attempts integer not null default 0,
  user text not null default '',
  project text not null default '',
  branch text not null default '',
  agent text not null default '',
  session text not null default '',
  created_at integer not null,
  accepted_at integer,
  closed_at integer,
  expires_at integer not null,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;
create index handoff_target on handoff (tenant, target, state);
create index handoff_state on handoff (tenant, state);

create table token (
  tenant       text not null,
  id           text not null,
  sha256       text not null unique,
  name         text not null default '',
  user         text not null default '',
  project      text not null default '',
  can          text not null default '["read"]',
  created_at   integer not null,
  expires_at   integer,
  revoked_at   integer,
  last_used_at integer,
  primary key (tenant, id)
) strict, without rowid;

-- Where changes are posted to. `cursor` is the last journal row the address took; `private` says that it may be on this
-- machine or its network. The secret lies here as it is, because each delivery is signed with it.
create table webhook (
  tenant     text not null,
  id         text not null,
  url        text not null,
  operations text not null default '[]',
  secret     text not null,
  private    integer not null default 0,
  cursor     integer not null,
  failures   integer not null default 0,
  error      text not null default '',
  next_at    integer,
  created_at integer not null,
  primary key (tenant, id)
) strict, without rowid;

-- What models cost, summed by day (UTC), project, operation and model; `nanos` are billionths of a dollar, `refused`
-- counts calls that a budget put off, `estimated` those whose tokens the provider did not tell.
create table ledger (
  tenant     text not null,
  day        text not null,
  project    text not null,
  operation  text not null,
  model      text not null,
  calls      integer not null,
  refused    integer not null,
  tokens_in  integer not null,
  tokens_out integer not null,
  nanos      integer not null,
  estimated  integer not null,
  primary key (tenant, day, project, operation, model)
) strict, without rowid;

-- Where a memory was put before somebody, and whether that helped: a record of use, not journalled. `project` is where
-- they stood, `owner` the project of the memory; `helped` is 1, -1, or 0 while nobody has said.
create table sighting (
  tenant  text not null,
  memory  text not null,
  at      integer not null,
  session text not null,
  way     text not null,
  actor   text not null,
  project text not null,
  owner   text not null,
  helped  integer not null,
  primary key (tenant, memory, at, session, way),
  foreign key (tenant, memory) references memory (tenant, id) on delete cascade
) strict, without rowid;
create index sighting_at on sighting (tenant, at);

-- What may not be erased while it stands.
create table hold (
  tenant     text not null,
  id         text not null,
  name       text not null,
  user       text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text not null default '',
  session    text not null default '',
  reason     text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id),
  unique (tenant, name)
) strict, without rowid;

-- How long memories of a kind are kept in a scope, and what happens then. An empty kind is any.
create table retention (
  tenant     text not null,
  id         text not null,
  kind       text not null,
  days       integer not null check (days > 0),
  action     text not null check (action in ('archive', 'purge')),
  user       text not null default '',
  project    text not null default '',
  branch     text not null default '',
  agent      text not null default '',
  session    text not null default '',
  reason     text not null default '',
  created_at integer not null,
  checksum integer,
  primary key (tenant, id)
) strict, without rowid;

-- What the planner should believe before there is anything to count: one tenant holds nearly everything, so a search by
-- tenant alone is a walk through the table; ids, hashes and targets are nearly unique. Without this it takes the tenant
-- for selective, and single look-ups walk through thousands of rows.
analyze sqlite_schema;
insert into sqlite_stat1 (tbl, idx, stat) values
  ('memory', 'sqlite_autoindex_memory_1', '100000 50000 1'),
  ('memory', 'memory_hash', '100000 50000 2'),
  ('memory', 'memory_scope', '100000 50000 5000 5000 4000'),
  ('memory', 'memory_source', '100000 50000 10'),
  ('memory', 'memory_session', '50000 50000 100 1'),
  ('memory', 'memory_time', '100000 50000 2 1'),
  ('journal', 'journal', '200000 100000 1'),
  ('journal', 'journal_target', '200000 100000 3 1'),
  ('journal', 'journal_at', '200000 100000 2'),
  ('source', 'source', '20000 10000 1'),
  ('source', 'source_uri', '20000 10000 5000 2 1'),
  ('source', 'source_session', '20000 10000 200 1'),
  ('evidence', 'evidence', '20000 10000 1'),
  ('evidence', 'evidence_memory', '20000 10000 2'),
  ('evidence', 'evidence_source', '20000 10000 20'),
  ('embedding', 'sqlite_autoindex_embedding_1', '120000 2 2 1'),
  ('embedding', 'embedding_model', '120000 60000 60000'),
  ('usage', 'usage', '50000 25000 1'),
  ('link', 'link', '10000 5000 1'),
  ('link', 'sqlite_autoindex_link_2', '10000 5000 3 2 1'),
  ('link', 'link_target', '10000 5000 3'),
  ('tombstone', 'tombstone', '1000 500 1'),
  ('tombstone', 'tombstone_key', '1000 500 1'),
  ('job', 'job', '10000 5000 1'),
  ('job', 'job_due', '10000 5000 100 1'),
  ('answer', 'answer', '20000 10000 1'),
  ('answer', 'sqlite_autoindex_answer_2', '20000 10000 2 1 1'),
  ('answer', 'answer_shelf', '20000 10000 2000 500 400 1'),
  ('answer', 'answer_age', '20000 10000 1'),
  ('answer', 'answer_kind', '20000 10000 500'),
  ('answer_dependency', 'answer_dependency', '200000 100000 12 6 1'),
  ('answer_dependency', 'answer_dependency_target', '200000 100000 30000 5'),
  ('agent', 'agent', '10000 5000 1'),
  ('agent', 'agent_key', '10000 5000 1'),
  ('agent', 'agent_owner', '10000 5000 20'),
  ('agent_session', 'agent_session', '50000 25000 5 1'),
  ('agent_session', 'agent_session_seen', '50000 25000 100 1'),
  ('pool', 'pool', '10000 5000 1'),
  ('pool', 'sqlite_autoindex_pool_2', '10000 5000 50 1'),
  ('member', 'member', '100000 50000 1'),
  ('member', 'member_pool', '100000 50000 100'),
  ('member', 'member_agent', '100000 50000 5'),
  ('share', 'share', '200000 100000 1'),
  ('share', 'share_pool', '200000 100000 10000'),
  ('share', 'share_memory', '200000 100000 2'),
  ('handoff', 'handoff', '50000 25000 1'),
  ('handoff', 'handoff_target', '50000 25000 50 10'),
  ('handoff', 'handoff_state', '50000 25000 5000');
