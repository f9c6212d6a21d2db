-- Agents, what they share and what they hand over; nothing read or wrote the tables before. schema.sql explains each part.

drop table pool_agent;
drop table pool_memory;
drop table handoff;
drop table pool;
drop table agent;

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

-- What the planner should believe; see the end of schema.sql.
insert into sqlite_stat1 (tbl, idx, stat) values
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
