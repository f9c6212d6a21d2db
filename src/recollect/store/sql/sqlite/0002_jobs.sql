-- The look for work goes by tenant, and must not walk through all that was ever done.
drop index job_due;
create index job_due on job (tenant, state, run_at);
insert into sqlite_stat1 (tbl, idx, stat) values
  ('job', 'job', '10000 5000 1'),
  ('job', 'job_due', '10000 5000 100 1');
