-- Checksums of rows and a hash chain over the journal; rows from before get theirs little by little. schema.sql explains.

alter table memory add column checksum bigint;
alter table source add column checksum bigint;
alter table evidence add column checksum bigint;
alter table entity add column checksum bigint;
alter table link add column checksum bigint;
alter table tombstone add column checksum bigint;
alter table checkpoint add column checksum bigint;
alter table hold add column checksum bigint;
alter table retention add column checksum bigint;
alter table journal add column salt bytea;
alter table journal add column digest bytea;
alter table journal add column chain bytea;
alter table head add column chain bytea;

create or replace function keep_journal() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE'
    and (new.tenant, new.seq, new.at, new.actor, new.operation, new.noun, new.target)
      = (old.tenant, old.seq, old.at, old.actor, old.operation, old.noun, old.target)
    and ((new.purged = 1 and new.before is null and new.after is null and new.reason = '' and new.salt is null
        and new.digest is not distinct from old.digest and new.chain is not distinct from old.chain)
      or (old.chain is null and new.before is not distinct from old.before
        and new.after is not distinct from old.after and new.reason = old.reason and new.purged = old.purged))
  then return new;
  end if;
  raise exception 'the journal is append-only';
end $$;
