"""Spending: what models on servers cost, and when a budget is spent.

Every call goes through here: the prompt is redacted, the most that the call can cost is booked, the model is asked, and
the booking is corrected. A booking over a budget is taken back and raises `BudgetSpent`. Booking first makes the budget
hold between processes. Days and months are those of UTC.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import text
from ..checks import one_of
from ..errors import BadAnswer, BadInput, BudgetSpent, ModelUnavailable, StoreUnavailable
from ..models.prices import MILLION, price, table
from ..redact import redact
from ..settings import Settings, prices
from ..store.contract import Store
from ..store.ledger import DOLLAR, Spent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..models.embedder import Embedder, Role
    from ..models.llm import LLM, Completion, Prompt, Schema, Usage
    from ..models.remote import RemoteEmbedder

Tier = Literal["gate", "extract"]
BATCH = 64  # texts that are booked together
MARGIN = 1.5  # by how much a provider may count more tokens than we estimate
log = logging.getLogger("recollect")


@dataclass(slots=True)
class Call:
    """One call: what it is for, the most it can cost, and what it did cost once that is known."""

    project: str
    operation: str
    model: str
    free: bool
    most: tuple[int, int]
    used: tuple[int, int] = (0, 0)
    made: bool = False
    estimated: bool = False

    def cost(self, usage: Usage) -> None:
        self.used, self.made, self.estimated = (usage.tokens_in, usage.tokens_out), True, usage.estimated


class Spending:
    """The ledger of a tenant, its budgets, and the models it pays for."""

    def __init__(self, store: Store, tenant: str, now: Callable[[], datetime], settings: Settings) -> None:
        self._store = store
        self._tenant = tenant
        self._now = now
        self._settings = settings
        self._loaded: dict[str, LLM] = {}

    def llm(self, tier: Tier, operation: str, project: str = "") -> LLM | None:
        """The language model of a tier, booked under an operation and a project; None where the settings name none."""
        url = self._settings.llm if tier == "extract" else self._settings.llm_gate or self._settings.llm
        if not url:
            return None
        from ..models import llm

        if url not in self._loaded:
            self._loaded[url] = llm.load(url)
        return MeteredLLM(self._loaded[url], self, operation, project)

    def metered(self, embedder: Embedder) -> Embedder:
        """An embedder whose costs are booked; one that runs here as it is."""
        return MeteredEmbedder(cast("RemoteEmbedder", embedder), self) if hasattr(embedder, "priced") else embedder

    @contextmanager
    def call(self, call: Call) -> Iterator[Call]:
        """Make a call inside: booked at its most before, and at what it cost after."""
        booked = self._reserve(call)
        try:
            yield call
        except BadAnswer as error:
            call.used, call.made, call.estimated = error.tokens, True, error.tokens == (0, 0)
            if call.estimated:
                call.used = (call.most[0], 0)
            raise
        finally:
            after = self._price(call, booked.day, call.used) if call.made else replace(booked, **_NOTHING)
            # The answer is there and must not be lost for this: a booking that stays is at the most it can have cost.
            self._book(_less(after, booked), strict=False)

    def _reserve(self, call: Call) -> Spent:
        now = self._now().astimezone(UTC)
        booked = replace(self._price(call, f"{now:%Y-%m-%d}", call.most), estimated=0)
        self._book(booked, strict=not call.free)
        try:
            self._check(booked, now)
        except BudgetSpent as error:
            log.warning("work with %s pauses: %s", call.model, error)
            self._book(replace(_less(replace(booked, **_NOTHING), booked), refused=1), strict=False)
            raise
        return booked

    def _price(self, call: Call, day: str, used: tuple[int, int]) -> Spent:
        nanos = 0 if call.free else self.nanos(call.model, *used)
        return Spent(
            day, call.project, call.operation, call.model, 1, 0, used[0], used[1], nanos, int(call.estimated)
        )  # fmt: skip

    def _book(self, spent: Spent, *, strict: bool) -> None:
        try:
            self._store.book(self._tenant, spent)
        except StoreUnavailable as error:
            if strict:
                raise ModelUnavailable(f"What {spent.model} costs cannot be booked: {error}") from error
            log.warning("what %s cost could not be booked: %s", spent.model, error)

    def _check(self, booked: Spent, now: datetime) -> None:
        """Raise where the bookings of the day or the month, this one among them, are over a budget."""
        month, today, tokens = self._store.spending(self._tenant, f"{now:%Y-%m}-01", booked.day)
        tomorrow = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        next_month = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
        limits = self._settings
        if booked.nanos and today > limits.budget_day * DOLLAR:
            self._pause(f"{_money(today - booked.nanos)} of {format_dollars(limits.budget_day)} a day", tomorrow)
        if booked.nanos and month > limits.budget_month * DOLLAR:
            self._pause(f"{_money(month - booked.nanos)} of {format_dollars(limits.budget_month)} a month", next_month)
        if limits.budget_tokens and tokens > limits.budget_tokens:
            before = tokens - booked.tokens_in - booked.tokens_out
            self._pause(f"{before:,} of {limits.budget_tokens:,} tokens a day", tomorrow)

    def _pause(self, spent: str, until: datetime) -> None:
        raise BudgetSpent(
            f"The budget for models is spent ({spent}), and the work pauses until {until:%Y-%m-%d %H:%M} UTC.",
            until=until,
        )

    def nanos(self, model: str, tokens_in: int, tokens_out: int) -> int:
        """What so many tokens cost, in billionths of a dollar."""
        read, wrote = price(model, prices(self._settings))
        return round((tokens_in * read + tokens_out * wrote) * DOLLAR / MILLION)

    def estimate(self, tier: Tier, calls: int, tokens_in: int, tokens_out: int) -> dict[str, Any]:
        """What so much work would cost, for whoever asks before it is begun."""
        one_of(tier, ("gate", "extract"), "tier")
        model = self.llm(tier, "estimate")
        told = {"model": "", "calls": calls, "tokens_in": tokens_in, "tokens_out": tokens_out, "dollars": 0.0}
        if model is None:
            return told | {"calls": 0, "tokens_in": 0, "tokens_out": 0}
        nanos = 0 if model.free else self.nanos(model.model, tokens_in, tokens_out)
        return told | {"model": model.model, "dollars": nanos / DOLLAR}

    def report(
        self, *, since: str | None = None, until: str | None = None, project: str | None = None
    ) -> dict[str, Any]:
        """What was spent from one day to another (this month unless told), by day, project, operation and model."""
        now = self._now().astimezone(UTC)
        today = f"{now:%Y-%m-%d}"
        first, last = (_day(value, name) for value, name in ((since, "since"), (until, "until")))
        first, last = first or f"{now:%Y-%m}-01", last or today
        found = self._store.spent(self._tenant, first, last)
        rows = [one for one in found if (one.calls or one.refused) and project in (None, one.project)]
        month, day, tokens = self._store.spending(self._tenant, f"{now:%Y-%m}-01", today)
        limits = self._settings
        put_off = sum(one.refused for one in self._store.spent(self._tenant, today, today))
        return {
            "since": first,
            "until": last,
            "rows": [_as_plain(one) for one in rows],
            "total": _total(rows),
            "budgets": {
                "day": {"limit": limits.budget_day, "spent": day / DOLLAR},
                "month": {"limit": limits.budget_month, "spent": month / DOLLAR},
                "tokens": {"limit": limits.budget_tokens or None, "spent": tokens},
            },
            "paused": f"{put_off} calls were put off today because a budget is spent" if put_off else "",
            "models": {"extract": limits.llm, "gate": limits.llm_gate or limits.llm, "embedder": limits.embedder},
            "prices": table()["date"],
        }  # fmt: skip


_NOTHING: dict[str, Any] = dict.fromkeys(("calls", "refused", "tokens_in", "tokens_out", "nanos", "estimated"), 0)


def _less(after: Spent, before: Spent) -> Spent:
    """What is missing to come from one booking to another."""
    return replace(after, **{name: getattr(after, name) - getattr(before, name) for name in _NOTHING})


def _as_plain(spent: Spent) -> dict[str, Any]:
    told = spent.as_dict()
    return {name: value for name, value in told.items() if name != "nanos"} | {"dollars": spent.nanos / DOLLAR}


def _total(rows: Sequence[Spent]) -> dict[str, Any]:
    counts = {name: sum(getattr(one, name) for one in rows) for name in ("calls", "refused", "tokens_in", "tokens_out")}
    return {**counts, "dollars": sum(one.nanos for one in rows) / DOLLAR}


def _money(nanos: int) -> str:
    return format_dollars(nanos / DOLLAR)


def format_dollars(amount: float) -> str:
    """
    >>> format_dollars(1), format_dollars(0.0123), format_dollars(0)
    ('$1.00', '$0.0123', '$0.00')
    """
    return f"${amount:.2f}" if amount >= 0.1 or not amount else f"${amount:.4f}"


def _day(value: str | None, name: str) -> str | None:
    if value is None:
        return None
    try:
        return f"{datetime.strptime(value, '%Y-%m-%d'):%Y-%m-%d}"
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be a day, such as 2026-03-01, not {value!r:.40}.") from error


class MeteredLLM:
    """A language model whose prompts are redacted and whose costs are booked."""

    def __init__(self, llm: LLM, spending: Spending, operation: str, project: str) -> None:
        self.model = llm.model
        self.free = llm.free
        self._llm = llm
        self._spending = spending
        self._under = (project, operation)

    def complete(self, system: str, messages: Prompt, schema: Schema, max_tokens: int) -> Completion:
        from ..models.llm import prompt_tokens

        clean = [(role, redact(said)[0]) for role, said in messages]
        told = redact(system)[0]
        read = prompt_tokens(told, clean) + text.tokens(str(dict(schema)))
        most = (round(MARGIN * read), max_tokens)
        with self._spending.call(Call(*self._under, self.model, self.free, most)) as call:
            done = self._llm.complete(told, clean, schema, max_tokens)
            call.cost(done.usage)
        return done


class MeteredEmbedder:
    """An embedder on a server whose texts are redacted and whose costs are booked, under `embed` or `recall`."""

    def __init__(self, embedder: RemoteEmbedder, spending: Spending) -> None:
        self._embedder = embedder
        self._spending = spending

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def warm(self) -> None:
        self._embedder.warm()

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if isinstance(texts, str):
            return self._embedder.embed(texts, role)  # which refuses it
        clean = [redact(one)[0] for one in texts]
        batches = [self._batch(clean[n : n + BATCH], role) for n in range(0, len(clean), BATCH)]
        if len(batches) == 1:
            return batches[0]
        import numpy as np

        return np.concatenate(batches) if batches else self._embedder.embed([], role)

    def _batch(self, texts: list[str], role: Role) -> NDArray[np.float32]:
        sent = self._embedder.ready(texts, role)
        if not any(sent):
            return self._embedder.embed(texts, role)
        operation = "recall" if role == "query" else "embed"
        most = (round(MARGIN * sum(text.tokens(one) for one in sent)), 0)
        with self._spending.call(Call("", operation, self._embedder.priced, self._embedder.free, most)) as call:
            rows, usage = self._embedder.embed_counted(texts, role)
            call.cost(usage)
        return rows
