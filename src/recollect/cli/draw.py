"""How the daemon looks to a person: its banner, its state, its log. Pure: facts and a `Look` in, text out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from .. import times
from ..install.hosts import HOSTS
from ..serve import listen
from ..serve.service import Service
from .present import Look, memories, plural, table

COLOURS = {"warning": "yellow", "error": "red"}


def login(url: str, look: Look) -> str:
    """What `recollect dashboard` says."""
    if "code=" not in url:
        return "\n".join([url, *look.wrap("This address is for other machines too: log in with a token.", "")])
    return "\n".join([url, *look.wrap("The link logs one browser in, once, within ten minutes.", "")])


def banner(info: Mapping[str, Any], home: str, program: str, look: Look) -> str:
    """What `recollect serve` says; `program` is how this command is called from where it was started."""
    at = listen.address(info)
    rows = [
        ("dashboard", str(info["dashboard"])),
        ("", "a link that logs in once, within ten minutes; for another: recollect dashboard"),
        ("docs", f"{at}/docs"),
        ("MCP", f"{at}/mcp"),
        ("HTTP", f"{at}/v1"),
        ("memories", str(info["store"])),
        ("home", home),
    ]
    lines = [look.paint(f"Recollect {info['version']} is listening.", "green", bold=True), "", *table(rows, look), ""]
    first, *others = HOSTS
    lines += ["  Connect an assistant; --dry-run only shows what would change:", f"    {program} install {first}"]
    lines += look.wrap(f"(or {', '.join(others)})", "    ")
    more = {"see it work": "tour", "how it is": "status", "its log": "logs -f", "end it": "stop"}
    rows = [(what, f"{program} {word}") for what, word in more.items()]
    lines += ["", *table(rows, look)]
    if not listen.loopback(str(info["host"])):
        lines += look.wrap("This address can be reached from other machines; they need a token.", "  ")
    return "\n".join(lines)


def state(told: Mapping[str, Any], look: Look) -> str:
    """What `recollect status` says."""
    if not told["running"]:
        who = f" (process {told['pid']} holds the lock and does not answer yet)" if told.get("pid") else ""
        rows = [("home", str(told["home"])), *_receipts(told["receipts"], look)]
        return "\n".join([f"{look.paint('○', 'yellow')} not running{who}", *table(rows, look), *_start(look)])
    model = told["model"] or "; ".join(told["skipped"])
    since = times.aware(told["started"])
    rows = [
        ("process", str(told["pid"]) + (f", {told['rss_mb']:,} MB" if told["rss_mb"] else "")),
        ("dashboard", f"{listen.address(told)}/ (log in with: recollect dashboard)"),
        ("socket", str(told["socket"])),
        ("since", f"{look.when(since)}, up {duration(told['uptime_s'])}"),
        ("memories", f"{memories(told['memories'])} in {told['store']}"),
        ("model", str(model)),
        *_receipts(told["receipts"], look),
        ("version", str(told["version"])),
    ]
    lines = [f"{look.paint('●', 'green')} running", *table(rows, look)]
    if told["version"] != told["installed"]:
        lines += look.wrap(f"Installed is {told['installed']}: recollect stop, and the next use starts it.", "  ")
    return "\n".join(lines)


def _start(look: Look) -> list[str]:
    return [look.dim(line) for line in look.wrap("Start it: recollect serve; an assistant's first use does too.", "  ")]


def _receipts(told: Mapping[str, Any], look: Look) -> list[tuple[str, str]]:
    """What was captured, and how far it has come: queued, stored, readable."""
    aside = " (spool/refused.jsonl)" if told["refused"] else ""
    rows = [("captured", f"{told['queued']:,} queued, {told['refused']:,} refused{aside}")]
    for receipt in told["latest"]:
        when = look.ago(times.aware(receipt["at"])) if receipt["at"] else ""
        turns = plural(receipt["turns"], "turn") if receipt["turns"] else ""  # before they are stored nobody knows
        of = ", ".join(part for part in (f"{receipt['host']} {receipt['event']}".strip(), turns, when) if part)
        why = f": {receipt['reason']}" if receipt.get("reason") else ""
        rows.append(("", f"{receipt['state']}{why} ({of})"))
    return rows


def duration(seconds: float) -> str:
    """
    >>> duration(42), duration(3661), duration(200_000)
    ('0:00:42', '1:01:01', '2 days, 7:33:20')
    """
    return str(timedelta(seconds=int(seconds)))


def line(told: Mapping[str, Any], look: Look) -> str:
    """A line of the log."""
    known = ("time", "level", "part", "message", "error")
    when = f"{times.aware(told['time']).astimezone(look.zone):%Y-%m-%d %H:%M:%S}"
    level = look.paint(f"{told['level']:<7}", COLOURS.get(told["level"]))
    extra = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in told.items() if name not in known)
    words = [look.dim(when), level, look.paint(told.get("part", ""), "cyan"), told.get("message", ""), look.dim(extra)]
    joined = " ".join(word for word in words if word)
    return f"{joined}\n{told['error']}" if told.get("error") else joined


def planned(service: Service, commands: Sequence[Sequence[str]], look: Look, *, write: bool) -> str:
    """What installing or removing a service would do."""
    lines = [f"{'write' if write else 'remove'} {service.path}"]
    if write:
        lines += [look.dim(f"    {text}") for text in service.text.splitlines()]
    return "\n".join([*lines, *(f"run {shlex.join(command)}" for command in commands)])


def served(service: Service, done: bool, left: Sequence[Sequence[str]], look: Look, *, write: bool) -> str:
    """What installing or removing a service did, and what is left to do by hand."""
    verb = ("wrote" if done else "already there:") if write else ("removed" if done else "was not there:")
    lines = [f"{look.paint('✓', 'green')} {verb} {service.path}"]
    if left:
        lines.append(f"  {plural(len(left), 'command')} could not be run here; run by hand:")
        lines += [f"    {shlex.join(command)}" for command in left]
    return "\n".join(lines)
