-- The graph: what memories name and say of it. schema.sql explains each part.

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
create index entity_name on entity (tenant, lower(name));
