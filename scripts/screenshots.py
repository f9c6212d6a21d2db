"""Make the pictures of docs/dashboard.md: each screen of the page, light and dark, in a real browser.

    python scripts/screenshots.py [FOLDER]

The store holds three projects of a made-up company, from training/notes, as if their last note were of today, with the
packaged model. A screen that this version of the server has not is left out.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, expect

import recollect
from recollect import Draft, Message, Scope, Source
from recollect.agents.access import Caller
from recollect.graph import Node, Relation
from recollect.ops.catalogue import BY_NAME
from recollect_eval.subject import Clock

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the browser is that of the tests
FOLDER = ROOT / "docs" / "screenshots"
SIZE: ViewportSize = {"width": 1200, "height": 780}
PHONE: ViewportSize = {"width": 390, "height": 780}
LARGEST = 100_000
PROJECTS = {"ledger": "a1", "video": "c1", "charging": "e1"}  # the files of training/notes
OWNERS = {
    "Tarra": "Ingrid Solheim",
    "Sluice": "Kwabena Osei",
    "Billforge": "Anjali Deshpande",
    "Remind": "Leila Haddad",
}
NEEDS = (("Sluice", "Tarra"), ("Tarra", "Kafka"), ("Billforge", "Kafka"), ("Remind", "Billforge"), ("Tarra", "Katalog"))
FOUND = (
    "The nightly test fails because `rating.lua` reads the tariff before `TRG_FREEZE` is set.",
    "The exports skip rows because `inv-store` commits its offset before it writes.",
    "The Remind build fails because `sepa4j` 3 dropped the old mandate class.",
)


def addresses(memory: recollect.Engine) -> dict[str, str]:
    """What is looked at on each screen, by the name of its picture."""
    decided = memory.list(limit=200, kinds=["decision"], scope=Scope(project="charging")).memories
    cited = next(one for one in decided if one.trust == "cited")
    found = {
        "today": "today",
        "memories": "memories",
        "memory": f"memories?kinds=decision&open={cited.id}",
        "recall": "recall?q=why did we turn ZUGFeRD down?",
        "context": "context?project=charging&prompt=the bill run appears to hang, shall I kill it?",
        "review": "review",
        "graph": "graph?focus=Tarra",
        "agents": "agents",
        "health": "health",
        "settings": "settings",
    }
    if "checkpoint_list" in BY_NAME:
        found["time"] = "time?from=7d"
        since = datetime.now(UTC) - timedelta(days=120)
        found["timeline"] = f"time?tab=timeline&project=charging&entity=Billforge&since={since:%Y-%m-%d}"
    if "answers" in BY_NAME:
        found["answers"] = "answers?q=Who is the service owner of Billforge?"
    return found


def take(page: Page, path: Path) -> None:
    driver = page.context.new_cdp_session(page)
    for quality in (85, 70, 55):
        told = driver.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        picture = base64.b64decode(told["data"])
        if len(picture) <= LARGEST:
            break
    path.write_bytes(picture)


def pictures(memory: recollect.Engine, server: Any, folder: Path) -> None:
    from browser import browser, enter

    with browser() as chrome:
        for scheme in ("light", "dark"):
            context = chrome.new_context(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
            enter(context, server)
            page = context.new_page()
            for name, address in addresses(memory).items():
                page.goto(f"{server.url}/#/{address}")
                expect(page.locator("main .waiting")).to_have_count(0)
                page.wait_for_timeout(1500)  # for charts and the graph, which are drawn and then settle
                take(page, folder / f"{name}-{scheme}.webp")
            page.set_viewport_size(PHONE)
            screen, name = ("memories", "phone") if scheme == "light" else ("today", "phone-today")
            page.goto(f"{server.url}/#/{screen}")
            page.wait_for_timeout(1000)
            take(page, folder / f"{name}.webp")
            context.close()


def made(path: Path) -> None:
    """The notes of each project in their order, ties between them, and what waits for a person."""
    told = sorted(
        (json.loads(line) | {"project": project}
        for project, name in PROJECTS.items()
        for line in (ROOT / "training" / "notes" / f"{name}.jsonl").read_text("utf-8").splitlines()
        if '"content"' in line),
        key=lambda note: str(note["date"]),
    )  # fmt: skip
    since = datetime.now(UTC) - timedelta(hours=2) - _day(told[-1])
    clock = Clock(datetime.now(UTC))
    ids: dict[str, str] = {}
    with recollect.open(path, actor="claude-code", now=clock) as memory:
        clock.moment = _day(told[0]) + since
        graph = memory.graph()
        graph.create([Node(name, "person", ("owns a service of the charging platform",)) for name in OWNERS.values()])
        services = dict.fromkeys((*OWNERS, *(name for pair in NEEDS for name in pair)))
        graph.create([Node(name, "service", (f"is part of {'charging' if name in OWNERS else 'the platform'}",))
                      for name in services])  # fmt: skip
        graph.relate([*(Relation(name, "owned_by", who) for name, who in OWNERS.items()),
                      *(Relation(name, "depends_on", other) for name, other in NEEDS)])  # fmt: skip
        for note in told:
            clock.moment = _day(note) + since
            ids[note["key"]] = memory.remember_many([_draft(note)])[0].id
            for older in note.get("supersedes", ()):
                memory.link(ids[note["key"]], "supersedes", ids[older], reason="the newer one holds")
        clock.moment = datetime.now(UTC) - timedelta(days=3)
        for at, words in enumerate(FOUND):
            said = (("user", "What did you find?"), ("assistant", words), ("user", "Great, that worked, thanks!"))
            talk = [Message(who, text, id=f"{at}-{n}") for n, (who, text) in enumerate(said)]
            memory.capture(talk, session=f"session-{at}", scope=Scope(project="charging"))
        clock.moment = datetime.now(UTC) - timedelta(hours=3)  # a handoff does not wait for days
        team(memory, clock)


def team(memory: recollect.Engine, clock: Clock) -> None:
    """Three agents with a pool, and work that they hand over to each other."""
    tenant = memory.settings.tenant
    claude, codex, gemini = (Caller(tenant, name).for_model() for name in ("claude-code", "codex", "gemini-cli"))

    def do(caller: Caller, operation: str, **given: Any) -> Any:
        clock.moment += timedelta(minutes=7)
        return BY_NAME[operation].call(memory, memory.agents.enter(caller), given)

    for caller in (gemini, codex, claude):
        do(caller, "get_agent_info")
    pool = do(claude, "create_pool", name="bill run", purpose="What the monthly bill run needs").id
    shown = [one.id for one in memory.list(limit=6, kinds=["decision"], scope=Scope(project="charging")).memories]
    for caller in (codex, gemini):
        do(caller, "join_pool", pool=pool)
    for id in shown:
        do(claude, "share_memory_to_scope", pool=pool, memory=id)
    done = do(claude, "initiate_handoff", task="Write the test for the SEPA mandate class.", target="codex")
    do(codex, "accept_handoff", handoff=done.id)
    do(codex, "complete_handoff", handoff=done.id, result={"commit": "4f1c2ab"})
    taken = do(
        claude, "initiate_handoff", task="Find out why the exports skip rows.", target="gemini", memories=shown[:2]
    )
    do(gemini, "accept_handoff", handoff=taken.id)
    do(codex, "initiate_handoff", task="Look for decisions on ZUGFeRD before we answer.", needs="decision_read")
    no = do(codex, "initiate_handoff", task="Kill the bill run that hangs.", target="claude_code")
    do(claude, "reject_handoff", handoff=no.id, reason="It is slow, not stuck; the runbook says wait.")


def _day(note: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(note["date"]).replace(hour=9, tzinfo=UTC)


def _draft(note: dict[str, Any]) -> Draft:
    """A note as it was made; decisions and incidents come from documents, and quote them."""
    written = note["kind"] in ("decision", "incident", "doc", "procedure")
    page = Source("", kind="document", uri=f"docs/{note['key']}.md", title=note.get("title") or note["key"],
                  content=f"{note['content']}\n\n{note.get('reasoning', '')}")  # fmt: skip
    return Draft(
        note["content"], kind=note["kind"], title=note.get("title", ""), reasoning=note.get("reasoning", ""),
        tags=tuple(note.get("tags", ())), refs=tuple(note.get("refs", ())), scope=Scope(project=note["project"]),
        source=page if written else None, evidence=(note["content"],) if written else (),
    )  # fmt: skip


def lived(memory: recollect.Engine) -> None:
    """Some use, so that there is something to see: questions of an assistant, and answers that were kept."""
    assistant = memory.for_caller(actor="claude-code")
    where = Scope(project="charging")
    for question in ("what happened when the bill run was killed?", "who is on call for Tarra?", "unmasked IBANs"):
        assistant.recall(question, scope=where, limit=4)
    for question in ("Who is the service owner of Billforge?", "Is VAT computed per line?", "Who feeds the cat?"):
        for _ in range(4):  # what was asked three times is kept
            assistant.answers.ask(question, scope=where)
    memory.stats()


def main() -> None:
    from served import serving

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as work:
        os.environ["RECOLLECT_HOME"] = f"{work}/home"
        made(Path(work, "store.db"))
        with recollect.open(Path(work, "store.db")) as memory, serving(memory) as server:
            lived(memory)
            pictures(memory, server, folder)


if __name__ == "__main__":
    main()
