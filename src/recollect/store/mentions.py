"""What memories name and say: the rows of the graph, and how a transaction writes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# Written inside a transaction, without a journal row.
FORGET = "delete from extraction where tenant = :tenant and memory = :id"
READ = "insert into extraction (tenant, memory, version) values (:tenant, :id, :version)"
MENTION = """
    insert into mention (tenant, key, memory, name, kind, short, confidence)
    values (:tenant, :key, :id, :name, :kind, :short, :confidence)"""
EDGE = """
    insert into edge (tenant, head, memory, relation, tail, confidence, quote)
    values (:tenant, :head, :id, :relation, :tail, :confidence, :quote)"""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """That a memory names an entity."""

    key: str
    memory: str
    name: str
    kind: str
    short: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Edge:
    """That a memory says `head relation tail`; `valid_from` and `valid_to` are those of the memory."""

    head: str
    relation: str
    tail: str
    memory: str
    confidence: float
    quote: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
