-- History: sightings, holds and retention. schema.sql explains each part.

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
  primary key (tenant, id),
  unique (tenant, name)
) strict, without rowid;

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
  primary key (tenant, id)
) strict, without rowid;
