"""Questions answered by a language model from what is found: the protocol of the public leaderboards, with any model.

LoCoMo's questions with short answers (categories 1 to 4). The reader is given what a method finds for the question in
512 and in 2,000 tokens; nothing; or the whole conversation, of which its newest part where the window is smaller. An
answer is compared with the right one by its words (token F1 and exact match), and by a judge, which is the same model
or another one. Every prompt is asked once, at temperature 0; an answer that the model does not give counts as wrong.
"""

from __future__ import annotations

import re
import string
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recollect import text
from recollect.errors import BadAnswer, BadInput
from recollect.models.embedder import Embedder
from recollect.models.embedder import load as load_model
from recollect.models.llm import LLM
from recollect.models.llm import load as load_llm

from . import controls, locomo, metrics
from .cache import CachedEmbedder
from .corpus import Corpus, Question, place, read_json
from .provenance import provenance
from .subject import Subject

BUDGETS = (512, 2000)
WINDOW = 24_000  # tokens of the whole conversation that a reader is given
MOST = 200  # memories that a budget may hold
OUTPUT = 300  # tokens
READER = (
    "Answer the question from the notes, in as few words as possible: a name, a date, a number or a short phrase. "
    "If the notes do not tell, answer with the most likely short phrase."
)
JUDGE = (
    "A question, its right answer and a given answer. Is the given answer right? It may be longer or worded otherwise; "
    "a date or an amount must be the same."
)
ANSWER = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
VERDICT = {"type": "object", "properties": {"right": {"type": "boolean"}}, "required": ["right"]}
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation))
Say = Callable[[str], None]


def run(
    data: Path | None, cache: Path | None, llm: str, judge: str = "", every: int = 10, say: Say | None = None
) -> dict[str, Any]:  # fmt: skip
    """Ask each n-th question. `llm` is the reader's URL, `judge` another model's, or else the same."""
    if not llm:
        raise BadInput("qa needs a model.", fix="Name one: recollect eval qa --llm 'http://localhost:8000/v1?model=…'")
    reader, judging = load_llm(llm), load_llm(judge or llm)
    model = load_model("default")
    embedder = CachedEmbedder(model, cache) if cache else model
    answers = _answers(data)
    values: dict[str, dict[str, list[float]]] = {}
    for corpus in locomo.load(data).corpora:
        asked = [one for one in corpus.questions if one.key in answers][::every]
        for name, row in _corpus(corpus, asked, answers, embedder, (reader, judging)).items():
            for metric, found in row.items():
                values.setdefault(name, {}).setdefault(metric, []).extend(found)
        if say:
            say(f"qa: {corpus.name}, {len(asked)} questions")
    failed = int(sum(len(row["answered"]) - sum(row["answered"]) for row in values.values()))
    figures = {name: {metric: _mean(found) for metric, found in row.items()} for name, row in values.items()}
    return {"reader": reader.model, "judge": judging.model, "every": every, "failed": failed,
            "questions": len(next(iter(values.values()))["f1"]), "figures": figures, **provenance()}  # fmt: skip


def _corpus(
    corpus: Corpus, asked: list[Question], answers: dict[str, str], embedder: Embedder, models: tuple[LLM, LLM]
) -> dict[str, dict[str, list[float]]]:
    """The scores of the questions about one conversation, by context and metric."""
    values: dict[str, dict[str, list[float]]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="recollect-evaluate-") as folder,
        Subject(corpus, Path(folder) / "store.db", embedder) as subject,
    ):
        systems: dict[str, controls.System] = {"recollect": subject, "bm25": controls.Bm25(corpus)}
        for question in asked:
            for name, context in _contexts(corpus, question, systems):
                scores = _scores(models, question.text, answers[question.key], context)
                for metric, value in {**scores, "tokens": float(text.tokens(context))}.items():
                    values.setdefault(name, {}).setdefault(metric, []).append(value)
    return values


def _mean(found: list[float]) -> dict[str, float]:
    low, high = metrics.interval(found)
    return {"mean": round(sum(found) / len(found), 4), "low": low, "high": high}


def _answers(data: Path | None) -> dict[str, str]:
    """The right answer of each question that has one."""
    told = read_json(place(data, "locomo") / locomo.DATA)
    return {
        f"{one['sample_id']}/{number}": str(asked["answer"])
        for one in told
        for number, asked in enumerate(one["qa"])
        if asked["category"] != 5 and "answer" in asked
    }


def _contexts(corpus: Corpus, question: Question, systems: dict[str, controls.System]) -> Iterator[tuple[str, str]]:
    """What the reader is given, by the name of its row."""
    shown = {item.key: f"[{item.moment:%d %B %Y}] {item.text}" for item in corpus.items}
    costs = {key: text.tokens(line) for key, line in shown.items()}
    yield "no context", ""
    for name, system in systems.items():
        ranked = system.answer(question, MOST).keys
        for budget in BUDGETS:
            taken = metrics.fitting(ranked, costs, budget)
            yield f"{name}, {budget:,} tokens", "\n".join(shown[key] for key in taken)
    newest = metrics.fitting([item.key for item in reversed(corpus.items)], costs, WINDOW)
    yield "full context", "\n".join(shown[key] for key in reversed(newest))


def _scores(models: tuple[LLM, LLM], question: str, right: str, context: str) -> dict[str, float]:
    reader, judge = models
    told = f"Notes:\n{context or '(none)'}\n\nQuestion: {question}"
    given = _ask(reader, READER, told, ANSWER).get("answer", "")
    verdict = _ask(judge, JUDGE, f"Question: {question}\nRight answer: {right}\nGiven answer: {given}", VERDICT)
    return {
        "f1": f1(given, right), "exact": float(words(given) == words(right)),
        "judged": float(bool(given) and verdict.get("right") is True), "answered": float(bool(given)),
    }  # fmt: skip


def _ask(model: LLM, system: str, prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
    try:
        return model.complete(system, [("user", prompt)], schema, OUTPUT).data
    except BadAnswer:
        return {}


def words(told: str) -> list[str]:
    """The words that count: lower case, without articles and punctuation.

    >>> words("The 7th of May, 2023.")
    ['7th', 'of', 'may', '2023']
    """
    return _ARTICLES.sub(" ", told.lower().translate(_PUNCTUATION)).split()


def f1(given: str, right: str) -> float:
    """
    >>> f1("7 May", "the 7 May 2023"), f1("no", "yes")
    (0.8, 0.0)
    """
    mine, wanted = words(given), words(right)
    same = sum((Counter(mine) & Counter(wanted)).values())
    return round(2 * same / (len(mine) + len(wanted)), 4) if same else 0.0


def render(found: dict[str, Any]) -> str:
    rows = [f"qa: {found['questions']} questions, reader {found['reader']}, judge {found['judge']}, percent"]
    for name, row in found["figures"].items():
        told = "  ".join(f"{metric} {100 * row[metric]['mean']:.1f}" for metric in ("f1", "exact", "judged"))
        rows.append(f"{name:24} {told}  tokens {row['tokens']['mean']:.0f}")
    return "\n".join(rows)
