#!/bin/sh
# Runs `recollect` with the database's password out of a file. libpq takes the password from the environment or from a
# file with mode 0600, and secrets that are mounted into a container have neither that mode nor that owner.
set -eu
if [ -n "${PGPASSWORD_FILE:-}" ]; then
  PGPASSWORD="$(cat -- "$PGPASSWORD_FILE")"
  export PGPASSWORD
fi
exec recollect "$@"
