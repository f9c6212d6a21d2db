"""Which language a text is in, told by its script and its function words; and the stems of its words. Pure.

English is what is left: a text of which nothing else can be told is read as before, by the English rules.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

import snowballstemmer

from .tables import STOP_WORDS, words

STEMMERS = {
    "de": "german", "fr": "french", "es": "spanish", "pt": "portuguese", "it": "italian", "nl": "dutch",
    "sv": "swedish", "ru": "russian",
}  # fmt: skip
SHORT = 4  # letters of a word that stays as it is
FEW = 8  # words of which one function word tells the language
LONGEST = 4000  # characters from which the language is told
_MARKS = re.compile(r"[\u0300-\u036f]")
_WORD = re.compile(r"(?<![\w./:@#=\-'])[^\W\d_]+(?![\w/:@#=(\-]|\.\w|'t)")  # no part of a name or an address
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u0dff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
)
_HINTS = {  # how a language is spelt
    "de": re.compile("[äöüß]"), "fr": re.compile("[èêùœûî]|ç[ao]| [?!:]"), "es": re.compile("[ñ¿¡]|ci[óo]n"),
    "pt": re.compile("[ãõâê]|ç[ãõ]|[ln]h[ao]"), "sv": re.compile("å"), "it": re.compile("zione"),
}  # fmt: skip
_ENGLISH = frozenset(words("languages", "english"))
_lock = threading.Lock()  # a stemmer stores the word it works on


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """Lower case without accents.

    >>> fold("Größe"), fold("Été")
    ('grosse', 'ete')
    """
    word = word.casefold()
    return word if word.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", word).casefold())


@cache
def stop_words(language: str) -> frozenset[str]:
    """The function words of a language, folded."""
    return frozenset(map(fold, words("languages", language))) if language in STEMMERS else STOP_WORDS


@cache
def _weights() -> dict[str, dict[str, float]]:
    """What each function word says for each language: the more, the fewer languages have it."""
    lists = {code: stop_words(code) for code in STEMMERS} | {"en": STOP_WORDS}
    found: dict[str, dict[str, float]] = {}
    for word in frozenset[str]().union(*lists.values()):
        codes = [code for code, known in lists.items() if word in known]
        found[word] = dict.fromkeys(codes, (0.5 + 1 / len(codes)) * (1.0 if len(word) > 1 else 0.5))
    return found


@cache
def foreign() -> frozenset[str]:
    """Function words of other languages that are no words of English."""
    return frozenset(word for word, codes in _weights().items() if "en" not in codes) - _ENGLISH


def detect(text: str) -> str:
    """The code of a text's language; "en" where nothing tells otherwise.

    >>> detect("Wann geht die Rechnung raus?"), detect("When is the invoice due?"), detect("請求書はいつですか")
    ('de', 'en', 'ja')
    """
    return _detect(text[:LONGEST])


@lru_cache(maxsize=4096)
def _detect(text: str) -> str:
    if text.isascii():
        return _by_words(map(str.lower, _WORD.findall(text)))
    letters = sum(map(str.isalpha, text))
    for code, script in _SCRIPTS:
        if 3 * len(script.findall(text)) >= letters > 0:
            return code
    hints = {code: float(len(hint.findall(text))) for code, hint in _HINTS.items()}
    return _by_words(map(fold, _WORD.findall(text)), hints)


def _by_words(said: Iterable[str], hints: Mapping[str, float] = MappingProxyType({})) -> str:
    """The language of some folded words in Latin letters; `hints` is what the spelling adds."""
    said = list(said)
    telling = {word for word in foreign().intersection(said) if len(word) > 1}
    spelt = any(hints.values())
    if not spelt and (not telling or (len(telling) == 1 and len(said) > FEW)):
        return "en"
    scores = {code: hints.get(code, 0.0) for code in (*STEMMERS, "en")}
    for word in said:
        for code, weight in _weights().get(word, {}).items():
            scores[code] += weight
    best = max(scores, key=lambda code: scores[code])
    known = stop_words(best).intersection(said)
    return best if known and scores[best] > 1.2 * scores["en"] else "en"


@cache
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(STEMMERS[language])


@lru_cache(maxsize=65536)
def stem(word: str, language: str) -> str:
    """The stem of a word by the rules of its language, folded.

    >>> stem("Rechnungen", "de"), stem("Rechnung", "de"), stem("factures", "fr")
    ('rechnung', 'rechnung', 'factur')
    """
    word = word.casefold()
    if len(word) < SHORT or language not in STEMMERS:
        return fold(word)
    with _lock:
        return fold(str(_stemmer(language).stemWord(word)))
