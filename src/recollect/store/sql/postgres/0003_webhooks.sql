-- Webhooks: where changes are posted to. schema.sql explains each part.

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

alter table webhook enable row level security;
alter table webhook force row level security;
create policy wall on webhook using (tenant = current_setting('recollect.tenant', true));
