-- History: sightings, holds and retention. schema.sql explains each part.

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
  primary key (tenant, id),
  unique (tenant, name)
);

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
  primary key (tenant, id)
);

do $$
declare name text;
begin
  foreach name in array array['sighting', 'hold', 'retention'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy wall on %I using (tenant = current_setting(''recollect.tenant'', true))', name);
  end loop;
end $$;
