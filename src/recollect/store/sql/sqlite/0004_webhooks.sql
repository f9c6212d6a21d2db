-- Webhooks: where changes are posted to. schema.sql explains each part.

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
