"""Hooks: what the daemon does with the events of an assistant's hooks.

    start    -> standing rules, project facts and what bears on the last talk, as one fenced block
    prompt   -> what helps with the prompt and was not shown yet
    tool     -> a line on what was run or changed
    stop, compact, end -> what was said since, from the transcript or the event

Everything said is stored as a turn, once: it is known by the name the host gives it, or by session, speaker and words.
A delivery is *queued* in the spool, *stored* when its sources are, and *readable* when its memories can be recalled;
`spool/receipts.jsonl` only maps deliveries to memories.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from .. import text, times
from ..agents import access
from ..agents.access import Caller
from ..agents.home import project_of
from ..agents.places import Places
from ..capture import events, transcripts
from ..capture.echo import Echoes, own_words
from ..capture.events import Event
from ..capture.sessions import Session, session
from ..capture.transcripts import Said
from ..engine import Engine
from ..entrypoints import spool
from ..entrypoints.private import write_private
from ..errors import BadInput, GitUnavailable, NoRepository, NotFound, RecollectError, StoreUnavailable
from ..language import terms
from ..models.tokens import Tokens
from ..project import brief
from ..project.bank import reason_disabled
from ..project.git import checked_out, feature_branch, visible_branch
from ..project.refresh import refresh
from ..recall.context import Budgets, Parts, build
from ..recall.recipes import recipe
from ..recall.select import tells
from ..redact import redact
from ..regular_files import check_path
from ..types import Memory, Message, Noun, Scope
from .waiting import waiting_note

log = logging.getLogger("recollect.hooks")
CONVERSATION = recipe("conversation")
BRIEF, RECALLED = 2000, CONVERSATION.max_tokens or 500  # tokens at the start of a session, and for a prompt
MAX_BRIEF = 9500  # characters: Claude Code cuts what a hook says at ten thousand
MAX_ASKED = 4000  # characters of one message that recall is asked with
FEW_WORDS = 3  # content words below which a prompt is understood by what came before it
FEW_TURNS = 50  # among which the session before is looked for
MAX_HITS = 3  # memories that a prompt is given
AGAIN = 5.0  # seconds within which a second start of a session is a second copy of the hook
TELLING = ("stop", "compact", "end")  # moments at which what was said since is looked up
MAX_ECHOES = 50  # memories shown last that a reply is compared with
GIT = "git"  # the host that git's own hooks name
PREVIEWED = "claude-code"  # the host as which a preview asks; it takes what it is given as plain text
PROBE = "recollect-doctor-"  # how the session of a probe begins, which leaves no receipt
LEDGER, LEDGER_LINES = "receipts.jsonl", 1000
State = Literal["queued", "stored", "readable", "refused"]
_ONLY_KNOWLEDGE = Budgets(system=0, standing=0, project=0, task=0, knowledge=RECALLED, history=0)
_count = Tokens()


@dataclass(frozen=True, slots=True)
class Receipt(Noun):
    """What became of one delivery of a hook."""

    id: str
    state: State
    host: str
    event: str
    at: str
    turns: int = 0
    reason: str = ""


def answer(engine: Engine, caller: Caller, home: Path, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Do what an event asks for; gives what the hook shall print, and the receipt of what was stored."""
    caller.may("read", "A hook")
    caller.may("write", "A hook")
    return _handle(engine, caller, home, envelope, late=False)


def _handle(engine: Engine, caller: Caller, home: Path, envelope: Mapping[str, Any], *, late: bool) -> dict[str, Any]:
    """One event; one that comes late is only stored, because nobody waits for an answer any more."""
    if envelope.get("host") == GIT:
        return _committed(engine, caller, envelope)
    event, at = _read_envelope(envelope)
    if caller.token:  # somebody who is elsewhere has no files here
        event = replace(event, transcript="")
    where = _scope(caller, event, str(envelope.get("project") or ""))
    if event.moment == "start" and not caller.token:
        _note_place(engine, where.project, event.cwd)
    seen = where
    if engine.settings.branches == "on" and not caller.token:
        where, seen = replace(where, branch=feature_branch(event.cwd)), replace(where, branch=visible_branch(event.cwd))
    if not late and not event.session.startswith(PROBE):
        caller = engine.agents.attend(caller, event.host, event.session, ended=event.moment == "end")
    with session(home, *names(caller.tenant, event.host, event.session, caller.wall.user)) as known:
        said = ""
        if event.moment == "start" and not late:
            said = _brief(engine, caller, event, seen, known)
        elif event.moment == "prompt" and not late:
            said = recalled(engine, event, seen, known)
        kept = _keep(engine, event, where.stored(), known, at)
    receipt = str(envelope.get("id") or spool.new_id())
    if kept and not event.session.startswith(PROBE):
        _note(home, {"id": receipt, "at": at, "host": event.host, "event": event.name, "memories": kept})
    return {"print": events.answer(event, said), "receipt": receipt if kept else "", "turns": len(kept)}


def _committed(engine: Engine, caller: Caller, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """What git's own hooks tell: a repository on this machine has moved. Coming late or twice, it changes nothing."""
    folder = check_path(str(envelope.get("cwd") or ""))
    if not caller.token and folder:
        where = caller.scope({"project": str(envelope.get("project") or "") or project_of(folder)})
        _note_place(engine, where.project, folder)
        try:
            refresh(engine, Path(folder), where.project)
        except (NoRepository, GitUnavailable) as error:  # moved away, or no repository any more
            log.info("a repository could not be kept up with: %s", error)
    return {"print": "", "receipt": "", "turns": 0}


def _note_place(engine: Engine, project: str, folder: str) -> None:
    """Where a project lies: the top of its work tree, for the daemon to keep up with."""
    if project and (found := checked_out(folder)):
        Places(engine.settings).note(project, found[0])


def names(tenant: str, host: str, session: str, user: str = "") -> tuple[str, ...]:
    """What makes a session one of its own: two tenants may use the same words for theirs."""
    return tenant, user, host, session


def _read_envelope(envelope: Mapping[str, Any]) -> tuple[Event, float]:
    if not isinstance(envelope, Mapping) or not isinstance(envelope.get("input"), Mapping):
        raise BadInput("A hook sends an object with host, event and input.", fix="Use: recollect hook EVENT --host …")
    host, name, cwd = (str(envelope.get(field) or "") for field in ("host", "event", "cwd"))
    at = envelope.get("at")
    sane = isinstance(at, int | float) and 0 < at < 4e9
    event = events.read(host, name, envelope["input"], check_path(cwd))
    check_path(event.cwd)
    return event, float(at or 0) if sane else time.time()


def _scope(caller: Caller, event: Event, named: str) -> Scope:
    """Where the session takes place: in the project it names, where the caller is at home, or in that of its folder."""
    if named:
        return caller.scope({"project": named})
    if caller.wall.project or caller.home.project:
        return caller.scope({})
    project = os.path.basename(event.cwd.rstrip("/"))[:200] if caller.token else project_of(event.cwd)
    return caller.scope({"project": project})


def _brief(engine: Engine, caller: Caller, event: Event, where: Scope, known: Session) -> str:
    """The context of a session that starts; after a compaction what was shown before is gone and may come again."""
    now = time.time()
    if now - known.started < AGAIN:
        return ""
    _sum_up_last(engine, event, where)
    fresh = not known.turns and not known.offset
    known.started, known.shown = now, []
    if fresh and event.reason in ("resume", "fork", "compact", "clear"):
        known.offset = transcripts.length(event.transcript)  # what is copied from an earlier session was said there
    if not events.takes_context(event) or engine.settings.inject == "off":
        return ""
    wanted = brief.BriefRequest(
        folder="" if caller.token else event.cwd,  # somebody who is elsewhere has no folder here
        scope=where, across=not caller.wall.project, talk=_asked(known.said or _last_talk(engine, where)),
        limit=engine.settings.brief_limit, tokens=BRIEF, characters=MAX_BRIEF, files=not caller.token,
        peek=event.session.startswith(PROBE), note=waiting_note(engine, caller),
    )  # fmt: skip
    found = brief.build(engine, wanted)
    known.showed(found.memories)
    _saw(engine, found.memories, "start", event, where, "")
    return found.text


def _saw(
    engine: Engine, ids: Sequence[str], way: str, event: Event, where: Scope, asked: str,
    scores: Mapping[str, float] | None = None,
) -> None:  # fmt: skip
    """Note into which session memories were put, so that it can be told later, and whether it helped."""
    if not event.session.startswith(PROBE):
        engine.saw(ids, way, here=where, session=event.session, every=True)
        engine.looks.note(event.host, way, asked, replace(where, session=event.session), ids, scores)


def _sum_up_last(engine: Engine, event: Event, where: Scope) -> None:
    """Sum up the session before, which not every assistant ends: from its turns alone, so that nobody waits."""
    if not where.project or event.session.startswith(PROBE) or reason_disabled(engine.settings):
        return
    try:
        newest = engine.list(scope=replace(where, branch=""), kinds=("turn",), limit=FEW_TURNS).memories
        before = next((one for one in newest if one.scope.session not in ("", event.session)), None)
        if before is not None:
            engine.summaries.write(event.host, before.scope.session, before.scope, embed=False)
    except StoreUnavailable as error:
        log.warning("the session before cannot be summed up: %s", error)


def _last_talk(engine: Engine, where: Scope) -> list[str]:
    """What the person said last in this project: a session often goes on where the one before it ended."""
    if not where.project or reason_disabled(engine.settings):
        return []
    try:
        newest = engine.list(scope=replace(where, branch=""), kinds=("turn",), limit=50).memories
    except StoreUnavailable as error:
        log.warning("what was said last cannot be read: %s", error)
        return []
    said = [memory.content for memory in newest if memory.speaker == "user"]
    return said[: CONVERSATION.messages][::-1]


def recalled(engine: Engine, event: Event, where: Scope, known: Session) -> str:
    """What helps with the prompt."""
    if not known.said and event.transcript:
        read = transcripts.read(event.transcript)[0]
        known.said = [redact(one.text)[0] for one in read if one.speaker == "user"][-3:]
    prompt = redact(own_words(event.prompt))[0]  # the session's file is a file too
    known.heard(prompt)
    if not events.takes_context(event) or not prompt or engine.settings.inject != "on":
        return ""
    # "And for staging?" is understood only by what was said before it.
    messages = CONVERSATION.messages if len(terms.of_query(prompt)) < FEW_WORDS else 1
    found = engine.recall(
        _asked(known.said[-messages:]), recipe=CONVERSATION.name, scope=where, shown=known.shown, limit=MAX_HITS,
        max_tokens=8 * RECALLED, peek=True,
    )  # fmt: skip
    hits = [hit for hit in found.hits if _tells(hit.memory, event)]
    if not hits:
        return ""
    sources = {source.id: source for source in engine.sources([hit.memory.source for hit in hits])}
    parts = Parts(knowledge=hits, query=prompt[:MAX_ASKED], sources=sources, now=datetime.now(UTC))
    made = build(parts, _ONLY_KNOWLEDGE, _count)
    ids = tuple(id for block in made.blocks for id in block.memories)
    known.showed((*ids, *(hit.memory.content_hash for hit in hits if hit.memory.id in ids)))
    if not event.session.startswith(PROBE):  # what was found and not put before anybody does not count as recalled
        engine.shown(ids)
    _saw(engine, ids, "prompt", event, where, prompt, {hit.memory.id: hit.score for hit in hits})
    return made.text


def prompted(engine: Engine, where: Scope, prompt: str) -> str:
    """What a prompt would be given as the first of a session that was told nothing before; nothing is kept of it."""
    event = Event(PREVIEWED, "prompt", "UserPromptSubmit", f"{PROBE}preview", prompt=prompt)
    return recalled(engine, event, where, Session())


def preview(engine: Engine, caller: Caller, where: Scope, prompt: str, said: Sequence[str]) -> dict[str, Any]:
    """What a session that starts now and the next prompt in it would be given. The session is of nobody: no file of
    it is kept, and nothing counts as shown."""
    known = Session(said=[redact(one)[0] for one in said][-CONVERSATION.messages :])
    event = Event(PREVIEWED, "start", "SessionStart", f"{PROBE}preview")
    given = {"start": _brief(engine, caller, event, where, known), "prompt": ""}
    if prompt.strip():
        event = replace(event, moment="prompt", name="UserPromptSubmit", prompt=prompt)
        given["prompt"] = recalled(engine, event, where, known)
    budgets = {"start": BRIEF, "prompt": RECALLED}
    return {
        name: {"text": told, "tokens": _count(told) if told else 0, "budget": budgets[name], "blocks": _blocks(told)}
        for name, told in given.items()
    }


def _blocks(told: str) -> list[dict[str, Any]]:
    """The blocks of a context, which begin with a heading each, and what stands before the first."""
    blocks = []
    for part in re.split(r"\n(?=## )", told):
        if part.strip():
            name = part[3:].partition("\n")[0] if part.startswith("## ") else "frame"
            blocks.append({"name": name, "text": part, "tokens": _count(part)})
    return blocks


def _tells(memory: Memory, event: Event) -> bool:
    """Whether a memory tells something that this session does not have yet: no question, greeting or tool line."""
    return memory.scope.session != event.session and memory.speaker != "tool" and tells(memory, event.prompt)


def _asked(messages: Sequence[str]) -> str:
    """The messages as one question, the newest last."""
    return "\n".join(text.shorten(message, MAX_ASKED) for message in messages)


def _keep(engine: Engine, event: Event, where: Scope, known: Session, at: float) -> list[str]:
    """Store what an event brought; gives the ids of the memories that carry it."""
    if event.aside:
        return []
    moment = datetime.fromtimestamp(at, UTC)
    told: list[Said] = []
    offset, echoes = known.offset, _echoes(engine, known) if event.moment in TELLING else Echoes()
    if event.moment in TELLING and event.transcript:
        told, offset = transcripts.read(event.transcript, known.offset, echoes)
    told += _told(event, moment, echoes)
    if not event.session.startswith(PROBE):
        engine.saw(sorted(echoes.heard), "repeated", here=where, session=event.session, every=True)
    files = event.tool.files if event.tool else ()
    messages = [
        Message(one.speaker, one.text, one.id, one.moment or moment, files if one.speaker == "tool" else ())
        for one in told
    ]
    taken = engine.pipeline.take_in(messages, event.host, event.session, where, known.kept)
    known.keeps(taken.names)
    known.turns += len(taken.turns)
    known.offset = offset
    if taken.sources and not event.session.startswith(PROBE):  # looked at after the answer was sent: nobody waits
        engine.jobs.add("capture", {"sources": taken.sources})
    if event.moment in ("compact", "end") and not event.session.startswith(PROBE):  # after what was said is looked at
        named = {"session": event.session, "origin": event.host, "transcript": event.transcript}
        engine.jobs.add("summary", {**named, "scope": where.as_dict()})
    return [turn.id for turn in taken.turns]


def _echoes(engine: Engine, known: Session) -> Echoes:
    """What was shown in the session last: the assistant may say it again, and it is no news then."""
    echoes = Echoes()
    for id in known.shown[-MAX_ECHOES:]:
        try:
            echoes.add([engine.get(id, peek=True).content], id)
        except NotFound:  # purged since
            continue
    return echoes


def _told(event: Event, moment: datetime, echoes: Echoes) -> Iterator[Said]:
    """What the event itself says, whether or not a transcript will say it too."""
    if prompt := own_words(event.prompt):
        yield Said("", "user", prompt, times.iso(moment))
    if event.tool and (line := own_words(event.tool.text)):
        yield Said(event.tool.id, "tool", line, times.iso(moment))
    if reply := echoes.without(own_words(event.reply)):
        yield Said("", "assistant", reply, times.iso(moment))


def take_in(engine: Engine, home: Path) -> int:
    """Store what waits in the spool, oldest first; gives how many deliveries there were.

    What cannot be stored now, because the store cannot be used, stays and raises; what can never be is put aside.
    """
    taken = 0
    caller = access.local(engine.settings.tenant, "hook", Scope(engine.settings.user, engine.settings.project))
    for path in spool.take(os.fspath(home)):
        for record in spool.records(path):
            taken += 1
            if not isinstance(record, dict):
                spool.refuse(os.fspath(home), record, "not a record")
                continue
            try:
                _handle(engine, caller, home, record, late=True)
            except StoreUnavailable:
                raise
            except RecollectError as error:
                log.warning("put aside what a hook delivered: %s", error)
                spool.refuse(os.fspath(home), record, error.message)
        spool.done(path)
    return taken


def receipts(engine: Engine, home: Path, limit: int = 5) -> dict[str, Any]:
    """The state of capture, for `recollect status`: what waits, what was put aside, and the latest deliveries."""
    folder = os.fspath(home)
    waiting = [_receipt(record, "queued") for record in spool.waiting(folder)]
    aside = [_receipt(record, "refused") for record in spool.refused(folder)]
    noted = [_receipt(record, _state(engine, record)) for record in _noted(home)[-limit:]]
    each = {receipt.id: receipt for receipt in (*noted, *aside, *waiting)}
    newest = sorted(each.values(), key=lambda receipt: (receipt.at, receipt.id), reverse=True)
    return {"queued": len(waiting), "refused": len(aside), "latest": [one.as_dict() for one in newest[:limit]]}


def _receipt(record: Mapping[str, Any], state: State) -> Receipt:
    at = record.get("at")
    moment = times.iso(datetime.fromtimestamp(at, UTC)) if isinstance(at, int | float) else ""
    host, event = str(record.get("host", "")), str(record.get("event", ""))
    turns = len(record.get("memories", ()))
    return Receipt(str(record.get("id", "")), state, host, event, moment, turns, str(record.get("refused", "")))


def _state(engine: Engine, record: Mapping[str, Any]) -> State:
    try:
        active = all(engine.get(id, peek=True).state == "active" for id in record.get("memories", ()))
    except NotFound:  # purged since
        active = False
    return "readable" if active else "stored"


def _note(home: Path, record: Mapping[str, Any]) -> None:
    """Write down which memories a delivery became; a list for people to look at, and no truth that could be lost."""
    path = home / spool.FOLDER / LEDGER
    spool.add(os.fspath(home), dict(record), LEDGER, sure=False)
    if path.stat().st_size > LEDGER_LINES * 400:
        kept = [json.dumps(one) for one in _noted(home)[-LEDGER_LINES // 2 :]]
        write_private(path, "\n".join(kept) + "\n")


def _noted(home: Path) -> list[dict[str, Any]]:
    try:
        found = list(spool.records(os.fspath(home / spool.FOLDER / LEDGER)))
    except FileNotFoundError:
        return []
    return [record for record in found if isinstance(record, dict)]
