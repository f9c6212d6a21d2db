"""A second labelled store: people, laboratories, clients and decisions, said as they are noted down in real life.

`planted.py` was at hand while the janitor was made; nothing here was. Each family has a statement with other wordings
of it, statements that cannot be true beside it, and statements that look like it and can. A duplicate is one of these
wordings, or the same words with a slip of the finger, an opening («FYI, …»), or other ways to write a number, a unit or
a short form. `planted.Planted` holds the labels, so both stores are scored alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from planted import Planted, typo
from recollect import Memory, Scope
from recollect.ids import make
from recollect.text import key

FIRST = (
    "Ines Tomasz Aroha Bilal Chiara Dmitri Elif Farid Greta Hamza Ivana Jorge Keiko Lars Mireille Nadim Oksana Pilar "
    "Quentin Rosa Sandeep Tuva Umberto Vera Wanjiru Ximena Yusuf Zofia Anselm Beatriz Cormac Delphine Emeka Fatima "
    "Goran Hilde Isamu Jolanta Kofi Leonie"
).split()
LAST = (
    "Okafor Lindqvist Marchetti Novak Oyelaran Petrenko Quiroga Rahimi Sorensen Takeda Urbina Vasquez Whitaker Yamada "
    "Zielinski Abernathy Bergstrom Castellanos Dubois Eriksen Fontaine Galvani Haddad Ibsen Jankowski Kaminski Laurent "
    "Mbeki Nakamura Ostrowski"
).split()
ADJECTIVE = (
    "amber brisk copper dusty eager frosty gentle hollow ivory jolly keen lunar mossy nimble ochre placid quiet rustic "
    "silent tidal umber velvet windy young zesty"
).split()
NOUN = (
    "heron badger cedar dune ember fjord glacier harbor island juniper kestrel lagoon meadow nebula otter pebble "
    "quarry raven summit thicket urchin valley walrus yarrow zephyr"
).split()
FIRM = (
    "Vantage Halcyon Meridian Northwind Bluewater Ironside Larkspur Redwood Silverline Oakfield Brightwell Castor "
    "Delmont Everline Fairmount Granite Hawthorne Kingsley Lowland Maplecroft"
).split()
TRADE = (
    "Mills Foods Shipping Optics Textiles Ceramics Pharma Motors Timber Paper Dairy Tools Energy Plastics Printing "
    "Bakeries Robotics Metals Travel Insurance"
).split()
CITIES = "Tampere Porto Leipzig Galway Turin Gdansk Utrecht Malmo Girona Graz Bergen Nantes".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday".split()
OPENINGS = ("FYI, {}", "Note: {}", "Just so you know: {}", "As agreed, {}", "Reminder – {}", "For the record, {}")
WRITTEN = (
    ("PostgreSQL", "Postgres"), (" does not ", " doesn't "), (" is not ", " isn't "), (" are not ", " aren't "),
    (" seconds", " s"), (" minutes", " min"), (" euros", " EUR"), (" percent", " %"), (" and ", " & "),
    ("000 ", ",000 "), (" kilometres", " km"), ("repository", "repo"), ("documentation", "docs"), ("The ", "the "),
)  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Statements about one kind of subject. {a}: the subject, {x} {y}: values, {n} {m}: numbers, {p} {q}: people."""

    subject: str
    values: tuple[str, ...]
    says: tuple[str, ...]
    against: tuple[str, ...]
    beside: tuple[str, ...]
    kind: str = "fact"


FAMILIES = (
    Family("person", tuple(CITIES),
           ("{a} lives in {x}.", "{a} is living in {x}.", "{a}'s home is in {x}."),
           ("{a} lives in {y}.", "{a} has moved from {x} to {y}.", "{a} doesn't live in {x} any more."),
           ("{a}'s parents live in {y}.", "{a} grew up in {y}.", "{a} would like to live in {y} one day.")),
    Family("person", ("peanuts", "shellfish", "penicillin", "latex", "wasp stings", "gluten", "soy"),
           ("{a} is allergic to {x}.", "{a} has an allergy to {x}."),
           ("{a} is not allergic to {x}.", "{a} has no allergy to {x}, the test came back negative."),
           ("{a} is allergic to {y}.", "{a}'s daughter is allergic to {x}.")),
    Family("person", ("radiologist", "translator", "site manager", "data engineer", "nurse", "bookkeeper"),
           ("{a} works as a {x}.", "{a} is working as a {x}.", "{a}'s job is {x}."),
           ("{a} now works as a {y}.", "{a} works as a {y}, not as a {x}."),
           ("{a} worked as a {y} before.", "{a}'s sister works as a {y}.")),
    Family("person", ("tea", "coffee", "trains", "buses", "email", "phone calls", "pens", "pencils"),
           ("{a} prefers {x} over {y}.", "{a} likes {x} better than {y}."),
           ("{a} prefers {y} over {x}.", "{a} likes {y} better than {x}."),
           ("{a} finds both {x} and {y} acceptable for guests.", "{a} never pays for {y}."), "preference"),
    Family("project", tuple(DAYS),
           ("The {a} sync is on {x} at 14:00.", "The {a} sync takes place on {x} at 14:00.", "{a} sync: {x}, 14:00."),
           ("The {a} sync is on {y} at 14:00.", "The {a} sync was moved to {y}, still at 14:00."),
           ("Notes of the {a} sync are sent out on {y} at 14:00.", "The {a} demo is on {y} at 14:00.")),
    Family("project", (),
           ("The freezer of lab {a} is kept at minus {n} degrees.", "Lab {a} keeps its freezer at minus {n} degrees."),
           ("The freezer of lab {a} is kept at minus {m} degrees.",
            "The freezer of lab {a} is now set to minus {m} degrees instead of minus {n}."),
           ("The fridge of lab {a} is kept at plus {m} degrees.",
            "The spare freezer of lab {a} is kept at minus {m} degrees.")),
    Family("project", ("Terraform", "Ansible", "Puppet", "CloudFormation", "Pulumi", "Chef"),
           ("We will use {x} to provision {a}.", "We use {x} for provisioning {a}.", "{a} is provisioned with {x}."),
           ("We will use {y} instead of {x} to provision {a}.", "We will not use {x} to provision {a}.",
            "{a} is provisioned with {y}."),
           ("The training environment of {a} is provisioned with {y}.",
            "We will use {x} to provision the bastion host of {a}, too."), "decision"),
    Family("project", ("Redis", "PostgreSQL", "Memcached", "MongoDB", "DynamoDB", "SQLite"),
           ("Sessions of {a} are stored in {x}.", "{a} stores its sessions in {x}.", "{x} holds the sessions of {a}."),
           ("Sessions of {a} are stored in {y}.", "Sessions of {a} are no longer stored in {x}.",
            "{a} switched its sessions from {x} to {y}."),
           ("Uploads of {a} are stored in {y}.", "{a} could store its sessions in {y} one day.")),
    Family("project", (),
           ("Logs of {a} are deleted after {n} days.", "{a} deletes its logs after {n} days.",
            "{a}'s logs are removed after {n} days."),
           ("Logs of {a} are deleted after {m} days.", "Logs of {a} are never deleted."),
           ("Backups of {a} are deleted after {m} days.", "Logs of {a} are compressed after {m} days.")),
    Family("project", (),
           ("Requests to {a} time out after {n} seconds.", "A request to {a} times out after {n} seconds."),
           ("Requests to {a} time out after {m} seconds.",
            "The timeout of requests to {a} was raised from {n} to {m} seconds."),
           ("Requests to {a} are retried after {m} seconds.", "Uploads to {a} time out after {m} seconds.")),
    Family("project", (),
           ("Dark launch is enabled for {a}.", "{a} has dark launch enabled.", "Dark launch is switched on for {a}."),
           ("Dark launch is disabled for {a}.", "Dark launch is switched off for {a}.",
            "Dark launch is not enabled for {a}."),
           ("Rate limiting is disabled for {a}.", "Dark launch is documented in the handbook of {a}.")),
    Family("project", (),
           ("Always squash commits before merging into {a}.", "Squash the commits before you merge into {a}."),
           ("Never squash commits before merging into {a}.", "Don't squash commits before merging into {a}."),
           ("Never rebase commits after merging into {a}.", "Always sign commits before merging into {a}."), "rule"),
    Family("project", (),
           ("Every change to {a} needs {n} approvals.", "A change to {a} needs {n} approvals.",
            "{n} approvals are needed for every change to {a}."),
           ("Every change to {a} needs {m} approvals.", "A change to {a} needs no approvals."),
           ("A release of {a} needs {m} approvals.", "Every change to {a} needs {m} passing checks."), "rule"),
    Family("firm", (),
           ("{a} pays within {n} days.", "{a} pays its invoices within {n} days.", "Payment terms of {a}: {n} days."),
           ("{a} pays within {m} days.", "Payment terms of {a} were changed from {n} to {m} days."),
           ("{a} gets a discount of {m} percent.", "{a} complains within {m} days.")),
    Family("firm", (),
           ("Our contact at {a} is {p}.", "{p} is our contact at {a}.", "Our contact person at {a} is {p}."),
           ("Our contact at {a} is {q}.", "{q} has taken over from {p} as our contact at {a}.",
            "{p} is no longer our contact at {a}."),
           ("{q} signs the invoices at {a}.", "Our former contact at {a} was {q}.")),
    Family("firm", ("north", "south", "east", "west"),
           ("Deliveries to {a} go through the {x} gate.", "Deliveries for {a} go through the {x} gate.",
            "{a} takes deliveries at the {x} gate."),
           ("Deliveries to {a} go through the {y} gate.", "Deliveries to {a} don't go through the {x} gate any more."),
           ("Visitors of {a} go through the {y} gate.", "{a} is building a new office behind the {y} gate.")),
    Family("firm", ("French", "German", "Polish", "Dutch", "Finnish", "Spanish"),
           ("{a} wants its reports in {x}.", "{a} wants reports in {x}.", "Reports for {a} are written in {x}."),
           ("{a} wants its reports in {y}.", "{a} asked for reports in {y} instead of {x} from now on."),
           ("{a} answers the phone in {y}.", "{a} wants its contracts in {y}."), "preference"),
    Family("person", (),
           ("{a} indents with tabs.", "{a} uses tabs for indentation.", "{a} uses tabs to indent."),
           ("{a} indents with spaces.", "{a} indents with spaces and not with tabs."),
           ("{a} aligns comments with spaces.", "{a} closes browser tabs in the evening."), "preference"),
    Family("person", (),
           ("{a} does not eat meat.", "{a} eats no meat.", "{a} never eats meat."),
           ("{a} eats meat.", "{a} eats meat again."),
           ("{a} does not eat fish.", "{a} does not cook meat for guests."), "preference"),
    Family("person", tuple(DAYS),
           ("{a} works from home on {x}.", "{a} works at home on {x}.", "On {x} {a} works from home."),
           ("{a} no longer works from home on {x}.", "{a} is never at home on {x}, that is an office day."),
           ("{a} works late on {x}.", "{a} goes swimming on {y}.")),
    Family("project", ("db/migrate", "sql/changes", "ops/schema", "data/upgrades", "backend/versions"),
           ("The migrations of {a} are in {x}.", "{a}'s migrations are in {x}.",
            "You find the migrations of {a} in {x}."),
           ("The migrations of {a} are in {y}.", "The migrations of {a} were moved from {x} to {y}."),
           ("The fixtures of {a} are in {y}.", "The migrations of {a} are reviewed by hand before {y} is touched.")),
    Family("project", ("3.9", "3.10", "3.11", "3.12", "3.13"),
           ("{a} runs on Python {x}.", "{a} is running on Python {x}.", "{a} uses Python {x}."),
           ("{a} runs on Python {y}.", "{a} was upgraded from Python {x} to {y}."),
           ("{a} cannot be built with Python {y}.", "The docs of {a} are built with Python {y}.")),
    Family("project", (),
           ("{p} maintains {a}.", "{a} is maintained by {p}.", "The maintainer of {a} is {p}."),
           ("{q} maintains {a}.", "{a} is maintained by {q}, not by {p}.", "{q} took over {a} from {p} as maintainer."),
           ("{q} translates {a}.", "{q} founded {a} years ago.")),
    Family("project", ("an expired certificate", "a full disk", "a bad deploy", "a DNS change", "a memory leak"),
           ("The outage of {a} was caused by {x}.", "{a}'s outage was caused by {x}.", "{x} caused the outage of {a}."),
           ("The outage of {a} was not caused by {x} but by {y}.", "The outage of {a} was caused by {y}."),
           ("{x} was ruled out as the cause of the slow builds of {a}.", "The outage of {a} was noticed by {q} first."),
           "lesson"),
    Family("firm", ("7:00", "7:30", "8:00", "8:30", "9:00", "10:00"),
           ("The canteen of {a} opens at {x}.", "{a}'s canteen opens at {x}.", "At {x} the canteen of {a} opens."),
           ("The canteen of {a} opens at {y}.", "The canteen of {a} opens at {y} now, not at {x}."),
           ("The front desk of {a} opens at {y}.", "The canteen of {a} closes in August.")),
    Family("firm", (),
           ("The hall of {a} seats {n}0 people.", "The hall of {a} has seats for {n}0 people."),
           ("The hall of {a} seats {m}0 people.", "After the works the hall of {a} seats {m}0 people instead of {n}0."),
           ("The canteen of {a} seats {m}0 people.", "The hall of {a} was rented by {m}0 people.")),
    Family("project", (),
           ("The repository of {a} is private.", "{a}'s repository is private."),
           ("The repository of {a} is public.", "The repository of {a} is not private any more."),
           ("The wiki of {a} is public.", "The repository of {a} is archived every year in a private bucket.")),
    Family("project", (),
           ("A licence of {a} costs {n}000 euros a year.", "A licence for {a} costs {n}000 euros a year.",
            "{a} licences cost {n}000 euros per year."),
           ("A licence of {a} costs {m}000 euros a year.",
            "The price of an {a} licence rose from {n}000 to {m}000 euros a year."),
           ("A course on {a} costs {m}000 euros.", "Support for {a} costs {m}000 euros a year.")),
    Family("project", (),
           ("Restarting {a} clears the stale lock.", "A restart of {a} clears the stale lock."),
           ("Restarting {a} does not clear the stale lock.", "A restart of {a} never clears the stale lock."),
           ("Restarting {a} does not clear the job queue.", "Restarting {a} needs a password."), "lesson"),
    Family("person", ("the cello", "Portuguese", "pottery", "chess", "sailing", "calligraphy"),
           ("I am learning {x} together with {a}.", "I'm learning {x} with {a}.",
            "{a} and I are learning {x} together."),
           ("I am no longer learning {x} together with {a}.", "I stopped learning {x} with {a}."),
           ("I am teaching {y} together with {a}.", "I saw {a} at the {x} fair.")),
    Family("person", tuple(CITIES),
           ("{a} is training for the marathon in {x}.", "{a} trains for the marathon in {x}.",
            "{a} is in training for the {x} marathon."),
           ("{a} has given up training for the marathon in {x}.", "{a} is not training for the marathon in {x}."),
           ("{a} watched the marathon in {y}.", "{a} is training for the rowing cup in {y}.")),
    Family("firm", (),
           ("The report for {a} is due on {n} May.", "The {a} report is due on {n} May.",
            "Report for {a} due: {n} May."),
           ("The report for {a} is due on {m} May.",
            "The deadline of the report for {a} was moved from {n} to {m} May."),
           ("The budget for {a} is due on {m} May.",
            "The first draft of the report for {a} was read on {m} April."), "task"),
    Family("firm", (),
           ("Drawings of {a} are in millimetres.", "{a} makes its drawings in millimetres."),
           ("Drawings of {a} are in inches.", "Drawings of {a} are in inches and not in millimetres."),
           ("Invoices of {a} are in Swiss francs.", "Drawings of {a} are in the blue cabinet.")),
    Family("project", ("AES-256", "age", "GPG", "LUKS", "Vault transit keys"),
           ("Backups of {a} are encrypted with {x}.", "{a} encrypts its backups with {x}.",
            "{x} is used to encrypt the backups of {a}."),
           ("Backups of {a} are not encrypted.", "Backups of {a} are encrypted with {y}."),
           ("Laptops of the {a} team are encrypted with {y}.", "Backups of {a} are copied to a second site.")),
    Family("firm", ("once", "twice", "three times", "four times", "six times"),
           ("The board of {a} meets {x} a year.", "{a}'s board meets {x} a year.",
            "The board of {a} meets {x} per year."),
           ("The board of {a} meets {y} a year.", "The board of {a} meets {y} a year instead of {x}."),
           ("The auditors of {a} come {y} a year.", "The board of {a} is elected by the staff.")),
    Family("project", (),
           ("{a} supports Safari {n} and newer.", "{a} supports Safari from version {n} on."),
           ("{a} does not support Safari.", "{a} dropped Safari; it is no longer supported."),
           ("{a} supports Firefox {m} and newer.", "{a} blocks Safari users from the beta programme only.")),
)  # fmt: skip


def planted_life(count: int, now: datetime, real: Sequence[str] = (), seed: int = 31) -> Planted:
    """About `count` memories and their labels, mixed with texts of others, `real`, which have none."""
    chance, made = random.Random(seed), Planted()
    subjects = {id(family): _subjects(family.subject, chance) for family in FAMILIES}
    number = iter(range(1, 10 * count))

    def add(content: str, **fields: object) -> Memory:
        n = next(number)
        at = fields.pop("at", None) or now - timedelta(days=chance.randrange(21, 80), seconds=n)
        assert isinstance(at, datetime)
        content = content[0].upper() + content[1:] if fields.pop("tidy", True) else content
        values: dict[str, object] = {"scope": _scope(chance), "source": make(1, 1), **fields}
        memory = Memory(
            make(int(at.timestamp() * 1000), n), content, created_at=at, updated_at=at, content_hash=key(content),
            **values,  # type: ignore[arg-type]
        )  # fmt: skip
        made.memories.append(memory)
        return memory

    for text in real:
        add(text)
    while len(made.memories) < count:
        family = chance.choice(FAMILIES)
        _plant(made, add, family, _slots(family, next(subjects[id(family)]), chance), chance, now)
    return made


def _plant(
    made: Planted, add: Callable[..., Memory], family: Family, slots: dict[str, str], chance: random.Random,
    now: datetime,
) -> None:  # fmt: skip
    said = chance.choice(family.says).format(**slots)
    lot, same = chance.random(), {"kind": family.kind, "scope": _scope(chance)}
    if lot < 0.11:
        first = add(said, **same)
        made.same[add(_again(family, said, slots, chance), tidy=False, **same).id] = first.id
        if chance.random() < 0.2:  # what two people or two projects know is known twice
            add(said, kind=family.kind, scope=Scope(project="another", user="someone"))
    elif lot < 0.16:
        first = add(said, **same)
        later = first.created_at + timedelta(days=chance.randrange(2, 20))
        second = add(chance.choice(family.against).format(**slots), at=later, **same)
        made.opposed.add(frozenset((first.id, second.id)))
    elif lot < 0.21:
        add(said, **same)
        add(chance.choice(family.beside).format(**slots), **same)
    elif lot < 0.225:  # true one after the other
        turn = now - timedelta(days=chance.randrange(25, 60))
        add(said, valid_to=turn, **same)
        add(chance.choice(family.against).format(**slots), valid_from=turn, **same)
    elif lot < 0.275:
        gone = now - timedelta(hours=chance.choice((1, 30, 200, 900, 5000)))
        made.expired.add(add(said, expires_at=gone, **same).id)
    elif lot < 0.31:
        add(said, expires_at=now + timedelta(hours=chance.choice((1, 30, 200, 5000))), **same)
    elif lot < 0.32:
        add(said, expires_at=now - timedelta(days=9), tags=("pinned",), **same)
    elif lot < 0.36:
        old = now - timedelta(days=chance.randrange(460, 1500))
        plain = same | {"kind": "fact"}
        made.decayed.add(add(said, at=old, importance=chance.choice((2, 3, 4, 5)), **plain).id)
    elif lot < 0.38:  # as old, but used, or not yet old enough
        plain, old = same | {"kind": "fact"}, now - timedelta(days=chance.randrange(460, 1500))
        if chance.random() < 0.5:
            add(said, at=old, accessed=3, last_accessed_at=now - timedelta(days=15), **plain)
        else:
            add(said, at=now - timedelta(days=200), **plain)
    else:
        add(said, **same)


def _again(family: Family, said: str, slots: dict[str, str], chance: random.Random) -> str:
    """The same once more, as it is noted a second time."""
    how = chance.random()
    if how < 0.35:
        other = [one for one in (each.format(**slots) for each in family.says) if one != said]
        again = chance.choice(other)
        return again[0].upper() + again[1:]
    if how < 0.55:
        opening = chance.choice(OPENINGS)
        return opening.format(said if said.startswith(slots["a"]) else said[0].lower() + said[1:])
    if how < 0.70:
        return typo(said, chance)
    if how < 0.85:
        for written, otherwise in WRITTEN:
            said = said.replace(written, otherwise)
        return said.rstrip(".")
    return chance.choice((said.lower(), said.rstrip("."), said.replace(" ", "  "), f"«{said}»", f"- {said}"))


def _scope(chance: random.Random) -> Scope:
    projects = Scope(), Scope(project="atlas"), Scope(project="borealis")
    return chance.choice((*projects, Scope(user="mara"), Scope(agent="scribe")))


def _slots(family: Family, subject: str, chance: random.Random) -> dict[str, str]:
    x, y = chance.sample(family.values, 2) if family.values else ("", "")
    n, m = chance.sample(range(2, 30), 2)
    p, q = (f"{chance.choice(FIRST)} {chance.choice(LAST)}" for _ in "pq")
    return {"a": subject, "x": x, "y": y, "n": str(n), "m": str(m), "p": p, "q": q}


def _subjects(sort: str, chance: random.Random) -> Iterator[str]:
    """Names, each once; when they run out, each with a number."""
    parts = {"person": (FIRST, LAST, " "), "project": (ADJECTIVE, NOUN, "-"), "firm": (FIRM, TRADE, " ")}
    before, after, between = parts[sort]
    names = [f"{one}{between}{two}" for one in before for two in after]
    round = 1
    while True:
        chance.shuffle(names)
        yield from (name if round == 1 else f"{name}{between}{round}" for name in names)
        round += 1
