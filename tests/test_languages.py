"""Texts in other languages than English: their language, their words, the stores' index of them, and the model."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import recollect
from conftest import Clock
from recollect.language.detect import detect
from recollect.language.terms import of_query, terms
from recollect.models import embedder
from recollect.models.embedder import SCALE, on_scale_of
from recollect.store.sqlite import SQLiteStore
from recollect_eval import languages

QUESTIONS = {
    "de": "Wann gehen die Rechnungen raus?",
    "fr": "Quand l'application a-t-elle été livrée ?",
    "es": "¿Cuándo se envían las facturas?",
    "pt": "Quando são emitidas as notas?",
    "it": "Quando vengono spedite le fatture?",
    "nl": "Wanneer worden de facturen verstuurd?",
    "ru": "Когда отправляются счета?",
    "zh": "发票什么时候寄出?",
    "ja": "請求書はいつ送られますか。",
    "ko": "청구서는 언제 발송됩니까?",
    "th": "ส่งใบแจ้งหนี้เมื่อไหร่",
    "en": "When do invoices leave the house?",
}


@pytest.mark.parametrize("code", QUESTIONS)
def test_the_language_of_a_question_is_told(code: str) -> None:
    assert detect(QUESTIONS[code]) == code


@pytest.mark.parametrize(
    "text",
    [
        "is typer mit",
        "pydantic min python?",
        "see docs.authlib.org/en/stable",
        "import os; print(os.sep)",
        "CI for man pages",
    ],
)
def test_english_and_code_are_taken_for_english(text: str) -> None:
    assert detect(text) == "en"


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Welche Rechnung fehlt noch?", "Die Rechnungen werden am Freitag verschickt."),
        ("Où est l'application ?", "Les applications sont dans le dépôt."),
        ("¿Qué pedidos faltan?", "El pedido de la tienda no ha llegado todavía."),
        ("Когда отправили счёт?", "Счета отправляются каждую пятницу, и это не изменится."),
        ("猫はどこですか。", "うちの猫がソファで寝ています。"),
        ("สำรองข้อมูลเมื่อไหร่", "เราสำรองข้อมูลทุกวันศุกร์"),
        ("データベースはどこにある。", "新しいデータベースは東京にあります。"),
    ],
)
def test_words_are_found_in_another_form(question: str, note: str) -> None:
    assert set(of_query(question)) & set(terms(note))


def test_function_words_are_not_searched_for() -> None:
    assert of_query("Wann werden die Rechnungen von der Firma verschickt?") == ["rechnung", "firma", "verschickt"]
    assert "什么" not in of_query("备份是什么时候")


def test_english_words_stay_as_they_were() -> None:
    assert terms("Don't deploy the user's getUserName at 5 o'clock") == [
        "don", "deploy", "the", "user", "get", "user", "name", "getusernam", "at", "5", "clock",
    ]  # fmt: skip


def test_an_older_store_indexes_other_languages_anew(tmp_path: Path, clock: Clock) -> None:
    with recollect.open(tmp_path / "old.db", embedder="off") as engine:
        engine.remember("Die Rechnungen werden am Freitag verschickt.")
        engine.remember("The invoices are sent on Friday.")
    con = apsw.Connection(str(tmp_path / "old.db"))
    con.execute("delete from migration where name = 'languages'")
    con.execute("delete from memory_fts where rowid in (1)")  # as if it had been indexed by other rules
    con.close()
    SQLiteStore(tmp_path / "old.db", 1, clock()).close()
    with recollect.open(tmp_path / "old.db", embedder="off") as engine:
        assert engine.recall("Welche Rechnung fehlt?").hits[0].memory.content.startswith("Die Rechnungen")
        assert len(engine.recall("invoices").hits) == 1


def test_the_multilingual_model_finds_across_languages() -> None:
    model = embedder.load("multilingual")
    notes = ["The invoices are exported every Friday.", "Die Bäckerei in Görlitz wurde geschlossen.", "猫在睡觉。"]
    questions = ["Which bakery was closed?", "Wann werden die Rechnungen exportiert?", "What does the cat do?"]
    likeness = SCALE * model.embed(questions, "query") @ model.embed(notes, "document").T
    assert likeness.argmax(axis=1).tolist() == [1, 0, 2]
    assert on_scale_of(model.model) == embedder.load("default").model


def test_english_keeps_its_order_with_the_multilingual_model(tmp_path: Path) -> None:
    notes = ["We deploy on Tuesdays.", "The cache lives in Redis.", "Backups run at midnight.", "Anna owns billing."]
    asked = ["When do we deploy?", "Where is the cache?", "When do backups run?", "Who is responsible for billing?"]
    with recollect.open(tmp_path / "all.db", embedder="multilingual") as engine:
        ids = [engine.remember(note).id for note in notes]
        found = [engine.recall(question) for question in asked]
    assert [one.hits[0].memory.id for one in found] == ids
    assert not any(one.weak for one in found)


def test_notes_in_one_language_are_found_with_the_packaged_model() -> None:
    own = languages.lines("es")
    assert len(own) == 25
    assert languages.measure(own[:8], apart=False)["same"] >= 0.85
