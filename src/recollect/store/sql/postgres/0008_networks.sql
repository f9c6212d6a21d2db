-- The network of what assistants and the team did is called bank. Checksums of the changed rows are made anew later.

alter table memory no force row level security;
update memory set network = 'bank', checksum = null where network = 'experience';
alter table memory force row level security;
delete from meta where key like 'checksums %';
create index memory_network on memory (tenant, network, coalesce(valid_from, created_at), id);
