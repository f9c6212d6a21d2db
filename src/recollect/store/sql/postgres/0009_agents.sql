-- Agents, what they share and what they hand over; nothing read or wrote the tables before. schema.sql explains each part.

drop table pool_agent;
drop table pool_memory;
drop table handoff;
drop table pool;
drop table agent;

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

alter table agent enable row level security;
alter table agent force row level security;
create policy wall on agent using (tenant = current_setting('recollect.tenant', true));
alter table agent_session enable row level security;
alter table agent_session force row level security;
create policy wall on agent_session using (tenant = current_setting('recollect.tenant', true));
alter table pool enable row level security;
alter table pool force row level security;
create policy wall on pool using (tenant = current_setting('recollect.tenant', true));
alter table member enable row level security;
alter table member force row level security;
create policy wall on member using (tenant = current_setting('recollect.tenant', true));
alter table share enable row level security;
alter table share force row level security;
create policy wall on share using (tenant = current_setting('recollect.tenant', true));
alter table handoff enable row level security;
alter table handoff force row level security;
create policy wall on handoff using (tenant = current_setting('recollect.tenant', true));
