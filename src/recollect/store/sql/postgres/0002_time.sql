-- online
-- Questions that name a time look for memories by it.
create index concurrently if not exists memory_time on memory (tenant, coalesce(valid_from, created_at), id);
