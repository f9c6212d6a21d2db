"""What models cost, for whoever asks: the verb of the operation `usage`, and its words for a person or a model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..agents.access import Caller
from ..engine import Engine
from ..upkeep.spending import dollars


def usage(engine: Engine, caller: Caller, **asked: Any) -> dict[str, Any]:
    caller.unwalled("What models cost")
    return engine.spending.report(**asked)


def told(report: Mapping[str, Any], now: datetime | None = None) -> str:
    total, budgets = report["total"], report["budgets"]
    lines = [
        f"{report['since']} to {report['until']}: {dollars(total['dollars'])}, {total['calls']:,} calls, "
        f"{total['tokens_in']:,} tokens read, {total['tokens_out']:,} written"
    ]
    lines += [_row(row) for row in report["rows"]]
    day, month, tokens = budgets["day"], budgets["month"], budgets["tokens"]
    left = [
        f"{dollars(day['spent'])} of {dollars(day['limit'])} today",
        f"{dollars(month['spent'])} of {dollars(month['limit'])} this month",
    ]
    if tokens["limit"]:
        left.append(f"{tokens['spent']:,} of {tokens['limit']:,} tokens today")
    lines.append(f"budget: {', '.join(left)}")
    if report["paused"]:
        lines.append(f"paused: {report['paused']}")
    if not report["models"]["extract"]:
        lines.append("no language model is set: rules do its work, for nothing")
    return "\n".join([*lines, f"prices of {report['prices']}"])


def _row(row: Mapping[str, Any]) -> str:
    put_off = f", {row['refused']:,} put off" if row["refused"] else ""
    guessed = " (estimated)" if row["estimated"] else ""
    return (
        f"  {row['day']}  {row['project'] or '(no project)'}  {row['operation']}  {row['model']}: "
        f"{row['calls']:,} calls, {row['tokens_in']:,} + {row['tokens_out']:,} tokens{guessed}{put_off}, "
        f"{dollars(row['dollars'])}"
    )
