#!/bin/sh
{mark} tells {name} that this repository moved; taken out by: {name} uninstall git-hooks
status=0
if [ -x "$0{before}" ]; then
    "$0{before}" "$@"
    status=$?
fi
({call} </dev/null >/dev/null 2>&1 &)
exit $status
