"""Every statement for PostgreSQL names the tenant of each table in it, so that a cluster can run it on one machine."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

from recollect import store

SCHEMA = (resources.files("recollect.store") / "sql" / "postgres" / "schema.sql").read_text("utf-8")
TABLES = set(re.findall(r"^create table (\w+) \(", SCHEMA, re.MULTILINE)) - {"migration", "meta"}
NAMED = re.compile(rf"\b(?:from|join|into|update)\s+({'|'.join(sorted(TABLES))})\b")
ELSEWHERE = re.compile(r"sqlite|salvage")  # modules of the file alone
# A token is looked up before its tenant is known, and the list of tenants is of all; both have policies of their own.
ACROSS = {"access.TOKEN", "postgres.TENANTS"}


def texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict | tuple):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(f"{name} {key}", one)


def statements() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(store.__path__):
        if not ELSEWHERE.search(module.name):
            held = vars(importlib.import_module(f"recollect.store.{module.name}"))
            inside = [
                vars(one) for one in held.values() if isinstance(one, type) and one.__module__.endswith(module.name)
            ]
            for names in (held, *inside):
                for name, value in names.items():
                    if name.isupper() and not name.startswith("_"):  # pieces of statements
                        yield from texts(f"{module.name}.{name}", value)


def test_every_statement_names_the_tenant_for_each_table() -> None:
    looked_at = 0
    for name, said in statements():
        tables = NAMED.findall(said)
        if tables and name not in ACROSS:
            looked_at += 1
            assert len(re.findall(r"\btenant\b", said)) >= len(tables), (name, tables, said)
    assert looked_at > 80
