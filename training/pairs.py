"""What the reader learns from, as pairs of texts with a label: one JSON object a line.

    python pairs.py OUT [--data DIR]

Authored data in `authored/` (see its README): *frames* (an attribute with subjects, values and many wordings of the
statement, its change, its denial and the question), *groups* (free texts with paraphrases, opposites and what only
looks alike) and *stores* (notes with questions and prompts). A program combines them. Beside these: minimal pairs made
from word tables, the questions and notes of `notes/`, the half of our own pairs that is for fitting, statements of real
and written messages with what readers kept of them (`durable`), and what the packaged weights say of prompts and notes
(`keep`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from word_tables import groups

Row = dict[str, Any]
# Attributes that may have several values at once: another value is no contradiction.
SEVERAL = re.compile(
    r"dependen|allerg|workaround|reason|contact|flag|cause|skill|spoken|hobby|ingredient|feature|symptom|member|tag|"
    r"supported|includes|side effect|known issue|prerequisite|alternative", re.I
)  # fmt: skip
CONTEXTS = (
    "in staging", "in production", "on Windows", "on macOS", "for new users", "for admins", "on weekends",
    "during the freeze", "in the EU region", "on the free plan", "in CI", "locally", "on the old cluster",
    "in the mobile app", "for guests", "at night", "in the test environment", "for internal tools", "on release days",
    "behind the proxy", "in version 2", "in version 3", "for the pilot customers", "on the replica", "in debug mode",
    "per tenant", "for batch jobs", "over VPN", "in the sandbox", "after the migration", "before the migration",
    "while nobody is on call", "in the legacy stack", "for large files", "since May", "until the audit",
)  # fmt: skip
NAMED = 0.5  # of the subjects are made-up names
OPENINGS = (
    "FYI, ",
    "Note: ",
    "Just so you know: ",
    "As agreed, ",
    "Reminder: ",
    "For the record, ",
    "Heads-up: ",
    "btw ",
)
MANNERS = ("Please, ", "Quick question: ", "hey, ", "Hi, ", "Can you tell me: ", "do you know, ")


def row(task: str, a: str, b: str, label: Any, fold: str, weight: float = 1.0) -> Row:
    return {"task": task, "a": a, "b": b, "label": label, "fold": fold, "weight": weight}


# -- wording ----------------------------------------------------------------------------------------------------------


def typo(text: str, chance: random.Random) -> str:
    """Two letters of a long word exchanged, one left out or doubled; never in a number or a name in code."""
    words = text.split(" ")
    able = [n for n, word in enumerate(words) if len(word) > 5 and word.isalpha() and word.islower()]
    if not able:
        return text
    at = chance.choice(able)
    word, place = words[at], chance.randrange(1, len(words[at]) - 2)
    words[at] = chance.choice((
        word[:place] + word[place + 1] + word[place] + word[place + 2 :], word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
    ))  # fmt: skip
    return " ".join(words)


def dressed(text: str, chance: random.Random, asks: bool = False) -> str:
    """The same text as people write it: with or without a capital, a full stop, an opening or a slip of the finger."""
    if chance.random() < 0.06:
        text = typo(text, chance)
    if chance.random() < 0.08:
        text = chance.choice(MANNERS if asks else OPENINGS) + text
    if chance.random() < 0.6:
        text = text[:1].upper() + text[1:]
    elif chance.random() < 0.15 and asks:
        text = text.lower()
    if asks:
        if text[-1:] != "?" and chance.random() < 0.5:
            text += "?"
        elif chance.random() < 0.15:
            text = text.rstrip("?")
    elif text[-1:] not in ".!?" and chance.random() < 0.6:
        text += "."
    return text


def within(text: str, context: str, chance: random.Random, asks: bool = False) -> str:
    bare = text.rstrip(".?! ")
    end = "?" if asks and text.endswith("?") else ""
    return f"{bare} {context}{end}" if chance.random() < 0.5 else f"{context}, {text}"


# -- frames -----------------------------------------------------------------------------------------------------------


class Frame:
    """One attribute of some subjects, with all the wordings an author gave it."""

    def __init__(self, told: Row, fold: str) -> None:
        self.told, self.fold = told, fold
        self.subjects, self.values = told["S"], told["V"]
        self.single = not SEVERAL.search(told["attr"])

    def some(self, what: str, chance: random.Random) -> str:
        found = self.told.get(what) or [""]
        return str(chance.choice(found))

    def say(self, what: str, chance: random.Random, s: str, v: str = "", before: str = "", but: str = "") -> str:
        """A wording with its places filled; not the wording `but`."""
        able = [one for one in self.told.get(what) or () if one != but]
        if not able:
            return ""
        wording = chance.choice(able)
        return fill(wording, s, v, before)


def fill(wording: str, s: str, v: str = "", before: str = "") -> str:
    return wording.replace("{S}", s).replace("{V0}", before).replace("{V}", v)


def two(found: Sequence[str], chance: random.Random) -> tuple[str, str]:
    first, second = chance.sample(list(found), 2) if len(found) > 1 else (found[0], found[0])
    return first, second


SYLLABLES = "ka lo mi ren tas vor el dun bra sho pel quin zar wes nor fal gri ste mar cor hal jun".split()
THINGS = "falcon osprey maple granite comet saffron birch pelican juno basalt lotus cobalt orchid".split()
COLOURS = "red blue silver north old tiny grand swift lucky round sharp pale outer royal misty".split()
PEOPLE = (
    "Amara Bruno Celeste Dario Edda Felix Gwen Henrik Ilse Jonah Kiran Lucia Mads Nora Otis Petra Ravi Sonja".split()
)
FAMILIES = "Abbott Brandt Costa Delgado Engel Farkas Gomez Hansen Ivanov Jensen Keller Lopez".split()


def a_name(chance: random.Random) -> str:
    """A made-up name of a project, a machine or a person: nothing but the name tells it from another."""
    made = "".join(chance.sample(SYLLABLES, 2))
    return chance.choice((
        f"{chance.choice(COLOURS)}-{chance.choice(THINGS)}", made, made.capitalize(),
        f"{made}-{chance.randrange(1, 30)}",
        f"{chance.choice(PEOPLE)} {chance.choice(FAMILIES)}", f"{chance.choice(FAMILIES)} {made.capitalize()}",
        f"project {chance.choice(THINGS)}", f"the {made} service",
        f"lab {chance.choice(COLOURS)}-{chance.choice(THINGS)}",
    ))  # fmt: skip


def subjects(frame: Frame, chance: random.Random) -> tuple[str, str]:
    """Two subjects of a frame; sometimes made-up names, of which one word or all may differ."""
    if chance.random() > NAMED:
        return two(frame.subjects, chance)
    one, other = a_name(chance), a_name(chance)
    first, second = one.split("-" if "-" in one else " "), other.split("-" if "-" in other else " ")
    if len(first) > 1 and chance.random() < 0.4:
        joint = "-" if "-" in one else " "
        other = joint.join([*first[:-1], second[-1]] if chance.random() < 0.5 else [second[0], *first[1:]])
    return (one, other) if one != other else two(frame.subjects, chance)


def statements(frame: Frame, others: Sequence[Frame], chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Pairs of statements of one frame with their relation."""
    wordings = frame.told["statements"]
    s, t = subjects(frame, chance)
    v, w = two(frame.values, chance)
    one, other = two(wordings, chance)
    context, elsewhere = chance.sample(CONTEXTS, 2)
    here = fill(one, s, v)
    yield "same", here, fill(other, s, v)
    yield "same", here, fill(other, s, v)
    if chance.random() < 0.5:
        yield "same", within(here, context, chance), within(fill(other, s, v), context, chance)
    changes = [told for told in frame.told.get("changes", ()) if "{V0}" not in told]
    if changes and chance.random() < 0.5:
        yield "same", fill(chance.choice(changes), s, v), fill(one, s, v)
    if frame.told.get("negated"):
        denied = frame.say("negated", chance, s, v)
        if len(frame.told["negated"]) > 1 and chance.random() < 0.4:
            yield "same", denied, frame.say("negated", chance, s, v, but="")
        yield "opposed", here, denied
        yield "other", frame.say("negated", chance, s, v), fill(one, s, w)
        yield "other", frame.say("negated", chance, t, v), here
    if frame.single and len(frame.values) > 1:
        yield "opposed", here, fill(other, s, w)
        yield "opposed", here, fill(one, s, w)
        if frame.told.get("changes"):
            yield "opposed", here, frame.say("changes", chance, s, w, v)
        if chance.random() < 0.3:
            yield "opposed", within(here, context, chance), within(fill(other, s, w), context, chance)
        if chance.random() < 0.3 and s != t:
            yield "opposed", f"{here}; {fill(one, t, w)}", f"{fill(one, s, w)}; {fill(one, t, v)}"
            yield "same", f"{here}; {fill(one, t, w)}", f"{fill(one, t, w)}; {fill(one, s, v)}"
    if frame.told.get("narrower"):
        narrow = frame.say("narrower", chance, s, v)
        yield "narrower", here, narrow
        if chance.random() < 0.4:
            yield "other", fill(one, s, w), narrow
        if chance.random() < 0.3:
            yield "other", fill(one, t, v), narrow
    yield "narrower", here, within(fill(chance.choice((one, other)), s, v), context, chance)
    yield "other", within(here, context, chance), within(fill(other, s, chance.choice((v, w))), elsewhere, chance)
    if s != t:
        yield "other", here, fill(chance.choice((one, other)), t, v)
        yield "other", here, fill(chance.choice((one, other)), t, w)
        if frame.told.get("changes") and chance.random() < 0.4:
            yield "other", here, frame.say("changes", chance, t, w, v)
    if frame.told.get("others"):
        yield "other", here, frame.say("others", chance, s)
        first, second = two(frame.told["others"], chance)
        if first != second:
            yield "other", fill(first, s), fill(second, s)
    far = chance.choice(others)
    yield "other", here, far.say("statements", chance, s, chance.choice(far.values))


def questions(frame: Frame, others: Sequence[Frame], chance: random.Random) -> Iterator[tuple[int, str, str]]:
    """Pairs of questions of one frame, and whether they ask the same."""
    s, t = subjects(frame, chance)
    v, w = two(frame.values, chance)
    one, other = two(frame.told["questions"], chance)
    context, elsewhere = chance.sample(CONTEXTS, 2)
    asked = fill(one, s)
    for _ in range(3):
        first, second = two(frame.told["questions"], chance)
        yield 1, fill(first, s), fill(second, s)
    if chance.random() < 0.5:
        yield 1, within(asked, context, chance, True), within(fill(other, s), context, chance, True)
    yield 0, asked, within(fill(chance.choice((one, other)), s), context, chance, True)
    yield 0, within(asked, context, chance, True), within(fill(chance.choice((one, other)), s), elsewhere, chance, True)
    if s != t:
        yield 0, asked, fill(chance.choice((one, other)), t)
    near = chance.choice(others)
    yield 0, asked, near.say("questions", chance, s)
    yield 0, asked, near.say("questions", chance, s)
    if frame.told.get("yesno"):
        sure = frame.say("yesno", chance, s, v)
        yield 0, asked, sure
        if len(frame.told["yesno"]) > 1:
            first, second = two(frame.told["yesno"], chance)
            yield 1, fill(first, s, v), fill(second, s, v)
        if v != w:
            yield 0, sure, frame.say("yesno", chance, s, w)


def answered(frame: Frame, others: Sequence[Frame], chance: random.Random) -> Iterator[tuple[Row, str, str]]:
    """A question with a note that answers it, or that only speaks of the same."""
    s, t = two(frame.subjects, chance)
    v = chance.choice(frame.values)
    far = chance.choice(others)
    asked = frame.say("questions", chance, s) if chance.random() < 0.8 else frame.say("yesno", chance, s, v)
    right = frame.say(chance.choice(("statements", "statements", "changes")), chance, s, v, chance.choice(frame.values))
    beside = [frame.say("others", chance, s), far.say("statements", chance, s, chance.choice(far.values))]
    if not asked or not right:
        return
    yield {"answers": 1, "helps": 1}, asked, noted([right], beside, chance)
    yield {"answers": 0}, asked, noted([far.say("statements", chance, s, chance.choice(far.values))], [], chance)
    wrong = [frame.say("others", chance, s)] if chance.random() < 0.5 else [frame.say("statements", chance, t, v)]
    if wrong[0] and s != t:
        yield {"answers": 0}, asked, noted(wrong, [frame.say("others", chance, t)], chance)


def noted(first: Sequence[str], more: Sequence[str], chance: random.Random) -> str:
    """A note: a statement, sometimes among others of the same subject."""
    said = [*first, *(one for one in more if one and chance.random() < 0.25)]
    chance.shuffle(said)
    return " ".join(dressed(one, chance).rstrip(".") + "." for one in said)


def of_frames(folder: Path, rounds: int, chance: random.Random) -> Iterator[Row]:
    for path in sorted(folder.glob("*.jsonl*")):
        fold = f"frames-{path.name.split('.')[0]}"
        frames = [Frame(told, fold) for told in lines(path)]
        frames = [one for one in frames if len(one.subjects) > 1 and one.told.get("statements") and one.values]
        for number, frame in enumerate(frames):
            frame.fold = f"{fold}{'x' * (number % 8 == 7)}"
            others = [one for one in frames if one is not frame and one.told["domain"] == frame.told["domain"]] or [
                one for one in frames if one is not frame
            ]
            for _ in range(rounds):
                for label, a, b in statements(frame, others, chance):
                    yield from paired("relation", a, b, label, frame.fold, chance)
                for same, a, b in questions(frame, others, chance):
                    yield from paired("asks_same", a, b, same, frame.fold, chance, asks=True)
                for answers, a, b in answered(frame, others, chance):
                    yield row("answers", dressed(a, chance, asks=True), b, answers, frame.fold)


def paired(
    task: str, a: str, b: str, label: Any, fold: str, chance: random.Random, asks: bool = False, weight: float = 1.0
) -> Iterator[Row]:
    """A pair in either order; equal texts say nothing."""
    if not a or not b or "{" in a + b:
        return
    a, b = (dressed(text, chance, asks) for text in chance.sample((a, b), 2))
    if a.casefold().strip(".?! ") != b.casefold().strip(".?! ") or label in ("same", 1):
        yield row(task, a, b, label, fold, weight)


def lines(path: Path) -> list[Row]:
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


# -- what a thing is --------------------------------------------------------------------------------------------------


def of_kinds(path: Path, rounds: int, chance: random.Random) -> Iterator[Row]:
    """Questions and tasks that name a kind of thing, with notes that name one of the kind and never say what it is."""
    head, *rest = path.read_text("utf-8").split("\n@")
    wordings = {name: told for name, *told in (part.strip().splitlines() for part in rest)}
    kinds = [tuple(re.split(sign, side) for sign, side in zip((r"; ", r", "), line.split(" | "), strict=True))
             for line in head.strip().splitlines()]  # fmt: skip

    def say(what: str, names: Sequence[str], values: Sequence[str], product: str) -> str:
        first, second = two(values, chance)
        name = chance.choice(names)
        clause = re.match(r"(how|where|what|who|when)\b", name) is not None and what != "statements"
        told = chance.choice(wordings[f"{what} of clauses" if clause else what])
        return told.replace("{K}", name).replace("{V}", first).replace("{W}", second).replace(
            "{P}", product
        )  # fmt: skip

    for number, (names, values) in enumerate(kinds):
        fold = f"kinds-{path.stem}{'x' * (number % 8 == 7)}"
        for _ in range(rounds):
            product, elsewhere = chance.sample(PRODUCTS, 2)
            far, others = chance.choice([other for other in kinds if not set(values) & set(other[1])])
            right, wrong = say("statements", names, values, product), say("statements", far, others, product)
            asked, task = say("questions", names, values, product), say("tasks", names, values, product)
            note = noted([right], [wrong], chance) if chance.random() < 0.2 else dressed(right, chance)
            yield row("answers", dressed(asked, chance, asks=True), note, {"answers": 1, "helps": 1}, fold)
            yield row("answers", dressed(task, chance), note, {"helps": 1}, fold)
            for one in (asked, task):
                yield row("answers", dressed(one, chance), dressed(wrong, chance), {"answers": 0, "helps": 0}, fold)
            if product in asked:
                missed = say("statements", names, values, elsewhere)
                if elsewhere in missed:
                    yield row("answers", dressed(asked, chance), dressed(missed, chance), {"answers": 0}, fold)


# -- word tables ------------------------------------------------------------------------------------------------------

HOW = (
    "How do I {x}?", "How can I {x}?", "What is the way to {x}?", "how to {x}", "What are the steps to {x}?",
    "how does one {x}", "I want to {x}, how?", "best way to {x}?", "What do I have to do to {x}?", "how would you {x}",
)  # fmt: skip
OTHERWISE = (
    "Why do we {x}?", "When do we {x}?", "Who can {x}?", "Where do I {x}?", "Can I {x}?", "How often do we {x}?",
    "Should I {x}?", "Did we {x}?", "How long does it take to {x}?", "What happens if I {x}?", "Who decided to {x}?",
    "What happened when we tried to {x}?", "Do we still {x}?", "Will we {x}?", "What does it cost to {x}?",
    "How do I avoid having to {x}?", "How do I not {x}?", "Must we {x}?", "May we {x}?", "Why can't I {x}?",
)  # fmt: skip
DO = (
    "Always {x}.",
    "Make sure to {x}.",
    "You must {x}.",
    "Remember to {x}, every time.",
    "We {x}.",
    "It is our rule to {x}.",
)
DONT = (
    "Never {x}.",
    "Don't {x}.",
    "You must not {x}.",
    "We do not {x}.",
    "It is forbidden to {x}.",
    "We no longer {x}.",
)
STATES = (
    "enabled disabled; public private; open closed; required optional; synchronous asynchronous; manual automatic; "
    "internal external; encrypted unencrypted; online offline; mutable immutable; stable unstable; visible hidden; "
    "supported unsupported; free paid; safe unsafe; on off; active inactive; full empty; signed unsigned; green red; "
    "read-only writable; persistent ephemeral; local remote; shared dedicated; mandatory voluntary; locked unlocked"
)
PRODUCTS = (
    "billing",
    "checkout",
    "the gateway",
    "search-api",
    "the wiki",
    "our mobile app",
    "the warehouse",
    "Atlas",
    "lab 4",
)


def of_words(count: int, chance: random.Random) -> Iterator[Row]:
    """Minimal pairs: another action, thing, kind of question, scope or state, and the same with another word for it."""
    actions, things = groups("questions", "actions"), groups("questions", "things")
    opposites = [pair for pair in groups("opposites", "questions") if len(pair) == 2]
    known = {word for group in actions for word in group}
    against = [pair for pair in opposites if known.issuperset(pair)]
    scope = [group[0] for group in groups("questions", "scope")]
    names = [group for group in groups("questions", "names") if len(group[0]) > 2]
    fold = "words"
    for _ in range(count):
        group, thing = chance.choice(actions), chance.choice(things)
        act, noun = chance.choice(group), chance.choice(thing)
        tail = chance.choice(("", "", f" {chance.choice(CONTEXTS)}", f" in {chance.choice(names)[0]}"))
        x = f"{act} the {noun}{tail}"
        first, second = chance.sample(HOW, 2)
        asked = first.replace("{x}", x)
        wider = chance.choice([one for one in things if one is not thing])[0]
        made = [
            (1, second.replace("{x}", x)),
            (1, second.replace("{x}", f"{chance.choice(group)} the {chance.choice(thing)}{tail}")),
            (0, second.replace("{x}", f"{chance.choice(chance.choice(actions))} the {noun}{tail}")),
            (0, second.replace("{x}", f"{act} the {chance.choice(chance.choice(things))}{tail}")),
            (0, second.replace("{x}", f"{act} the {wider} {noun}{tail}")),
            (0, second.replace("{x}", f"{act} the {chance.choice(scope)} {noun}{tail}")),
            (0, second.replace("{x}", f"{act} the {noun} in {chance.choice(names)[0]}")),
            (0, chance.choice(OTHERWISE).replace("{x}", x)),
        ]
        for same, b in made:
            if same or not _same_words(asked, b, actions, things):
                yield from paired("asks_same", asked, b, same, fold, chance, True, 0.7)
        one, other = chance.choice(against)
        yield from paired(
            "asks_same", first.replace("{x}", f"{one} the {noun}{tail}"),
            second.replace("{x}", f"{other} the {noun}{tail}"), 0, fold, chance, True, 0.7,
        )  # fmt: skip
        yield from _rules(x, f"{chance.choice(chance.choice(actions))} the {noun}", fold, chance)
        yield from _states(thing, things, fold, chance)


def _same_words(a: str, b: str, *tables: Sequence[Sequence[str]]) -> bool:
    """Whether two questions that were meant to differ came out the same, by words for one another."""
    first = {word: min(group) for table in tables for group in table for word in group}
    one, other = ({first.get(w, w) for w in re.findall(r"[\w-]+", text.lower())} for text in (a, b))
    small = {w for how in HOW for w in re.findall(r"[\w-]+", how.lower())} | {"the"}
    return one - small == other - small and not any(b.startswith(how.split(" {x}")[0]) for how in OTHERWISE)


def _rules(x: str, y: str, fold: str, chance: random.Random) -> Iterator[Row]:
    do, again = chance.sample(DO, 2)
    dont, never = chance.sample(DONT, 2)
    for label, a, b in (
        ("same", do.replace("{x}", x), again.replace("{x}", x)),
        ("same", dont.replace("{x}", x), never.replace("{x}", x)),
        ("opposed", do.replace("{x}", x), dont.replace("{x}", x)),
        ("other", do.replace("{x}", x), again.replace("{x}", y)),
        ("other", do.replace("{x}", x), dont.replace("{x}", y)),
        ("narrower", do.replace("{x}", x), again.replace("{x}", f"{x} {chance.choice(CONTEXTS)}")),
    ):  # fmt: skip
        yield from paired("relation", a, b, label, fold, chance, weight=0.7)


def _states(thing: Sequence[str], things: Sequence[Sequence[str]], fold: str, chance: random.Random) -> Iterator[Row]:
    pairs = [pair.split() for pair in STATES.split(";")]
    (one, other), (third, _) = chance.sample(pairs, 2)
    if chance.random() < 0.5:
        one, other = other, one
    noun, product, elsewhere = chance.choice(thing), *chance.sample(PRODUCTS, 2)
    wordings = [
        "the {n} of {p} is {s}", "{p} has a {n} that is {s}", "{n} of {p}: {s}", "for {p} the {n} is {s}",
        "{p}'s {n} is {s}",
    ]  # fmt: skip
    first, second = chance.sample(wordings, 2)

    def say(wording: str, n: str, p: str, s: str) -> str:
        return wording.replace("{n}", n).replace("{p}", p).replace("{s}", s)

    here = say(first, noun, product, one)
    another = chance.choice([group for group in things if group is not thing])[0]
    for label, b in (
        ("same", say(second, noun, product, one)), ("opposed", say(second, noun, product, other)),
        ("opposed", say(first, noun, product, f"not {one}")), ("same", say(first, noun, product, f"not {other}")),
        ("other", say(second, noun, product, third)), ("other", say(second, noun, elsewhere, other)),
        ("other", say(first, another, product, other)),
    ):  # fmt: skip
        yield from paired("relation", here, b, label, fold, chance, weight=0.7)


# -- questions and notes that are in the repository -------------------------------------------------------------------


def of_own(chance: random.Random) -> Iterator[Row]:
    """The half of our own pairs of questions that is for fitting."""
    from recollect_eval.answers import pairs

    for name, same in (("refuse", 0), ("hit", 1)):
        for pair in pairs(name):
            if pair.part == "dev":
                for _ in range(3):
                    yield from paired("asks_same", pair.asked, pair.known, same, "own", chance, True, 1.5)


def of_notes(chance: random.Random) -> Iterator[Row]:
    """Two notes of a project are other things, but for one that took another's place; so are two questions."""
    import notes

    for corpus in notes.corpora("abcdefgh"):
        fold = f"notes-{corpus.name[0]}"
        said = {item.key: item.draft.content for item in corpus.items}
        gone = {(item.key, old) for item in corpus.items for old in item.supersedes}
        stale = {(a, b) for q in corpus.questions for a in q.label("answers") for b in q.label("stale")}
        for new, old in sorted(gone & stale):
            if max(len(said[new]), len(said[old])) < 400:
                yield from paired("relation", said[new], said[old], "opposed", fold, chance, weight=0.7)
        near = neighbours([said[item.key] for item in corpus.items], 2)
        keys = [item.key for item in corpus.items]
        for n, others in near:
            for m in others:
                pair = (keys[n], keys[m])
                tied = {pair, pair[::-1]} & (gone | stale)
                if not tied and max(len(said[k]) for k in pair) < 400 and chance.random() < 0.5:
                    yield from paired("relation", said[pair[0]], said[pair[1]], "other", fold, chance, weight=0.7)
        asked = list(corpus.questions)
        for n, others in neighbours([one.text for one in asked], 2):
            for m in others:
                if asked[n].label("answers") != asked[m].label("answers") and chance.random() < 0.5:
                    yield from paired("asks_same", asked[n].text, asked[m].text, 0, fold, chance, True, 0.7)


def of_planted(chance: random.Random) -> Iterator[Row]:
    """The labelled store that the janitor is tested with, `team`; `life` judges. And half of the labelled conflicts."""
    import sys
    from datetime import UTC, datetime

    sys.path.insert(0, str(ROOT / "tests"))
    from planted import planted

    made = planted(4000, datetime(2026, 3, 2, 9, tzinfo=UTC))
    said = {memory.id: memory.content for memory in made.memories}
    tied = {frozenset(pair) for pair in made.same.items()} | set(made.opposed)
    for one, other in made.same.items():
        for _ in range(2):
            yield from paired("relation", said[one], said[other], "same", "planted", chance)
    for pair in made.opposed:
        one, other = sorted(pair)
        for _ in range(5):
            yield from paired("relation", said[one], said[other], "opposed", "planted", chance)
    keys = [id for id in said if len(said[id]) < 300]
    alike = {said[id]: id for id in keys}
    for n, others in neighbours(list(alike), 3):
        one = list(alike.values())[n]
        for m in others:
            other = list(alike.values())[m]
            scopes = {made_.id: made_.scope for made_ in made.memories if made_.id in (one, other)}
            if frozenset((one, other)) not in tied and scopes[one] == scopes[other] and not _chained(one, other, made):
                yield from paired("relation", said[one], said[other], "other", "planted", chance, weight=0.7)
    for number, line in enumerate(lines(ROOT / "tests" / "capture" / "conflicts.jsonl")):
        label = "opposed" if line["conflict"] else "other"
        for _ in range(3 * (number % 2)):
            yield from paired("relation", line["old"], line["new"], label, "conflicts", chance)


def _chained(one: str, other: str, made: Any) -> bool:
    """Whether two memories are tied through others: they repeat one text, or contradict what repeats it."""
    first, second = made.same.get(one, one), made.same.get(other, other)
    return first == second or any({made.same.get(id, id) for id in pair} == {first, second} for pair in made.opposed)


def nearest(texts: Sequence[str], asked: Sequence[str], count: int) -> list[list[int]]:
    """The texts that the packaged embedder puts nearest to each question, which is what recall reads."""
    import numpy as np

    embedder = load_embedder()
    near = embedder.embed(asked, "query") @ embedder.embed(texts, "document").T
    return [[int(n) for n in line] for line in np.argsort(-near, axis=1)[:, :count]]


@cache
def load_embedder() -> Any:
    from recollect.models.embedder import load
    from recollect_eval.cache import CachedEmbedder

    return CachedEmbedder(load(), ROOT / "bench" / ".cache")


def neighbours(texts: Sequence[str], count: int) -> list[tuple[int, list[int]]]:
    """The texts that share the rarest words with each, by the cosine of word counts."""
    import numpy as np

    words = [set(re.findall(r"\w{3,}", text.lower())) for text in texts]
    every = {word: n for n, word in enumerate(sorted(set().union(*words)))}
    table = np.zeros((len(texts), len(every)), np.float32)
    for n, some in enumerate(words):
        table[n, [every[word] for word in some]] = 1
    table *= np.log(1 + len(texts) / np.maximum(table.sum(0), 1))
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-6)
    near = table @ table.T
    np.fill_diagonal(near, -1)
    return [(n, [int(m) for m in np.argsort(-line)[:count]]) for n, line in enumerate(near)]


# -- prompts and notes ------------------------------------------------------------------------------------------------


def of_tasks(tasks: Sequence[Row], chance: random.Random, labelled: bool, few: int) -> Iterator[Row]:
    """Prompts with notes: labelled, or to be given the logits of the packaged weights (`keep`)."""
    for task in tasks:
        texts, fold = task["texts"], task["fold"]
        near = nearest(texts, [one["question"] for one in task["asked"]], 12)
        for place, one in enumerate(task["asked"]):
            right = [*one["answers"], *one["related"]]
            others = [n for n in near[place] if n not in {*right, *one["unsure"]}]
            some = [(n, 1) for n in right[:4]] + [(n, 0) for n in [*one.get("near", ())[:1], *others[:few]]]
            if chance.random() < 0.5:
                some.append((chance.randrange(len(texts)), 0 if len(texts) > 5 else -1))
            for n, helps in some:
                if not labelled:
                    yield row("keep", one["question"], texts[n], None, fold)
                    continue
                if helps < 0 or (not helps and n in {*right, *one["unsure"]}):
                    continue
                label = {"helps": helps, "answers": int(n in one["answers"])}
                if n in one["related"] and not one["answers"]:
                    del label["answers"]
                yield row("answers", one["question"], texts[n], label, fold)


def kept(rows: list[Row]) -> list[Row]:
    """The logits that the packaged weights give."""
    import torch

    import fit_reader
    import fit_relevance

    torch.set_num_threads(1)
    model = fit_reader.opened(fit_relevance.TARGET)
    given = fit_reader.score(model, fit_reader.tokenized(rows))[:, :2].tolist()
    return [{**one, "label": {"logits": [round(x, 3) for x in two]}} for one, two in zip(rows, given, strict=True)]


# -- all of it --------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[1]
AUTHORED = ROOT / "training" / "authored"
ROUNDS, REPEATED, WORDS = 14, 4, 700  # passes over each frame and group, and of the word tables
CORPORA, KEEP = 60, 12_000  # corpora of which the packaged weights' logits are rehearsed, and how many of them
DOUBTFUL = 0.5  # the weight of a statement that some would keep and some would not
FEW = 6  # notes beside the right ones that a prompt is shown with


def of_groups(folder: Path, chance: random.Random) -> Iterator[Row]:
    """Free texts with paraphrases, opposites, narrower ones and others."""
    for path in sorted(folder.glob("*.jsonl*")):
        fold = f"groups-{path.name.split('.')[0]}"
        for number, told in enumerate(lines(path)):
            yield from _group(told, f"{fold}{'x' * (number % 8 == 7)}", chance)


def _group(told: Row, fold: str, chance: random.Random) -> Iterator[Row]:
    for _ in range(1 if fold.endswith("x") else REPEATED):
        yield from _group_once(told, fold, chance)


def _group_once(told: Row, fold: str, chance: random.Random) -> Iterator[Row]:
    task = "asks_same" if told.get("kind") == "question" else "relation"
    said = [told["base"], *told.get("same", ())]

    def labelled(relation: str) -> Any:
        return relation if task == "relation" else int(relation == "same")

    for n, one in enumerate(said):
        for other in said[n + 1 :]:
            yield from paired(task, one, other, labelled("same"), fold, chance, task == "asks_same", 1.5)
    for relation in ("opposed", "narrower", "other"):
        for other in told.get(relation, ()):
            for one in said:
                yield from paired(task, one, other, labelled(relation), fold, chance, task == "asks_same", 1.5)


def of_durable(data: Path) -> Iterator[Row]:
    """The statements of users' messages, each with what was said around it, and whether a reader would keep it."""
    from recollect.capture import durable
    from recollect.capture.segment import LONGEST, statements
    from recollect_eval.capture import marked, share, written

    for turn in (*marked(data / "talk", "train"), *marked(data / "talk", "train-more"), *written()):
        said = [one for one in statements(turn.text, typed=True) if len(one.text) <= LONGEST]
        for one, around in zip(said, durable.in_context(said, turn.text, turn.before), strict=True):
            part, span = share(one.text, one.start, turn.keep)
            kept = part >= 0.5
            weight = DOUBTFUL if (kept and span and span.sure == 1) or 0.2 < part < 0.5 else 1.0
            yield row("durable", one.text, durable.surroundings(around), int(kept), f"turns-{turn.group}", weight)


def gathered() -> list[Row]:
    """The stores of the made-up projects, which the packaged weights have seen."""
    import fit_relevance
    import notes

    return [fit_relevance._task(corpus, f"notes-{corpus.name[0]}") for corpus in notes.corpora("abcdefgh")]


def main() -> None:
    import fit_relevance

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--authored", type=Path, default=AUTHORED)
    parser.add_argument("--data", type=Path, help="the folder of the public data, see bench/README.md")
    parser.add_argument("--kept", type=Path, help="logits of an earlier run, to be used again")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args()
    chance = random.Random(7)
    rows = [*of_frames(args.authored / "frames", args.rounds, chance), *of_groups(args.authored / "groups", chance)]
    for path in sorted((args.authored / "kinds").glob("*.txt")):
        rows += of_kinds(path, args.rounds, chance)
    rows += [*of_words(WORDS, chance), *of_own(chance), *of_notes(chance), *of_planted(chance)]
    rows += of_durable(args.data or ROOT.parent / "shared" / "data")
    prompts = [
        task for path in sorted(fit_relevance.PROMPTS.glob("*-d?.jsonl")) for task in fit_relevance._prompts(path)
    ]
    for path in sorted((args.authored / "stores").glob("*.jsonl*")):
        prompts += fit_relevance._prompts(path)
    rows += of_tasks(prompts, chance, labelled=True, few=FEW)
    if args.kept and args.kept.exists():
        rows += lines(args.kept)
    else:
        again = list(of_tasks(chance.sample(gathered(), CORPORA), chance, labelled=False, few=2))
        again = kept(chance.sample(again, min(KEEP, len(again))))
        rows += again
        if args.kept:
            with gzip.open(args.kept, "wt", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in again)
    with gzip.open(args.out, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
    counts: dict[str, int] = {}
    for one in rows:
        counts[f"{one['task']} {one['fold']}"] = counts.get(f"{one['task']} {one['fold']}", 0) + 1
    print(json.dumps(counts, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
