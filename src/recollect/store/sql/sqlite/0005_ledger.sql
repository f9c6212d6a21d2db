-- The ledger: what models cost. schema.sql explains each part.

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
