-- Cached answers, as they are used: the tables of before held nothing. schema.sql explains each part.

drop table answer_dependency;
drop table answer;

create table answer (
  tenant         text collate "C" not null,
  id             text collate "C" not null,
  kind           text not null default 'computed' check (kind in ('computed', 'timely', 'given')),
  question       text not null,
  question_hash  text collate "C" not null,
  answer         text collate "C",
  sources        text not null default '[]',
  version        integer not null default 0,
  tier           text not null default 'cold' check (tier in ('cold', 'warm', 'hot', 'core')),
  pinned         integer not null default 0,
  asked          integer not null default 0,
  hits           integer not null default 0,
  compute_ms     integer,
  confidence     double precision,
  liked          integer not null default 0,
  disliked       integer not null default 0,
  stale          text not null default '',
  retired        text not null default '',
  model          text not null default '',
  vector         bytea,
  "user"         text collate "C" not null default '',
  project        text collate "C" not null default '',
  seq            bigint not null default 0,
  watched        integer not null default 0,
  changed        bigint not null default 0,
  first_asked_at bigint not null,
  last_asked_at  bigint not null,
  expires_at     bigint,
  primary key (tenant, id),
  unique (tenant, question_hash, "user", project)
);
create index answer_shelf on answer (tenant, "user", project, model, changed);
create index answer_age on answer (tenant, last_asked_at);
create index answer_kind on answer (tenant, kind);
create table answer_dependency (
  tenant  text collate "C" not null,
  answer  text collate "C" not null,
  kind    text not null check (kind in ('memory', 'file', 'commit', 'setting')),
  target  text collate "C" not null,
  version text not null default '',
  primary key (tenant, answer, kind, target),
  foreign key (tenant, answer) references answer (tenant, id) on delete cascade
);
create index answer_dependency_target on answer_dependency (tenant, kind, target);

alter table answer enable row level security;
alter table answer force row level security;
create policy wall on answer using (tenant = current_setting('recollect.tenant', true));
alter table answer_dependency enable row level security;
alter table answer_dependency force row level security;
create policy wall on answer_dependency using (tenant = current_setting('recollect.tenant', true));
