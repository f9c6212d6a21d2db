-- The network of what assistants and the team did is called bank. Checksums of the changed rows are made anew later.

update memory set network = 'bank', checksum = null where network = 'experience';
delete from meta where key like 'checksums %';
create index memory_network on memory (tenant, network, coalesce(valid_from, created_at), id);
