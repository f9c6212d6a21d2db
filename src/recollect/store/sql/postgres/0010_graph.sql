-- The graph: what memories name and say of it. schema.sql explains each part.

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
create index entity_name on entity (tenant, lower(name));

do $$
declare name text;
begin
  foreach name in array array['extraction', 'mention', 'edge'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy wall on %I using (tenant = current_setting(''recollect.tenant'', true))', name);
  end loop;
end $$;
