"""Memories that cite code, and memories of a branch: what becomes of them when the code moves on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import Opener
from recollect import Memory, Scope
from recollect.agents.places import Places, Seen
from recollect.cli import present
from recollect.ops import words
from recollect.project import truth
from recollect.project.git import find
from recollect.project.ingest import ingest
from recollect.project.refresh import refresh
from repositories import Repo

SHOP = Scope(project="shop")
POOL = "class Pool:\n    def take(self):\n        return 1\n\n    def give(self):\n        return 2\n"


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.put("Begin", {"src/pool.py": POOL, "README.md": "# Shop\n"})
    return repo


def told(engine: recollect.Engine, repo: Repo, content: str, *refs: str, branch: str = "", **more: object) -> Memory:
    """Remember something that cites the repository as it is now."""
    scope = Scope(project="shop", branch=branch)
    cited = truth.with_blobs(refs, find(repo.path))
    memory = engine.remember(content, refs=list(cited), scope=scope, **more).memory  # type: ignore[arg-type]
    assert memory
    return memory


def looked(engine: recollect.Engine, repo: Repo) -> dict[str, tuple[str, ...]]:
    return {one.id: one.reasons for one in truth.verify(engine, find(repo.path), "shop").stale}


# -- citations --------------------------------------------------------------------------------------------------------


def test_what_a_file_and_a_symbol_are_is_written_down_when_they_are_cited(repo: Repo) -> None:
    refs = ("src/pool.py", "src/pool.py::Pool.take", "https://x.example/src/pool.py", "nowhere.py", "commit:1a2b3c4")
    made = truth.with_blobs(refs, find(repo.path))
    assert made[:5] == refs
    assert made[5] == f"blob:src/pool.py@{repo.git('rev-parse', 'HEAD:src/pool.py')}"
    assert made[6].startswith("blob:src/pool.py::Pool.take@")
    assert len(made) == 7
    assert truth.with_blobs(made, find(repo.path)) == made
    assert truth.with_blobs(["/etc/passwd", "../x"], find(repo.path)) == ("/etc/passwd", "../x")
    whole = str(repo.path / "README.md")
    assert truth.with_blobs([whole], find(repo.path))[1].startswith("blob:README.md@")


def test_a_file_that_changed_makes_a_memory_stale_until_it_is_as_it_was(
    repo: Repo, memory: recollect.Engine
) -> None:  # fmt: skip
    kept = told(memory, repo, "The pool hands out one at a time.", "src/pool.py", tags=["db"])
    other = told(memory, repo, "The shop has a readme.", "README.md")
    plain = told(memory, repo, "Nothing is cited here.", "JIRA-7")
    assert looked(memory, repo) == {}
    head = memory.head
    repo.write("src/pool.py", POOL + "# more\n")
    assert looked(memory, repo) == {kept.id: ("src/pool.py changed since",)}
    marked = memory.get(kept.id)
    assert marked.tags == ("db", "stale")
    assert "stale:src/pool.py changed since" in marked.refs
    assert memory.history(kept.id)[-1].reason == "stale: src/pool.py changed since"
    again = memory.head
    assert looked(memory, repo) == {kept.id: ("src/pool.py changed since",)}
    assert memory.head == again, "a second look changes nothing"
    repo.write("src/pool.py", POOL)
    assert truth.verify(memory, find(repo.path), "shop").recovered == (kept.id,)
    assert (memory.get(kept.id).tags, memory.get(kept.id).refs) == (("db",), kept.refs)
    assert {memory.get(one.id).version for one in (other, plain)} == {other.version, plain.version}
    assert memory.head > head


def test_what_is_gone_is_said_by_name(repo: Repo, memory: recollect.Engine) -> None:
    file = told(memory, repo, "The readme tells how to begin.", "README.md")
    symbol = told(memory, repo, "Pool.give never fails.", "src/pool.py::Pool.give")
    untouched = told(memory, repo, "Pool.take may fail.", "src/pool.py::Pool.take")
    (repo.path / "README.md").unlink()
    repo.write("src/pool.py", "import os\n\n\n" + POOL.replace("give", "put_back"))
    assert looked(memory, repo) == {
        file.id: ("README.md is gone",),
        symbol.id: ("Pool.give is gone from src/pool.py",),
    }
    repo.write("src/pool.py", POOL.replace("return 1", "return 3"))
    assert looked(memory, repo)[untouched.id] == ("Pool.take in src/pool.py changed since",)


@pytest.mark.parametrize(
    ("text", "symbol", "found"),
    [
        ("func (p *Pool) Take() int {\n\treturn 1\n}\n\nfunc Give() {\n}\n", "Take",
         "func (p *Pool) Take() int {\n\treturn 1\n}"),
        ("pub fn take(&self) -> u8 {\n    1\n}\nfn give() {}\n", "Pool::take",
         "pub fn take(&self) -> u8 {\n    1\n}"),
        ("export const take = () => {\n  return 1\n}\nexport const give = 1\n", "take",
         "export const take = () => {\n  return 1\n}"),
        ("static int take(void)\n{\n    return 1;\n}\nint give;\n", "take",
         "static int take(void)\n{\n    return 1;\n}"),
        ("class A:\n    async def take(\n        self,\n    ) -> int:\n        return 1\n\n    b = 1\n", "A.take()",
         "    async def take(\n        self,\n    ) -> int:\n        return 1"),
        ("return take(1)\nif take(2):\n    pass\n", "take", ""),
        ("LIMIT = 5\nOTHER = 6\n", "LIMIT", "LIMIT = 5"),
        ("", "take", ""),
    ],
)  # fmt: skip
def test_the_definition_of_a_symbol_is_found_in_any_language(text: str, symbol: str, found: str) -> None:
    assert truth.definition(text, symbol) == found


def test_a_commit_that_no_branch_holds_is_told(repo: Repo, memory: recollect.Engine, tmp_path: Path) -> None:
    first = repo.git("rev-parse", "HEAD")
    lost = repo.put("To be undone", {"x": "1"})
    kept = told(memory, repo, "Decided when the pool was made.", f"commit:{first}")
    gone = told(memory, repo, "Decided in a commit that is gone.", f"commit:{lost[:12]}")
    never = told(memory, repo, "Decided nowhere.", "commit:0123456789ab")
    assert set(looked(memory, repo)) == {never.id}
    repo.git("reset", "-q", "--hard", first)
    assert looked(memory, repo)[gone.id] == (f"commit {lost[:12]} is on no branch",)
    assert kept.id not in looked(memory, repo)
    repo.put("More", {"y": "1"})
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    shallow = truth.verify(memory, find(tmp_path / "shallow"), "shop", mark=False)
    assert shallow.stale == (), "of a shallow clone nobody knows what was before"


def test_switching_branches_makes_nothing_stale(repo: Repo, memory: recollect.Engine) -> None:
    kept = told(memory, repo, "The pool hands out one at a time.", "src/pool.py")
    repo.git("checkout", "-q", "-b", "side")
    repo.put("Change the pool", {"src/pool.py": POOL.replace("1", "10")})
    staged = told(memory, repo, "The pool hands out ten on the side.", "src/pool.py", branch="side")
    assert looked(memory, repo) == {}, "main still says what was cited"
    repo.git("checkout", "-q", "main")
    assert looked(memory, repo) == {}, "and so does the side"
    repo.put("Change it here too", {"src/pool.py": POOL.replace("1", "100")})
    assert set(looked(memory, repo)) == {kept.id}
    assert staged.id not in looked(memory, repo)


def test_somebody_who_looked_can_say_that_it_is_still_true(repo: Repo, memory: recollect.Engine) -> None:
    kept = told(memory, repo, "The pool hands out one at a time.", "src/pool.py")
    repo.put("Change it", {"src/pool.py": POOL + "# more\n"})
    assert kept.id in looked(memory, repo)
    truth.accept(memory, find(repo.path), kept.id)
    assert looked(memory, repo) == {}
    assert "stale" not in memory.get(kept.id).tags
    assert memory.history(kept.id)[-1].reason == "looked at: still true"
    version = memory.get(kept.id).version
    assert truth.accept(memory, find(repo.path), kept.id).version == version


def test_a_look_without_marking_changes_nothing(repo: Repo, memory: recollect.Engine) -> None:
    kept = told(memory, repo, "The pool hands out one at a time.", "src/pool.py")
    repo.put("Change it", {"src/pool.py": "# all new\n"})
    head = memory.head
    found = truth.verify(memory, find(repo.path), "shop", mark=False)
    assert [one.id for one in found.stale] == [kept.id]
    assert memory.head == head


def test_other_projects_are_left_alone(repo: Repo, memory: recollect.Engine) -> None:
    cited = truth.with_blobs(["src/pool.py"], find(repo.path))
    other = memory.remember("Of another project.", refs=list(cited), scope=Scope(project="other"))
    repo.put("Change it", {"src/pool.py": "# all new\n"})
    assert looked(memory, repo) == {}
    assert memory.get(other.id).tags == ()


def test_what_is_stale_is_shown_so_and_can_be_withheld(repo: Repo, memory: recollect.Engine) -> None:
    from datetime import UTC, datetime

    from recollect.ops.words import recalled

    told(memory, repo, "The pool hands out one connection at a time.", "src/pool.py")
    repo.put("Change it", {"src/pool.py": "# all new\n"})
    looked(memory, repo)
    found = memory.recall("what does the pool hand out?", scope=SHOP)
    assert 'stale="src/pool.py changed since"' in recalled(found, datetime.now(UTC))
    assert 'stale="src/pool.py changed since"' in memory.context("what does the pool hand out?", scope=SHOP).text
    withheld = memory.recall("what does the pool hand out?", scope=SHOP, recipe="verified", explain=True)
    assert withheld.hits == ()
    assert withheld.explained is not None
    assert [why for _, why in withheld.explained.dropped] == ["stale: src/pool.py changed since"]


# -- branches ---------------------------------------------------------------------------------------------------------


def on_side(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.put("Work", {"work.py": "1\n"})
    repo.put("More work", {"more.py": "2\n"})


def merge(repo: Repo) -> None:
    repo.git("checkout", "-q", "main")
    repo.put("Meanwhile", {"other.py": "1\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "Merge branch 'side'", "side")


def fast_forward(repo: Repo) -> None:
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--ff-only", "side")


def squash(repo: Repo) -> None:
    repo.git("checkout", "-q", "main")
    repo.put("Meanwhile", {"other.py": "1\n"})
    repo.git("merge", "-q", "--squash", "side")
    repo.put("All of the side")


def rebase(repo: Repo) -> None:
    repo.git("checkout", "-q", "main")
    repo.put("Meanwhile", {"other.py": "1\n"})
    repo.git("checkout", "-q", "--detach", "side")
    repo.git("rebase", "-q", "main")
    head = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--ff-only", head)


@pytest.mark.parametrize("deleted", [False, True], ids=["kept", "deleted"])
@pytest.mark.parametrize("way", [merge, fast_forward, squash, rebase])
def test_what_was_learnt_on_a_branch_is_promoted_when_it_is_merged(
    repo: Repo, memory: recollect.Engine, way: object, deleted: bool
) -> None:
    on_side(repo)
    kept = told(memory, repo, "The work is done in threads.", branch="side", kind="decision")
    refresh(memory, repo.path, "shop")
    assert memory.get(kept.id).scope.branch == "side", "not merged yet"
    main = Scope(project="shop", branch="main")
    assert [hit.memory.id for hit in memory.recall("threads", scope=main, kinds=["decision"])] == []
    seen_there = memory.recall("threads", scope=Scope(project="shop", branch="side"), kinds=["decision"])
    assert [hit.memory.id for hit in seen_there] == [kept.id]
    way(repo)  # type: ignore[operator]
    if deleted:
        repo.git("branch", "-q", "-D", "side")
    done = refresh(memory, repo.path, "shop")
    assert kept.id in done.promoted
    assert memory.get(kept.id).scope == SHOP
    assert memory.history(kept.id)[-1].reason == "branch side was merged"
    assert refresh(memory, repo.path, "shop") == type(done)("shop"), "a second time changes nothing"


def test_what_was_learnt_on_a_deleted_branch_is_archived(repo: Repo, memory: recollect.Engine) -> None:
    on_side(repo)
    kept = told(memory, repo, "The work is done in threads.", branch="side")
    said = told(memory, repo, "We should try threads.", branch="side", kind="turn")
    refresh(memory, repo.path, "shop")
    repo.git("checkout", "-q", "main")
    repo.git("branch", "-q", "-D", "side")
    done = refresh(memory, repo.path, "shop")
    assert kept.id in done.archived
    assert memory.get(kept.id).state == "archived"
    assert memory.history(kept.id)[-1].reason == "branch side was deleted without being merged"
    assert (memory.get(said.id).state, memory.get(said.id).scope) == ("active", SHOP), "what was said stays said"
    assert memory.edit(kept.id, state="active").state == "active", "and can be brought back"


def test_what_was_learnt_on_a_branch_goes_with_its_new_name(repo: Repo, memory: recollect.Engine) -> None:
    on_side(repo)
    kept = told(memory, repo, "The work is done in threads.", branch="side")
    refresh(memory, repo.path, "shop")
    repo.git("branch", "-m", "side", "threads")
    done = refresh(memory, repo.path, "shop")
    assert done.archived == ()
    assert (memory.get(kept.id).state, memory.get(kept.id).scope.branch) == ("active", "threads")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge it", "threads")
    assert kept.id in refresh(memory, repo.path, "shop").promoted


def test_a_branch_on_which_nothing_was_done_is_not_merged(repo: Repo, memory: recollect.Engine) -> None:
    repo.git("checkout", "-q", "-b", "side")
    kept = told(memory, repo, "To be done in threads.", branch="side")
    refresh(memory, repo.path, "shop")
    repo.git("checkout", "-q", "main")
    repo.put("Meanwhile", {"other.py": "1\n"})
    refresh(memory, repo.path, "shop")
    assert memory.get(kept.id).scope.branch == "side"


def test_a_branch_that_was_never_seen_here_is_left_alone(repo: Repo, memory: recollect.Engine) -> None:
    kept = told(memory, repo, "Learnt in another clone.", branch="elsewhere")
    repo.put("Go on", {"x": "1"})
    assert refresh(memory, repo.path, "shop").archived == ()
    assert memory.get(kept.id).scope.branch == "elsewhere"


def test_what_the_project_knows_already_is_not_doubled_by_a_merge(repo: Repo, memory: recollect.Engine) -> None:
    on_side(repo)
    staged = told(memory, repo, "The work is done in threads.", branch="side")
    known = told(memory, repo, "The work is done in threads.")
    refresh(memory, repo.path, "shop")
    merge(repo)
    done = refresh(memory, repo.path, "shop")
    assert (staged.id in done.archived, memory.get(known.id).state) == (True, "active")


# -- commits ----------------------------------------------------------------------------------------------------------


def commits(engine: recollect.Engine) -> list[Memory]:
    return list(engine.list(kinds=("commit",), limit=1000).memories)


def test_commits_become_memories_once_and_only_what_is_new(repo: Repo, memory: recollect.Engine) -> None:
    repo.put("Pool connections\n\nBecause opening one takes 40 ms.", {"src/pool.py": POOL + "# fast\n"}, author="Ben")
    assert refresh(memory, repo.path, "shop").commits == 2
    assert refresh(memory, repo.path, "shop").commits == 0
    repo.put("Begin", {"README.md": "# Shop 2\n"})  # the same words again: another commit
    assert refresh(memory, repo.path, "shop").commits == 1
    [hit, *_] = memory.recall("why do we pool connections?", scope=SHOP, kinds=["commit"])
    assert hit.memory.title == "Pool connections"
    assert "src/pool.py" in hit.memory.content
    assert (hit.memory.trust, hit.memory.speaker) == ("cited", "Ben")
    source, _ = memory.evidence(hit.memory.id)
    assert source is not None
    assert (source.kind, source.uri) == ("commit", hit.memory.refs[0])
    Places(memory.settings).saw(find(repo.path).git, Seen())  # what was noted is lost
    assert refresh(memory, repo.path, "shop").commits == 0
    assert len(commits(memory)) == 3


def test_so_many_commits_are_taken_in_at_first_and_none_where_the_settings_say_so(
    repo: Repo, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        repo.put(f"Commit {number}", {"a": str(number)})
    monkeypatch.setenv("RECOLLECT_COMMITS_AT_FIRST", "2")
    assert refresh(opened("few.db"), repo.path, "shop").commits == 2
    monkeypatch.setenv("RECOLLECT_COMMITS", "off")
    assert refresh(opened("none.db"), repo.path, "shop").commits == 0


def test_a_commit_of_a_branch_is_staged_there_and_follows_it(repo: Repo, memory: recollect.Engine) -> None:
    on_side(repo)
    refresh(memory, repo.path, "shop")
    assert {one.title: one.scope.branch for one in commits(memory)} == {
        "Begin": "", "Work": "side", "More work": "side"
    }  # fmt: skip
    fast_forward(repo)
    refresh(memory, repo.path, "shop")
    assert {one.scope.branch for one in commits(memory)} == {""}


def test_secrets_and_rejected_words_in_commits_stay_out(repo: Repo, memory: recollect.Engine) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo.put(f"Push with {secret}", {"x": "1"})
    refresh(memory, repo.path, "shop")
    assert all(secret not in one.content for one in commits(memory))
    [wrong] = [one for one in commits(memory) if one.title.startswith("Begin")]
    memory.reject(wrong.id)
    Places(memory.settings).saw(find(repo.path).git, Seen())
    refresh(memory, repo.path, "shop")
    assert memory.get(wrong.id).state == "rejected"


def test_an_empty_repository_and_one_with_a_rewritten_history_are_kept_up_with(
    tmp_path: Path, memory: recollect.Engine
) -> None:
    repo = Repo(tmp_path / "new")
    assert refresh(memory, repo.path, "new").commits == 0
    repo.put("First", {"a": "1"})
    assert refresh(memory, repo.path, "new").commits == 1
    repo.git("commit", "-q", "--amend", "-m", "First, in other words")
    done = refresh(memory, repo.path, "new")
    assert done.commits == 1
    [old] = [one for one in commits(memory) if one.title == "First"]
    assert old.id in done.stale, "the commit it came from is on no branch any more"


# -- what was ingested from a repository ------------------------------------------------------------------------------

TAKE = 'def take():\n    """{}"""\n    return 1\n\n\ndef give():\n    """Put one back."""\n    return 2\n'


def said(engine: recollect.Engine, branch: str = "main", **filters: object) -> str:
    """What is seen from a branch."""
    found = engine.list(scope=SHOP, limit=1000, **filters).memories  # type: ignore[arg-type]
    return "\n".join(memory.content for memory in found if memory.scope.branch in ("", branch))


def test_code_that_changed_is_stale_until_it_is_read_again(repo: Repo, memory: recollect.Engine) -> None:
    repo.put("Take", {"src/pool.py": TAKE.format("Wait for one without a limit.")})
    ingest(memory, repo.path, project="shop")
    repo.put("Take again", {"src/pool.py": TAKE.format("Wait for one, thirty seconds at most.")})
    marked = truth.verify(memory, find(repo.path), "shop")
    stale = [memory.get(one.id) for one in marked.stale]
    assert {one.title.partition(":")[0] for one in stale} == {"src/pool.py", "take"}
    assert all("stale" in one.tags for one in stale)
    repo.write("src/pool.py", TAKE.format("Wait for one without a limit."))
    assert len(truth.verify(memory, find(repo.path), "shop").recovered) == 2, "as it was when it was read"
    repo.git("checkout", "-q", ".")
    assert refresh(memory, repo.path, "shop").files == 1
    assert "thirty seconds" in said(memory)
    assert "without a limit" not in said(memory)
    assert truth.verify(memory, find(repo.path), "shop").stale == ()


def test_a_repository_is_ingested_with_its_commits_and_a_part_of_it_without(
    repo: Repo, memory: recollect.Engine
) -> None:
    repo.put("Choose the pool", {"docs/a.md": "# A\n\nOne.\n"})
    assert ingest(memory, repo.path / "docs", project="shop").commits == 0
    assert ingest(memory, repo.path, project="shop", dry_run=True).commits == 0
    assert ingest(memory, repo.path, project="shop").commits == 2
    assert ingest(memory, repo.path, project="shop").commits == 0
    assert "Choose the pool" in said(memory, kinds=("commit",))


def test_what_a_branch_changed_is_ingested_for_the_branch_alone(repo: Repo, memory: recollect.Engine) -> None:
    repo.put(
        "Guide", {"guide.md": "# Guide\n\n## Deploys\n\nOn Thursdays.\n\n## Tests\n\nRun make.\n", "old.md": "Old.\n"}
    )
    ingest(memory, repo.path, project="shop")
    repo.git("checkout", "-q", "-b", "side")
    changed = {
        "guide.md": "# Guide\n\n## Deploys\n\nOn Mondays.\n\n## Tests\n\nRun make.\n",
        "new.md": "# New\n\nFresh.\n",
    }
    repo.put("Change", changed)
    repo.git("rm", "-q", "old.md")
    report = ingest(memory, repo.path, project="shop")
    assert (report.branch, report.created, report.superseded, report.retired) == ("side", 2, 0, 0)
    assert "On Thursdays." in said(memory)
    assert "Old." in said(memory)
    assert "On Mondays." not in said(memory)
    assert "Fresh." not in said(memory)
    assert said(memory, "side").count("Run make.") == 1
    assert "On Mondays." in said(memory, "side")
    repo.put("Change again", {"guide.md": changed["guide.md"].replace("Mondays", "Tuesdays")})
    assert ingest(memory, repo.path, project="shop").superseded == 1
    assert "On Mondays." not in said(memory, "side")


@pytest.mark.parametrize("followed", [True, False], ids=["followed", "ingested"])
def test_what_a_branch_said_is_the_projects_once_it_is_merged(
    repo: Repo, memory: recollect.Engine, followed: bool
) -> None:
    repo.put("Guide", {"guide.md": "# Guide\n\nWe deploy on Thursdays.\n"})
    ingest(memory, repo.path, project="shop")
    repo.git("checkout", "-q", "-b", "side")
    repo.put("Change", {"guide.md": "# Guide\n\nWe deploy on Mondays.\n"})
    ingest(memory, repo.path, project="shop")
    refresh(memory, repo.path, "shop")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "side")
    refresh(memory, repo.path, "shop") if followed else ingest(memory, repo.path, project="shop")
    refresh(memory, repo.path, "shop")
    assert said(memory, kinds=("doc",)) == "We deploy on Mondays."
    repo.put("Change again", {"guide.md": "# Guide\n\nWe deploy on Fridays.\n"})
    ingest(memory, repo.path, project="shop")
    assert said(memory, kinds=("doc",)) == "We deploy on Fridays."


def test_a_branch_that_is_behind_takes_nothing_back(repo: Repo, memory: recollect.Engine) -> None:
    repo.put("Guide", {"guide.md": "# Guide\n\nWe deploy on Thursdays.\n"})
    repo.git("branch", "-q", "side")
    repo.put("Newer", {"guide.md": "# Guide\n\nWe deploy on Mondays.\n"})
    ingest(memory, repo.path, project="shop")
    repo.git("checkout", "-q", "side")
    assert ingest(memory, repo.path, project="shop").superseded == 0
    assert said(memory, kinds=("doc",)) == "We deploy on Mondays."


def test_a_commit_is_listed_with_its_own_time(repo: Repo, memory: recollect.Engine) -> None:
    refresh(memory, repo.path, "shop")
    made = datetime.fromtimestamp(int(repo.git("log", "-1", "--format=%at")), UTC)
    later = made + timedelta(days=3)
    assert "3 days ago" in words.title_line(commits(memory)[0], later)
    assert "3 days ago" in present.listed(memory.list(kinds=("commit",)), present.Look(now=later, zone=UTC))
