-- Checksums of rows and a hash chain over the journal; rows from before get theirs little by little. schema.sql explains.

alter table memory add column checksum integer;
alter table source add column checksum integer;
alter table evidence add column checksum integer;
alter table entity add column checksum integer;
alter table link add column checksum integer;
alter table tombstone add column checksum integer;
alter table checkpoint add column checksum integer;
alter table hold add column checksum integer;
alter table retention add column checksum integer;
alter table embedding add column checksum integer;
alter table journal add column salt blob;
alter table journal add column digest blob;
alter table journal add column chain blob;

drop trigger journal_is_append_only;
create trigger journal_is_append_only before update on journal
when not (
  new.tenant is old.tenant and new.seq is old.seq and new.at is old.at and new.actor is old.actor
  and new.operation is old.operation and new.noun is old.noun and new.target is old.target
  and ((new.purged = 1 and new.before is null and new.after is null and new.reason = '' and new.salt is null
      and new.digest is old.digest and new.chain is old.chain)
    or (old.chain is null and new.before is old.before and new.after is old.after and new.reason is old.reason
      and new.purged is old.purged))
)
begin select raise(abort, 'the journal is append-only'); end;
create trigger journal_is_never_replaced before insert on journal
when exists (select 1 from journal where tenant = new.tenant and seq = new.seq)
begin select raise(abort, 'the journal is append-only'); end;
