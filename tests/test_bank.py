"""The knowledge bank: markdown read as it is written, the trail beside the store, and a store made from the files."""

from __future__ import annotations

import hashlib
import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from conftest import Opener
from recollect import settings
from recollect.errors import BadInput
from recollect.project import bank, brief, learning
from recollect.project.bank import Bank, BankWriter, import_files
from recollect.project.brief import BriefRequest
from recollect.project.learning import Learning, content_id
from recollect.types import Scope

PATTERNS = """# Patterns

What works. Updated through retrospectives.

---

## Development

### Pattern: Read a real sample first
Parsers that were written from the description alone
broke on the first real file.
- Used in: Feature #021, src/parse/log.py
- Benefit: no second round
- Confidence: high
- Last observed: Feature #33
- Observation count: 3

<!-- Example format:
### Pattern: Not a learning
It stands in a comment.
- Observation count: 9
-->

### Told as a list
- Keep the first change small
- then grow it
- **Confidence:** Low

```
### not a heading
```

## Notes

Nothing to learn here.
"""
HEURISTICS = """# Heuristics
### Measure before caching
Twice the cache was the bug.
- Reasoning: The profile showed something else.
- References: `src/cache.py`, `Feature #7`
- Keywords: cache, profile
- Observation count: many
"""


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "shop" / "docs" / "knowledge-bank"
    folder.mkdir(parents=True)
    (folder / "patterns.md").write_text(PATTERNS, "utf-8")
    (folder / "heuristics.md").write_text(HEURISTICS, "utf-8")
    return folder


def learnings(memory: recollect.Engine) -> dict[str, recollect.Memory]:
    found = memory.list(kinds=learning.KINDS, limit=1000).memories
    return {one.title: one for one in found}


# -- reading and writing ----------------------------------------------------------------------------------------------


def test_a_file_is_read_with_every_field_where_it_belongs() -> None:
    sample, listed = learning.read(PATTERNS, "patterns")
    assert sample == Learning(
        name="Read a real sample first",
        description="Parsers that were written from the description alone\nbroke on the first real file.",
        category="patterns",
        reasoning="Used in: Feature #021, src/parse/log.py\nBenefit: no second round",
        references=("Feature #021", "src/parse/log.py"),
        observed=3,
        confidence="high",
        last_observed="Feature #33",
    )
    assert listed.description == "Keep the first change small\nthen grow it\n``` ### not a heading ```"
    assert listed.confidence == "low"
    (measure,) = learning.read(HEURISTICS, "heuristics")
    assert measure.reasoning == "The profile showed something else."
    assert measure.references == ("src/cache.py", "Feature #7")
    assert (measure.keywords, measure.observed, measure.confidence) == (("cache", "profile"), 1, "medium")


def test_the_id_is_the_hash_of_the_normalised_description() -> None:
    known = hashlib.sha256(b"read a real sample").hexdigest()[:16]
    assert content_id("  Read A\n real   sample ") == content_id("READ A REAL SAMPLE") == known


def test_what_is_written_down_twice_counts_once_with_the_higher_count() -> None:
    first = "### A\nSame words.\n- Observation count: 2\n- References: `a.py`\n"
    (one,) = learning.read(f"{first}\n### A\nsame  WORDS.\n- Observation count: 5\n", "patterns")
    assert (one.observed, one.references) == (5, ("a.py",))


NAME = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40)
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cf")) | st.sampled_from("\n-#*`<!> "), min_size=1
)


@given(WORDS, NAME)
def test_what_is_written_reads_back_as_the_same_learning(description: str, name: str) -> None:
    from recollect import text

    one = Learning(name, text.clean(description), "patterns", observed=4, confidence="low", memory="01abc")
    if not one.description:
        return
    back = learning.read(learning.title("patterns") + "\n" + learning.write(one), "patterns")
    assert [found.id for found in back] == [one.id]
    assert (back[0].observed, back[0].confidence, back[0].memory) == (4, "low", "01abc")


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for one in learning.read(text, "patterns") + learning.read(f"### X\n{text}", "patterns"):
        assert one.description
        assert one.observed >= 1


# -- taking in --------------------------------------------------------------------------------------------------------


def test_files_are_taken_in_once_and_fields_land_where_recall_looks(memory: recollect.Engine, files: Path) -> None:
    place = Bank(memory.settings.bank_path, files, "shop")
    done = import_files(memory, place)
    assert (done.files, done.learnings, done.created, done.known) == (2, 3, 3, 0)
    sample = learnings(memory)["Read a real sample first"]
    assert (sample.kind, sample.observed, sample.confidence, sample.trust) == ("pattern", 3, 1.0, "cited")
    assert sample.scope == Scope(project="shop")
    source, _ = memory.evidence(sample.id)
    assert source is not None
    assert (source.id, source.kind) == (f"bank:{content_id(sample.content)}", "file")
    before = {one.id: one.version for one in learnings(memory).values()}
    again = import_files(memory, place)
    assert (again.created, again.known) == (0, 3)
    assert {one.id: one.version for one in learnings(memory).values()} == before, "nothing was counted twice"


def test_what_was_forgotten_or_edited_is_not_taken_in_again(memory: recollect.Engine, files: Path) -> None:
    place = Bank(memory.settings.bank_path, files, "shop")
    import_files(memory, place)
    found = learnings(memory)
    memory.forget(found["Read a real sample first"].id)
    (files / "heuristics.md").write_text(HEURISTICS.replace("count: many", "count: 9"), "utf-8")
    assert import_files(memory, place).created == 0
    assert learnings(memory)["Measure before caching"].observed == 1, "the store is the truth"


def test_a_rejected_value_does_not_come_back_with_the_files(opened: Opener, files: Path) -> None:
    memory = opened()
    kept = memory.remember("Twice the cache was the bug.", kind="fact", scope=Scope(project="shop"))
    memory.reject(kept.id)
    done = import_files(memory, Bank(memory.settings.bank_path, files, "shop"))
    assert (done.created, done.refused) == (2, 1)


def test_a_dry_run_changes_nothing(memory: recollect.Engine, files: Path) -> None:
    head = memory.head
    assert import_files(memory, Bank(memory.settings.bank_path, files), dry_run=True).created == 3
    assert memory.head == head


def test_files_are_taken_in_by_themselves_whenever_they_change(memory: recollect.Engine, files: Path) -> None:
    place = Bank(memory.settings.bank_path, files, "shop")
    first = bank.import_changed(memory, place)
    assert first is not None
    assert first.created == 3
    (files / "anti-patterns.md").write_text("### Later\nAdded by hand.\n", "utf-8")
    later = bank.import_changed(memory, place)
    assert later is not None
    assert (later.created, later.known) == (1, 3)
    assert bank.import_changed(memory, place) is None


def test_the_first_memory_does_not_hide_the_files_from_the_brief(memory: recollect.Engine, files: Path) -> None:
    memory.remember("Never deploy on Fridays.", kind="pattern", scope=Scope(project="shop"))
    wanted = BriefRequest(str(files.parents[1]), Scope(project="shop"))
    told = brief.build(memory, wanted).text
    assert "Twice the cache was the bug." in told
    assert "Never deploy on Fridays." in told


# -- the trail --------------------------------------------------------------------------------------------------------


def trail(memory: recollect.Engine) -> list[Learning]:
    BankWriter(memory).run()
    _, own = Bank(memory.settings.bank_path).learnings()
    return own


def test_what_is_learnt_lands_in_the_store_and_in_the_files(memory: recollect.Engine) -> None:
    kept = memory.remember(
        "Retry with jitter.", kind="pattern", title="Jitter", reasoning="Herds.", refs=["src/retry.py"], confidence=1.0
    )
    memory.remember("Not a learning.", kind="fact")
    (one,) = trail(memory)
    assert (one.name, one.reasoning, one.references, one.memory) == ("Jitter", "Herds.", ("src/retry.py",), kept.id)
    path = memory.settings.bank_path / "patterns.md"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert BankWriter(memory).run() == 0, "it goes on where it was"
    memory.remember("Retry with jitter.", kind="pattern")
    (again,) = trail(memory)
    assert again.observed == 2
    assert path.read_text("utf-8").count("Retry with jitter.") == 1, "observed again, not written down again"


def test_what_is_changed_by_hand_changes_its_memory(memory: recollect.Engine) -> None:
    kept = memory.remember("Retry with jitter.", kind="pattern", title="Jitter", reasoning="Herds.")
    trail(memory)
    path = memory.settings.bank_path / "patterns.md"
    path.write_text(path.read_text("utf-8").replace("Retry with jitter.", "Retry with jitter, five times."), "utf-8")
    done = import_files(memory, Bank(memory.settings.bank_path))
    assert (done.created, done.edited) == (0, 1)
    assert [(one.id, one.content) for one in learnings(memory).values()] == [
        (kept.id, "Retry with jitter, five times.")
    ]
    path.write_text(path.read_text("utf-8").replace("### Jitter", "### Pattern: Spread retries"), "utf-8")
    assert import_files(memory, Bank(memory.settings.bank_path)).edited == 1
    assert memory.get(kept.id).title == "Spread retries"
    assert [one.name for one in trail(memory)] == ["Spread retries"]
    assert import_files(memory, Bank(memory.settings.bank_path)).edited == 0
    assert path.read_text("utf-8").count("### ") == 1


def test_a_file_that_is_behind_the_store_changes_nothing(memory: recollect.Engine, files: Path) -> None:
    kept = memory.remember("Retry at once.", kind="pattern", title="Retry")
    trail(memory)
    import_files(memory, Bank(memory.settings.bank_path, files, "shop"))
    memory.edit(kept.id, content="Retry after a pause.", title="Pause")
    sample = learnings(memory)["Read a real sample first"]
    memory.edit(sample.id, content="Read two real samples first.")
    done = import_files(memory, Bank(memory.settings.bank_path, files, "shop"))
    assert (done.created, done.edited) == (0, 0)
    assert memory.get(kept.id).title == "Pause"


def test_an_entry_that_somebody_wrote_is_changed_and_not_doubled(memory: recollect.Engine, files: Path) -> None:
    place = Bank(memory.settings.bank_path, files, "shop")
    import_files(memory, place)
    (files / "heuristics.md").write_text(HEURISTICS.replace("Twice the cache", "Three times the cache"), "utf-8")
    done = import_files(memory, place)
    assert (done.created, done.edited) == (0, 1)
    assert learnings(memory)["Measure before caching"].content == "Three times the cache was the bug."


def test_the_trail_tells_what_holds_no_longer(memory: recollect.Engine) -> None:
    kept = memory.remember("Retry at once.", kind="pattern", title="Retry")
    gone = memory.remember("Retry for ever.", kind="pattern")
    trail(memory)
    memory.edit(kept.id, content="Retry after a pause.")
    memory.forget(gone.id)
    assert [one.description for one in trail(memory)] == ["Retry after a pause."]
    assert "Retry at once." in (memory.settings.bank_path / "patterns.md").read_text("utf-8")
    memory.edit(gone.id, state="active")
    assert {one.description for one in trail(memory)} == {"Retry after a pause.", "Retry for ever."}


def test_a_purge_reaches_the_files(memory: recollect.Engine, files: Path) -> None:
    kept = memory.remember("The door code is four nines.", kind="pattern", title="Door")
    other = memory.remember("Knock twice.", kind="pattern")
    import_files(memory, Bank(memory.settings.bank_path, files, "shop"))
    trail(memory)
    memory.forget(kept.id, purge=True)
    assert [one.memory for one in trail(memory)] == [other.id]
    assert b"four nines" not in b"".join(path.read_bytes() for path in memory.settings.home.rglob("*.md"))


def test_what_was_taken_in_and_purged_leaves_the_banks_own_files(memory: recollect.Engine) -> None:
    own = memory.settings.bank_path
    own.mkdir(parents=True)
    (own / "patterns.md").write_text("# Patterns\n\n### Door\nThe code is four nines.\n\n### Knock\nTwice.\n", "utf-8")
    import_files(memory, Bank(own))
    memory.forget(learnings(memory)["Door"].id, purge=True)
    BankWriter(memory).run()
    assert (own / "patterns.md").read_text("utf-8") == "# Patterns\n\n### Knock\nTwice.\n"


def test_the_trail_of_a_team_is_that_of_its_user(opened: Opener) -> None:
    memory = opened(user="ana")
    memory.remember("Learnt by Ana.", kind="pattern")
    memory.remember("Learnt by all.", kind="pattern", scope=Scope())
    memory.remember("Learnt by Ben.", kind="pattern", scope=Scope(user="ben"))
    assert {one.description for one in trail(memory)} == {"Learnt by Ana.", "Learnt by all."}


def test_a_trail_is_followed_anew_in_a_store_that_was_made_anew(opened: Opener) -> None:
    first = opened("one.db")
    first.remember("Learnt in the first store.", kind="pattern")
    first.remember("And this too.", kind="pattern")
    trail(first)
    second = opened("two.db")
    second.remember("Learnt in the second store.", kind="pattern")
    assert "Learnt in the second store." in {one.description for one in trail(second)}


# -- a store from the files -------------------------------------------------------------------------------------------


def kept_in(home: Path) -> settings.Settings:
    return settings.load({"RECOLLECT_HOME": str(home), "RECOLLECT_EMBEDDER": "hashing"})[0]


@pytest.mark.parametrize("damage", ["missing", "no database", "cut off", "overwritten"])
def test_a_lost_database_is_made_again_from_the_files(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "hashing")
    with recollect.open() as memory:
        for n in range(40):
            memory.remember(f"Lesson {n} of the year, told at length: {'x' * 300}", kind="heuristic", title=f"L{n}")
        memory.remember("Lesson 3 of the year, told at length: " + "x" * 300, kind="heuristic")
        BankWriter(memory).run()
        chosen = memory.settings
    path = chosen.store_path
    raw = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "no database":
            path.write_text("not a database at all, but long enough to look like one " * 20)
        case "cut off":
            path.write_bytes(raw[: len(raw) // 3])
        case "overwritten":
            path.write_bytes(raw[:8192] + b"\xff" * (len(raw) - 8192))
    done = bank.rebuild(chosen, Bank(chosen.bank_path))
    assert done.created == 40
    assert bool(done.aside) == (damage != "missing")
    assert not done.aside or Path(done.aside).exists(), "a broken database is put aside, not deleted"
    with recollect.open() as memory:
        found = learnings(memory)
        assert found["L3"].observed == 2
        again = bank.rebuild(chosen, Bank(chosen.bank_path))
        assert (again.created, again.known, again.aside) == (0, 40, ""), "a sound one is kept"


# -- learning by hand -------------------------------------------------------------------------------------------------


def test_without_a_store_a_learning_goes_to_the_files_alone(tmp_path: Path) -> None:
    chosen = settings.load({"RECOLLECT_HOME": str(tmp_path / "h"), "RECOLLECT_SEMANTIC": "off"})[0]
    one = Learning("Jitter", "Retry with jitter. key=sk-ant-api03-" + "a1B2" * 23 + "AA", "patterns", "Herds.")
    day = datetime(2026, 3, 2, tzinfo=UTC)
    bank.add_to_files(chosen, one, day)
    bank.add_to_files(chosen, one, day)
    _, (kept,) = Bank(chosen.bank_path).learnings()
    assert (kept.observed, kept.last_observed) == (2, "2026-03-02")
    assert "sk-ant" not in (chosen.bank_path / "patterns.md").read_text("utf-8")
    assert not chosen.store_path.exists()


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"description": ""}, {"reasoning": "\n"}, {"category": "tips"}, {"confidence": "sure"}]
)
def test_a_learning_says_what_and_why(wrong: dict[str, str], memory: recollect.Engine) -> None:
    good = {"name": "A", "description": "B", "category": "patterns", "reasoning": "C"}
    with pytest.raises(BadInput):
        bank.add_learning(memory, Learning(**{**good, **wrong}))  # type: ignore[arg-type]
    assert learnings(memory) == {}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    own = tmp_path / "bank"
    own.mkdir()
    with (own / "patterns.md").open("wb") as file:
        os.truncate(file.fileno(), bank.MAX_FILE + 1)
    with pytest.raises(BadInput, match=r"patterns\.md cannot be read: it has more"):
        Bank(own).learnings()
