"""Personal data is found by its form and its checksum, and marked, redacted or kept as the setting `pii` says."""

from __future__ import annotations

import json

import pytest

from conftest import Opener
from recollect import BadInput, Draft, Source
from recollect.personal import find, redacted

THERE = {
    "email": ("ana.ruiz+work@mail.example.org", "Write to <ana@example.com>.", "mailto ana_r@example.co.uk, please"),
    "phone": (
        "+49 30 901820", "+1 (555) 010-4477", "call +442079460958", "(555) 234-0177", "phone: 030 901820-12",
        "my mobile number is 0171 2345678",
    ),
    "card": ("4111 1111 1111 1111", "5555-5555-5555-4444", "378282246310005", "6011111111111117"),
    "iban": ("DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432", "FR1420041010050500013M02606"),
    "national-id": (
        "12345678Z", "X1234567L", "2 55 08 14 168 025 38", "RSSMRA85T10A562S", "529.982.247-25", "131052-308T",
        "PESEL 44051401359", "BSN: 111222333", "NHS number 943 476 5919", "Aadhaar: 2341 2341 2346",
        "Steuer-ID: 86 095 742 719", "personnummer 811228-9874", "SSN 123-45-6789",
    ),
}  # fmt: skip
NOT_THERE = (
    "git@github.com:ana/shop.git", "icon@2x.png", "react@19.0.0", "noreply@example.com", "@ana and @ben", "a@b",
    "4111 1111 1111 1112", "DE88 3704 0044 0532 0130 00", "12345678A", "529.982.247-26", "PESEL 44051401358",
    "BSN: 111222334", "NHS number 943 476 5918", "Aadhaar: 2341 2341 2347", "Steuer-ID: 86095742718", "131052-308U",
    "1760000000000000", "2026-03-02T10:15:30.123456Z", "20260302-1234", "v1.2.3-4567", "192.168.100.200", "port 7610",
    "0x4111111111111111", "1234567890", "a5f3c9e1b7d24f60", "+1,234,567 lines", "SSN 000-12-3456", "111222333",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "said"), [(kind, said) for kind, listed in THERE.items() for said in listed])
def test_personal_data_is_found(kind: str, said: str) -> None:
    assert [found for *_, found in find(f"Ana: {said}. That is all.")] == [kind]
    assert f"[redacted:{kind}]" in redacted(said)
    assert redacted(redacted(said)) == redacted(said)


@pytest.mark.parametrize("said", NOT_THERE)
def test_what_only_looks_like_it_is_not(said: str) -> None:
    assert find(said) == []


def test_time_grows_with_the_text_and_no_faster() -> None:
    for piece in ("1 ", "1-", "a@", "+1 ", "a.", "A1 ", "phone: 0", "12345678", "1 2"):
        find(piece * 30_000)


def test_by_default_a_memory_with_personal_data_is_marked(opened: Opener) -> None:
    memory = opened()
    kept = memory.remember("Write to ana@example.org or call +49 30 901820.", tags=["contact"]).id
    plain = memory.remember("We deploy on Thursdays.").id
    assert memory.get(kept).tags == ("contact", "pii", "pii:email", "pii:phone")
    assert [one.id for one in memory.list(tags=["pii"]).memories] == [kept]
    assert "ana@example.org" in memory.get(kept).content
    assert memory.edit(kept, content="Write to ana@example.org.").tags == ("contact", "pii", "pii:email")
    assert memory.edit(kept, content="Write to Ana.").tags == ("contact",)
    assert memory.edit(plain, content="Call +49 30 901820.").tags == ("pii", "pii:phone")


def test_redacted_it_is_stored_nowhere(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_PII", "redact")
    memory = opened()
    source = Source("", "turn", "talk", content="ana@example.org said it")
    kept = memory.remember_many([
        Draft(
            "Her card is 4111 1111 1111 1111.", title="ana@example.org", context=json.dumps({"n": 4111111111111111}),
            evidence=("call +49 30 901820",), source=source, tags=("ana@example.org",),
        ),
    ])[0]  # fmt: skip
    found = memory.get(kept.id)
    assert (found.content, found.title) == ("Her card is [redacted:card].", "[redacted:email]")
    assert json.loads(found.context) == {"n": "[redacted:card]"}
    assert found.tags == ("ana@example.org",)  # a name of its own
    assert memory.sources([found.source])[0].content == "[redacted:email] said it"
    told = "".join(path.read_bytes().decode("latin-1") for path in memory.settings.store_path.parent.glob("store.db*"))
    assert "4111 1111" not in told + str(memory.changes())
    assert memory.edit(kept.id, content="Now 5555555555554444").content == "Now [redacted:card]"


def test_kept_nothing_is_done_and_another_word_is_refused(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_PII", "keep")
    memory = opened()
    assert memory.get(memory.remember("Write to ana@example.org.").id).tags == ()
    monkeypatch.setenv("RECOLLECT_PII", "maybe")
    with pytest.raises(BadInput, match="pii 'maybe'"):
        opened("other.db").remember("x")


def test_keyword_labels_are_given_where_none_were(opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "The `billing-api` talks to Postgres over the pooler."
    assert opened().get(opened().remember(said).id).keywords == ()
    monkeypatch.setenv("RECOLLECT_KEYWORD_LABELS", "on")
    memory = opened("labelled.db")
    assert memory.get(memory.remember(said).id).keywords[:2] == ("billing-api", "postgres")
    assert memory.get(memory.remember("Ana owns it.", keywords=["owner"]).id).keywords == ("owner",)
    assert memory.get(memory.remember("Postgres it is.", kind="turn", speaker="user").id).keywords == ()
