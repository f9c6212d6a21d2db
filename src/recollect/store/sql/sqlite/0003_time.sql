-- Questions that name a time look for memories by it.
create index memory_time on memory (tenant, coalesce(valid_from, created_at), id);
insert into sqlite_stat1 (tbl, idx, stat) values ('memory', 'memory_time', '100000 50000 2 1');
