-- The ledger: what models cost. schema.sql explains each part.

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

alter table ledger enable row level security;
alter table ledger force row level security;
create policy wall on ledger using (tenant = current_setting('recollect.tenant', true));
