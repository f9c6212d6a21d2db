"""Code is read by its grammar: symbols, what they say of themselves, call and need. No text makes it raise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import BadInput, Engine
from recollect.project import code, symbols
from recollect.project.languages import LANGUAGES, language_of
from recollect.project.piece import Piece
from recollect.project.symbols import Symbol
from recollect.recall.query import parse
from recollect_eval import cosqa
from recollect_eval import run as running
from recollect_eval.corpus import Benchmark
from recollect_eval.report import gate, render
from recollect_eval.run import Options, run

BASELINE = Path(__file__).parents[1] / "bench" / "baselines" / "cosqa-part.json"

PYTHON = '''"""Billing: what customers owe."""

import json
from decimal import Decimal

import requests

from .ledger import Ledger, post
from . import rates

LIMIT = 30
RETRIES = 5


@cached(ttl=60)
def fetch_invoice(number: str, *, retries: int = RETRIES) -> dict:
    """Fetch one invoice from the accounting service.

    :param number: its number
    """
    return json.loads(_get(number).text)


def _get(number):
    return requests.get(number, timeout=LIMIT)


class Bill(Base):
    """A bill with its lines."""

    currency = "EUR"

    def total(self) -> Decimal:
        # summed in cents
        return rates.convert(self._sum())

    def _sum(self):
        post(self)
        return Ledger.open(self)

    class Line:
        def price(self): return 1


if __name__ == "__main__":
    print(fetch_invoice("1"))
'''
TYPESCRIPT = """/** Sessions of the shop. */

import { Store, open as openStore } from "./store";
import axios from "axios";
const legacy = require("legacy-auth");

/**
 * Keeps who is logged in.
 */
@Injectable()
export default class Sessions<T> extends Base implements Keeper {
  private count = 1;

  /** Ends a session. */
  close(id: string): void {
    this.drop(id);
    openStore(id);
  }

  drop = (id: string) => { axios.delete(id) };

  get size() { return 1 }
}

// Turns a token into a user.
export const userOf = async (token: string): Promise<User> => {
  return new Sessions().find(token);
};

export function* pages() {}

interface Keeper { close(id: string): void }
type Id = string;
enum Role { Admin }
namespace Util { export function trim(s: string) { return s } }
declare function external(a: string): void;
"""
JAVASCRIPT = """import { format } from './format.js';
Cart.prototype.add = function (item) { return check(item) };
module.exports = { check, total() { return format(check(1)) }, clear: function () {} };
function check(item) { return !!item }
(function () { function hidden() { check() } })();
register({ success: function () {}, failure() {} });
const api = { get: (x) => x, nested: { put() {} } };
"""
GO = """// Package ledger posts transfers.
package ledger

import (
\t"fmt"
\tx "github.com/acme/money"
)

// ErrUnbalanced is returned when entries do not add up.
var ErrUnbalanced = fmt.Errorf("unbalanced")

// Post writes entries.
// They must add up to zero.
func (s *Book[K]) Post(entries []Entry) error {
\ts.lock()
\treturn sum(entries, x.Zero())
}

func (s *Book[K]) lock() {}

func sum(entries []Entry, zero int) error { return nil }

// Book holds entries.
type Book[K any] struct{ entries []Entry }

type (
\t// Entry is one line.
\tEntry interface{ Amount() int }
\tHook func(int)
)
"""
RUST = """//! Queues on disk.
use std::{fs, io::Read};
use crate::disk::Page;
use serde::Serialize;

/// The default size.
pub const SIZE: usize = 4096;

/// A queue of jobs.
#[derive(Debug)]
pub struct Queue<T> { items: Vec<T> }

impl<T> Queue<T> {
    /// Takes the oldest job.
    pub fn pop(&mut self) -> Option<T> { self.compact(); check(1); Page::read(); None }

    fn compact(&mut self) {}
}

pub trait Store {
    fn load(&self);
    /// Saves it.
    fn save(&self);
}

mod inner { pub fn deep() { sibling() } fn sibling() {} }

fn check(n: usize) {}

macro_rules! retry { () => {} }
"""
JAVA = """package com.acme.shop;
import java.util.List;
import com.acme.db.Store;
import static org.junit.Assert.fail;

/** Orders of customers. */
@Service
public class Orders extends Base {
    Orders(Store store) {}

    /** Cancels an order. */
    public <T> void cancel(long id) { check(id); this.note(id); Store.open(); other.run(); }

    private void check(long id) {}
    private void note(long id) {}

    class Inner { void deep() {} }
}
interface Clock { long now(); }
enum Color { RED; int code() { return 1; } }
record Point(int x, int y) {}
"""
C = """/* Copyright 2020 someone */
#include <stdio.h>
#include "ring.h"
#define SIZE 64

/* A ring of bytes. */
struct ring { char *data; int head; };

typedef struct { int x; } point_t;

/* Puts a byte.
 * Returns 0 when full. */
int ring_put(struct ring *r, char c) { return room(r) ? 1 : 0; }

static int *room(struct ring *r) { return 0; }
int forward(void);
"""
HEADER = """#ifndef RING_H
#define RING_H
/* Puts a byte. */
int ring_put(struct ring *r, char c);
struct ring;
extern int counter;
#endif
"""
CPP = """#include <vector>
#include "shape.hpp"
namespace geo {
/** A round shape. */
class Circle : public Shape {
 public:
  double area() const { return scale(radius_); }
  ~Circle() {}
 private:
  double scale(double x) { return x; }
  double radius_;
};
}
/// Draws it.
void geo::Circle::draw(int depth) { area(); }
template <typename T> T &biggest(T a) { return a; }
bool operator==(const Circle &a, const Circle &b) { return true; }
enum class Side { Left };
"""


def read(text: str, path: str) -> dict[str, Piece]:
    found = code.read(text, path)
    by_key = {piece.key: piece for piece in found}
    assert len(by_key) == len(found), "every piece has a key of its own"
    return by_key


def told(text: str, path: str) -> dict[str, Symbol]:
    found = symbols.outline(text, path)
    assert found is not None
    return {symbol.name: symbol for symbol in found.symbols}


def links(piece: Piece, relation: str) -> set[str]:
    return {target for name, target in piece.links if name == relation}


# -- languages --------------------------------------------------------------------------------------------------------


def test_every_grammar_is_here() -> None:
    assert [one.name for one in LANGUAGES if symbols.grammar(one) is None] == []


def test_python() -> None:
    found = read(PYTHON, "src/billing/bill.py")
    assert [key for key in found if not key.startswith(("LIMIT", "if "))] == [
        "", "fetch_invoice", "_get", "Bill", "Bill.total", "Bill._sum", "Bill.Line", "Bill.Line.price",
    ]  # fmt: skip
    fetch = found["fetch_invoice"]
    assert fetch.kind == "code"
    assert fetch.content.startswith("@cached(ttl=60)\ndef fetch_invoice(")
    assert fetch.context == "src/billing/bill.py\nimports json"
    assert fetch.keywords == ("fetch", "invoice")
    assert fetch.refs == ("src/billing/bill.py", "src/billing/bill.py::fetch_invoice")
    assert fetch.tags == ("python",)
    assert links(fetch, "calls") == {"_get"}
    bill = found["Bill"]
    assert 'currency = "EUR"' in bill.content
    assert "def total(self) -> Decimal:" in bill.content
    assert "convert" not in bill.content, "what its methods do is told by them"
    assert links(found["Bill.total"], "calls") == {
        "Bill._sum", "file:src/billing/rates.py#convert", "file:src/billing/rates/__init__.py#convert",
    }  # fmt: skip
    assert "file:src/billing/ledger.py#Ledger.open" in links(found["Bill._sum"], "calls")
    assert "summed in cents" in found["Bill.total"].content
    symbol = told(PYTHON, "a.py")["fetch_invoice"]
    assert symbol.signature == "def fetch_invoice(number: str, *, retries: int = RETRIES) -> dict"
    assert symbol.doc.startswith("Fetch one invoice from the accounting service.\n")
    assert PYTHON.splitlines()[symbol.first - 1] == "@cached(ttl=60)"
    assert "return json" in PYTHON.splitlines()[symbol.last - 1]


def test_a_file_is_told_as_a_whole() -> None:
    found = read(PYTHON, "src/billing/bill.py")
    whole = found[""]
    assert whole.title == "src/billing/bill.py"
    assert whole.content.startswith("Billing: what customers owe.\n- fetch_invoice: Fetch one invoice from the")
    assert "- def _get(number)" in whole.content
    assert links(whole, "depends_on") == {
        "module:requests", "file:src/billing/ledger.py", "file:src/billing/ledger/__init__.py",
        "file:src/billing/rates.py", "file:src/billing/rates/__init__.py",
    }  # fmt: skip
    assert "RETRIES = 5" in found["LIMIT = 30"].content, "what stands outside of functions is told too"


def test_one_function_alone_needs_no_word_about_its_file() -> None:
    found = read("import redis\ndef f():\n    return redis.get(1)\n", "f.py")
    assert list(found) == ["f"]
    assert links(found["f"], "depends_on") == {"module:redis"}


def test_typescript() -> None:
    found = read(TYPESCRIPT, "web/sessions.ts")
    wanted = {"Sessions", "Sessions.close", "Sessions.drop", "Sessions.size", "userOf", "pages", "Keeper", "Id", "Role",
              "Util.trim", "external"}  # fmt: skip
    assert wanted <= found.keys()
    assert found[""].content.startswith("Sessions of the shop.\n- Sessions: Keeps who is logged in.")
    assert found["Sessions"].content.startswith(
        "/**\n * Keeps who is logged in.\n */\n@Injectable()\nexport default class"
    )
    assert links(found["Sessions.close"], "calls") >= {"Sessions.drop", "file:web/store.ts#openStore"}
    assert links(found["userOf"], "calls") == {"Sessions"}
    assert links(found[""], "depends_on") == {
        "module:axios", "module:legacy-auth", "file:web/store.ts", "file:web/store/index.ts"
    }  # fmt: skip
    assert told(TYPESCRIPT, "a.ts")["userOf"].doc == "Turns a token into a user."
    assert told(TYPESCRIPT, "a.ts")["Sessions.close"].signature == "close(id: string): void"
    assert "userOf" in read("export const userOf = () => <div/>;\nexport const b = () => 1;", "a.tsx")


def test_javascript() -> None:
    found = read(JAVASCRIPT, "lib/cart.js")
    assert {"Cart.add", "total", "clear", "check", "hidden", "api.get", "api.nested.put"} <= found.keys()
    assert not {"success", "failure"} & found.keys(), "what is handed to a call has no name of its own"
    assert links(found["total"], "calls") == {"check", "file:lib/format.js#format"}
    assert links(found["hidden"], "calls") == {"check"}


def test_go() -> None:
    found = read(GO, "ledger/post.go")
    assert {"Book.Post", "Book.lock", "sum", "Book", "Entry", "Hook"} <= found.keys()
    assert found["Book.Post"].content.startswith("// Post writes entries.\n// They must")
    assert links(found["Book.Post"], "calls") == {"Book.lock", "sum"}
    assert links(found[""], "depends_on") == {"module:github.com/acme/money"}
    assert found[""].content.startswith("Package ledger posts transfers.\n")
    assert told(GO, "a.go")["Entry"].doc == "Entry is one line."
    assert any("ErrUnbalanced" in key or "ErrUnbalanced" in piece.content for key, piece in found.items())


def test_rust() -> None:
    found = read(RUST, "core/src/queue.rs")
    assert {
        "Queue",
        "Queue::pop",
        "Queue::compact",
        "Store",
        "Store::save",
        "inner::deep",
        "check",
        "retry",
    } <= found.keys()
    assert "Store::load" not in found, "a promise without a word is told with its trait"
    assert found["Queue"].content.startswith("/// A queue of jobs.\n#[derive(Debug)]\npub struct Queue<T>")
    assert links(found["Queue::pop"], "calls") >= {"Queue::compact", "check", "file:core/src/disk.rs#Page::read"}
    assert links(found["inner::deep"], "calls") == {"inner::sibling"}
    assert links(found[""], "depends_on") >= {"module:serde::Serialize", "file:core/src/disk.rs"}
    assert told(RUST, "a.rs")["Queue"].signature == "pub struct Queue<T>"


def test_java() -> None:
    path = "src/main/java/com/acme/shop/Orders.java"
    found = read(JAVA, path)
    assert {
        "Orders",
        "Orders.Orders",
        "Orders.cancel",
        "Orders.Inner.deep",
        "Clock",
        "Color.code",
        "Point",
    } <= found.keys()
    assert links(found["Orders.cancel"], "calls") == {
        "Orders.check", "Orders.note", "file:src/main/java/com/acme/db/Store.java#Store.open",
    }  # fmt: skip
    assert links(found[""], "depends_on") == {
        "file:src/main/java/com/acme/db/Store.java",
        "module:org.junit.Assert.fail",
    }
    assert told(JAVA, path)["Orders.cancel"].doc == "Cancels an order."


def test_c() -> None:
    found = read(C, "src/ring.c")
    assert {"ring", "point_t", "ring_put", "room"} <= found.keys()
    assert "forward" not in found, "a promise counts in a header only"
    assert told(C, "src/ring.c")["ring_put"].doc == "Puts a byte.\nReturns 0 when full."
    assert links(found["ring_put"], "calls") == {"room"}
    assert links(found[""], "depends_on") >= {"file:src/ring.h"}
    assert "Copyright" not in found[""].content
    assert list(told(HEADER, "include/ring.h")) == ["ring_put"]


def test_cpp() -> None:
    found = read(CPP, "src/geo/circle.cpp")
    wanted = {"geo::Circle", "geo::Circle::area", "geo::Circle::draw", "biggest", "operator==", "Side"}
    assert wanted <= found.keys()
    assert links(found["geo::Circle::area"], "calls") == {"geo::Circle::scale"}
    assert found["biggest"].content.startswith("template <typename T>")
    header = language_of("x.h", "namespace a { class B {}; }")
    assert header is not None
    assert header.name == "cpp"


def test_what_is_told_twice_is_told_apart() -> None:
    found = read("def f(): return 1\n\ndef f(): return 2\n\ng\n\ndef g(): return 3\n", "a.py")
    assert {"f", "f#2", "g", "g#2"} <= found.keys()


# -- without a parser -------------------------------------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No grammar is installed."""
    monkeypatch.setattr(symbols, "grammar", lambda language: None)


@pytest.mark.usefixtures("bare")
def test_a_missing_grammar_is_named_and_the_file_is_read_as_text() -> None:
    assert code.unparsed("a.go") == "tree-sitter-go is not installed: pip install tree-sitter-go"
    found = code.read(GO, "ledger/post.go")
    assert any("They must add up to zero." in piece.content for piece in found)
    assert all(piece.kind == "code" for piece in found)


def test_a_language_without_a_grammar_is_cut_at_its_blank_lines() -> None:
    one, two = (
        "def pay(order)\n" + "  charge order\n" * 60 + "end",
        "def refund(order)\n" + "  give back\n" * 60 + "end",
    )
    found = code.read(f"{one}\n\n\n{two}\n", "app/pay.rb")
    assert [piece.key for piece in found] == ["def pay(order)", "def refund(order)"]
    assert found[0].title == "pay.rb: def pay(order)"
    assert found[0].tags == ("ruby",)
    assert code.unparsed("app/pay.rb") == "no grammar for ruby"
    assert code.unparsed("app/pay.py") == code.unparsed("Makefile") == ""


def test_broken_code_gives_what_can_be_understood() -> None:
    found = read(
        "def good(a):\n    return a\n\ndef bad(a):\n    x = = 3 +\n\nclass Fine:\n    def m(self): pass\n", "a.py"
    )
    assert {"good", "Fine", "Fine.m"} <= found.keys()


def test_what_a_program_wrote_is_not_taken_apart() -> None:
    found = code.read("function a(b){return b};" * 5000, "dist/app.js")
    assert len(found) == 1
    assert "made by a program" in found[0].content


def test_a_long_function_keeps_its_head_and_says_what_is_left_out() -> None:
    body = "".join(f"    step_{number}()\n" for number in range(2000))
    found = read(f'def long():\n    """Does much."""\n{body}', "a.py")["long"]
    assert len(found.content) <= code.MAX_CONTENT
    assert "Does much." in found.content
    assert "more lines" in found.content.splitlines()[-1]


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.go", "a.rs", "a.java", "a.c", "a.cpp", "a.rb", "Makefile"])
def test_odd_texts_are_survived(path: str) -> None:
    odd = [
        "", " ", "\n" * 100, "\x00\x01", "\ud800", "\ufeffint x;", "def " * 3000, "(" * 20_000, "a" * 50_000,
        "{" * 5000 + "}" * 5000, "é = 'ü'\r\rdef ñ(): pass\r\n",
        "class A:\n" + "".join(" " * n + "class A:\n" for n in range(300)),
    ]  # fmt: skip
    for text in odd:
        for piece in code.read(text, path):
            assert piece.content.strip()


SNIPPETS = (PYTHON, TYPESCRIPT, JAVASCRIPT, GO, RUST, JAVA, C, CPP)
PATHS = ("a/b.py", "a.ts", "x.js", "b.go", "src/c.rs", "com/D.java", "e.c", "e.h", "f.cpp", "g.rb")


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SNIPPETS), st.sampled_from(PATHS), st.integers(0, 2000), st.integers(0, 2000),
    st.text(max_size=30) | st.sampled_from(["{", "}", "(", '"""', "/*", "//", "\n\n", "\\", "class ", "def f", "=>"]),
)  # fmt: skip
def test_cut_and_patched_code_never_raises(snippet: str, path: str, start: int, end: int, patch: str) -> None:
    text = snippet[:start] + patch + snippet[end:]
    whole = code.read(text, path)
    assert len({piece.key for piece in whole}) == len(whole)
    for piece in whole:
        assert piece.content.strip()
        assert len(piece.content) <= code.MAX_CONTENT
        assert len(piece.title) <= code.MAX_TITLE
        assert len(piece.keywords) <= code.MAX_KEYWORDS


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400), st.sampled_from(PATHS))
def test_any_text_never_raises(text: str, path: str) -> None:
    code.read(text, path)


# -- code search ------------------------------------------------------------------------------------------------------


def test_only_code_is_asked_for_by_a_recipe_of_its_own(opened: Callable[..., Engine]) -> None:
    engine = opened()
    now = datetime(2026, 3, 1, tzinfo=UTC)
    assert parse("read a file", now, kinds=("code",)).recipe.name == "code"
    assert parse("read a file", now, kinds=("code",), recipe="hybrid").recipe.name == "hybrid"
    for kinds in ((), ("code", "doc"), ("decision",)):
        assert parse("read a file", now, kinds=kinds).recipe.name == "default"
    for piece in code.read(PYTHON, "src/billing/bill.py"):
        engine.remember(piece.content, kind=piece.kind, title=piece.title, keywords=piece.keywords, refs=piece.refs)
    for asked in ("fetchInvoice", "get an invoice from accounting", "where is fetch_invoice?"):
        first = engine.recall(asked, kinds=("code",)).hits[0].memory
        assert first.refs[-1] == "src/billing/bill.py::fetch_invoice", asked


def test_a_name_with_its_owner_is_asked_for(opened: Callable[..., Engine]) -> None:
    engine = opened()
    for owner in ("Engine", "Ledger", "Basket"):
        text = f'class {owner}:\n    def embed_later(self):\n        """Does it for the {owner}."""\n        return 1\n'
        for piece in code.read(text, f"{owner.lower()}.py"):
            engine.remember(piece.content, kind=piece.kind, title=piece.title, keywords=piece.keywords, refs=piece.refs)
    for owner in ("Engine", "Ledger", "Basket"):
        first = engine.recall(f"{owner}.embed_later", kinds=("code",)).hits[0].memory
        assert first.refs[-1] == f"{owner.lower()}.py::{owner}.embed_later"


def part_of_cosqa(data: Path | None = None) -> Benchmark:
    """Every tenth question, none that the embedder was fitted on, with the functions that answer them and every
    twelfth other one."""
    whole = cosqa.load(data)
    corpus = whole.corpora[0]
    questions = corpus.questions[1::10]
    right = frozenset[str]().union(*(question.right for question in questions))
    items = tuple(item for number, item in enumerate(corpus.items) if item.key in right or number % 12 == 0)
    return replace(whole, corpora=(replace(corpus, items=items, questions=questions),))


def test_code_search_is_as_good_as_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole benchmark embeds 6,267 functions, which takes minutes: see bench/README.md."""
    try:
        part_of_cosqa()
    except BadInput as error:
        pytest.skip(f"code search is NOT measured: {error.message}")
    monkeypatch.setitem(running.LOADERS, "cosqa", part_of_cosqa)
    report = run("cosqa", options=Options(controls=False, curve=False))
    assert gate(report, json.loads(BASELINE.read_text("utf-8"))) == [], render(report, 110)
