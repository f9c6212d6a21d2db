-- The words of texts that are not English are made by other rules: their rows of full text are written again.

create temp table other as
  select n from memory where other_language(title) or other_language(content) or other_language(context)
    or other_language(keywords) or other_language(tags) or other_language(reasoning);
delete from memory_fts where rowid in (select n from other);
insert into memory_fts (rowid, wall, title, content, keywords, reasoning, tags, context)
  select n, wall(tenant, project), terms(title), terms(content), terms_of_list(keywords), terms(reasoning),
    terms_of_list(tags), terms(around(context, speaker, valid_from, refs)) from memory where n in (select n from other);
drop table other;
