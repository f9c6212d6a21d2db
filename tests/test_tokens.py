"""Counting tokens: a real tokenizer, opened once, that nothing in a text can hide from."""

from __future__ import annotations

import builtins
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import text
from recollect.models.tokens import Tokens

count = Tokens()


def test_the_packaged_tokenizer_counts_word_pieces_without_marks_of_its_own() -> None:
    assert count("The deploy failed.") == 4
    assert count("tokenization") == 2
    assert count("") == 0
    assert count.name == "arctic-embed-s"


def test_a_long_text_is_counted_to_its_end() -> None:
    assert count("word " * 5000) == 5000


@pytest.mark.parametrize(
    ("hidden", "least"),
    [("a" * 10_000, 4000), ("\u200b" * 100, 100), (" " * 1600, 100), ("x\n" * 50, 100), ("\U0001f389" * 10, 20)],
)
def test_what_the_tokenizer_cannot_see_is_not_free(hidden: str, least: int) -> None:
    assert count(hidden) >= least


visible = st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126))


@given(visible, visible)
def test_two_texts_on_two_lines_cost_what_they_cost_apart_and_a_line_end(one: str, two: str) -> None:
    one, two = f"{one.strip()}.", f".{two.strip()}"
    assert count(f"{one}\n{two}") == count(one) + 1 + count(two)


@given(st.text(alphabet=st.characters(), min_size=1))
def test_any_text_that_is_not_blank_costs_something(said: str) -> None:
    assert count(said) > 0 or not said.strip()


def test_threads_that_ask_at_once_get_the_same_answer_from_one_file_opened_once() -> None:
    fresh = Tokens()
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(fresh, ["We deploy on Thursdays."] * 64)) == {count("We deploy on Thursdays.")}
        assert set(pool.map(lambda _: fresh.name, range(8))) == {"arctic-embed-s"}


def test_without_the_library_or_the_file_an_estimate_counts_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimate = Tokens(tmp_path)
    assert estimate("The deploy failed.") == text.tokens("The deploy failed.")
    assert estimate.name == "estimate"
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "tokenizers":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert Tokens().name == "estimate"


def test_a_tokenizer_of_ones_own_takes_its_place() -> None:
    letters = Tokens(own=len, name="letters")
    assert (letters("four"), letters.name) == (4, "letters")


def test_importing_the_module_does_not_import_the_library() -> None:
    code = "import sys, recollect.models.tokens as t; t.Tokens(); assert 'tokenizers' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
