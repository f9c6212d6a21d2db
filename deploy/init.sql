-- Makes the role and the database of a Recollect store. Run it once, with psql, as a superuser:
--
--     RECOLLECT_PASSWORD_FILE=secrets/database psql --no-psqlrc --file=deploy/init.sql postgresql://postgres@db.example/postgres
--
-- The password of the new role comes from the file that RECOLLECT_PASSWORD_FILE names, or from RECOLLECT_PASSWORD; there
-- is no default. `--set role=…` and `--set database=…` choose other names. Run again, it sets the password anew and
-- changes nothing else.
--
-- The role is no superuser and has no bypassrls: both are above row-level security, which is the wall between tenants.
-- It owns the database, because the program makes and upgrades its tables itself. It may do nothing on the server
-- besides.

\set ON_ERROR_STOP on
\if :{?role}
\else
  \set role recollect
\endif
\if :{?database}
\else
  \set database recollect
\endif

\getenv password RECOLLECT_PASSWORD
\getenv file RECOLLECT_PASSWORD_FILE
\if :{?file}
  \set password `cat -- "$RECOLLECT_PASSWORD_FILE"`
\endif
\if :{?password}
\else
  \set password ''
\endif
select length(:'password') < 16 as weak \gset
\if :weak
  do $$ begin
    raise exception 'the password must have 16 characters or more: set RECOLLECT_PASSWORD_FILE or RECOLLECT_PASSWORD';
  end $$;
\endif

-- A statement with a password in it belongs neither in the server's log nor in its statistics.
set log_statement = 'none';
set log_min_duration_statement = -1;
set log_min_error_statement = 'panic';
set pg_stat_statements.track_utility = off;
set password_encryption = 'scram-sha-256';

select not exists (select from pg_roles where rolname = :'role') as fresh \gset
\if :fresh
  create role :"role" login;
\endif
alter role :"role" nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';

-- Text is compared by its bytes, as in a file: the order of a listing must not depend on the server's language.
select not exists (select from pg_database where datname = :'database') as fresh \gset
\if :fresh
  create database :"database" owner :"role" template template0 encoding 'UTF8' locale 'C';
\endif
revoke all on database :"database" from public;

\connect :"database"
-- Only a superuser may install it; the tables come with the program's first start.
create extension if not exists vector;
