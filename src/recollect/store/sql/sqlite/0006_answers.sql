-- Cached answers, as they are used: the tables of before held nothing. schema.sql explains each part.

drop table answer_dependency;
drop table answer;

create table answer (
  tenant         text not null,
  id             text not null,
  kind           text not null default 'computed' check (kind in ('computed', 'timely', 'given')),
  question       text not null,
  question_hash  text not null,
  answer         text,
  sources        text not null default '[]',
  version        integer not null default 0,
  tier           text not null default 'cold' check (tier in ('cold', 'warm', 'hot', 'core')),
  pinned         integer not null default 0,
  asked          integer not null default 0,
  hits           integer not null default 0,
  compute_ms     integer,
  confidence     real,
  liked          integer not null default 0,
  disliked       integer not null default 0,
  stale          text not null default '',
  retired        text not null default '',
  model          text not null default '',
  vector         blob,
  user           text not null default '',
  project        text not null default '',
  seq            integer not null default 0,
  watched        integer not null default 0,
  changed        integer not null default 0,
  first_asked_at integer not null,
  last_asked_at  integer not null,
  expires_at     integer,
  primary key (tenant, id),
  unique (tenant, question_hash, user, project)
) strict, without rowid;
create index answer_shelf on answer (tenant, user, project, model, changed);
create index answer_age on answer (tenant, last_asked_at);
create index answer_kind on answer (tenant, kind);
create table answer_dependency (
  tenant  text not null,
  answer  text not null,
  kind    text not null check (kind in ('memory', 'file', 'commit', 'setting')),
  target  text not null,
  version text not null default '',
  primary key (tenant, answer, kind, target),
  foreign key (tenant, answer) references answer (tenant, id) on delete cascade
) strict, without rowid;
create index answer_dependency_target on answer_dependency (tenant, kind, target);

-- What the planner should believe; see the end of schema.sql.
insert into sqlite_stat1 (tbl, idx, stat) values
  ('answer', 'answer', '20000 10000 1'),
  ('answer', 'sqlite_autoindex_answer_2', '20000 10000 2 1 1'),
  ('answer', 'answer_shelf', '20000 10000 2000 500 400 1'),
  ('answer', 'answer_age', '20000 10000 1'),
  ('answer', 'answer_kind', '20000 10000 500'),
  ('answer_dependency', 'answer_dependency', '200000 100000 12 6 1'),
  ('answer_dependency', 'answer_dependency_target', '200000 100000 30000 5');
