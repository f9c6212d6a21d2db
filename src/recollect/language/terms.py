"""Terms: the words that full text search sees. Pure, and the same for every store.

- words are folded to lower case without accents and stemmed (English Snowball): "deployed" finds "deploying";
- identifiers are split at case changes, digits, `_`, `-`, `.`, `/` and kept whole beside their parts;
- numbers lose leading zeros: `ADR-005` gives `adr 5 adr5`;
- words of other languages are stemmed by the rules of theirs, and in documents also by the English ones;
- what is written without spaces becomes pairs: of characters in Han, Kana and Hangul (single ones of Han beside them),
  of syllables in Thai, Lao, Burmese and Khmer.

Documents and queries go through the same function; only queries lose their stop words.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

from ..types import Memory
from . import detect
from .detect import fold
from .tables import STOP_WORDS as STOP_WORDS
from .tables import words as listed

MAX_TERM = 64
SHORT = 4  # letters of a name, and of a word that stays as it is
_stemmer = snowballstemmer.stemmer("english")
_lock = threading.Lock()  # a stemmer stores the word it works on: two threads at once would mix their words
# A run of letters and digits, with the joints that hold an identifier, path or dotted name together.
_RUN = re.compile(r"[^\W_]+(?:['’_\-./\\:@#+]+[^\W_]+)*|[^\W_]*_+[^\W_]*", re.UNICODE)
_SIGNS = re.compile(r"[\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a00-\u0dff]")
_MARKED = re.compile(_RUN.pattern.replace("[^\\W_]+", rf"(?:[^\W_]|{_SIGNS.pattern})+"))
_PATH = re.compile(r"[/\\:@#+]+")
_DOT = re.compile(r"\.+")
_DASH = re.compile(r"[_\-]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+|[A-Z]", re.UNICODE)
# Han; Hiragana; Katakana; Hangul; Thai, Lao, Burmese and Khmer.
_UNSPACED = re.compile(
    r"[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[\u3040-\u309f]+|[\u30a0-\u30ff]+|[\uac00-\ud7af]+"
    r"|[\u0e00-\u0e4e\u0e80-\u0ece\u1000-\u103f\u1780-\u17d3]+"
)
_HAN, _HIRAGANA = re.compile(r"[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), re.compile(r"[\u3040-\u309f]")
_SYLLABLE = re.compile(  # a letter, the vowel that is written before it, and what is written around and after it
    r"[\u0e40-\u0e44\u0ec0-\u0ec4]?.[\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebd\u0ec6-\u0ece\u102b-\u103e\u17b4-\u17d3]*"
)
_ASKING = frozenset(listed("languages", "cjk"))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """
    >>> stem("deploying"), stem("ran"), stem("deployed") == stem("deploys")
    ('deploy', 'ran', True)
    """
    if len(word) < SHORT or not (word.isascii() and word.isalpha()):
        return word
    with _lock:
        return str(_stemmer.stemWord(word))


@lru_cache(maxsize=65536)
def _split(run: str) -> tuple[str, ...]:
    """The terms of one run without joints: its parts, and itself when it has several."""
    if len(run) <= SHORT and not run.isalpha() and not run.isdigit():
        return (_fold(run),)  # k8s, s3, ec2 and v1 are names; their letters and digits say nothing
    if not run.isascii() and _SIGNS.search(run):
        return (fold(run),)  # written with vowel signs, which are no letters: one word
    parts = tuple(stem(_fold(part)) for part in _PART.findall(run))
    return (*parts, _whole(run)) if len(parts) > 1 else parts


def _whole(name: str) -> str:
    """A compound as one term, the same however it was written: getUserName, get_user_name, GETUSERNAME."""
    return stem("".join(_fold(part) for part in _PART.findall(name))[:MAX_TERM])


def _fold(word: str) -> str:
    return (word.lstrip("0") or "0") if word.isdigit() else fold(word)


def _compound(name: str, joints: tuple[re.Pattern[str], ...]) -> tuple[str, ...]:
    """The terms of a name, split at each joint in turn; a short compound is also a term of its own."""
    if not joints:
        return _split(name)
    pieces = [piece for piece in joints[0].split(name) if piece]
    if len(pieces) < 2:
        return _compound(pieces[0], joints[1:]) if pieces else ()
    parts = [_compound(piece, joints[1:]) for piece in pieces]
    found = tuple(term for part in parts for term in part)
    # ADR-005, user_id and os.path are names worth finding as one; a long chain is found by its parts.
    return (*found, _whole(name)) if len(pieces) <= 3 else found


@lru_cache(maxsize=32768)
def _of_run(run: str) -> tuple[str, ...]:
    found: tuple[str, ...] = ()
    for name in _PATH.split(_word(run)):
        found += _compound(name, (_DOT, _DASH))
    return found


def _word(run: str) -> str:
    """What a word is without what an apostrophe joins to it: it is before the one of don't, behind that of l'avion."""
    first, _, rest = run.replace("’", "'").partition("'")
    return rest.partition("'")[0] if len(first) <= 2 and len(rest) > 2 else first


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    """The terms of function words of other languages: a text without any of them is taken for English."""
    return frozenset(stem(word) for code in detect.STEMMERS for word in detect.stop_words(code)) - STOP_WORDS


def terms(text: str) -> list[str]:
    """
    >>> terms("getUserName failed in ADR-005")
    ['get', 'user', 'name', 'getusernam', 'fail', 'in', 'adr', '5', 'adr5']
    >>> terms("src/auth/token_store.py uses HTTPServer2")
    ['src', 'auth', 'token', 'store', 'tokenstor', 'py', 'tokenstorepi', 'use', 'http', 'server', '2', 'httpserver2']
    """
    runs, found = _runs(text, _pieces)
    for run in runs:
        found.extend(_of_run(run))
    if not (text.isascii() and _telling().isdisjoint(found)) and (language := detect.detect(text)) in detect.STEMMERS:
        known = set(found)
        stems = (detect.stem(word, language) for word in map(_word, runs) if word.isalpha())
        found += [one for one in stems if one not in known]
    return [term[:MAX_TERM] for term in found if term]


def _runs(text: str, pieces: Callable[[str], list[str]]) -> tuple[list[str], list[str]]:
    """What is written with spaces, and the pieces of what is written without."""
    if text.isascii():
        return _RUN.findall(text), []
    found: list[str] = []

    def take(run: re.Match[str]) -> str:
        found.extend(pieces(run[0]))
        return " "

    rest = _UNSPACED.sub(take, unicodedata.normalize("NFC", text))
    return _MARKED.findall(rest), found


def _pieces(run: str) -> list[str]:
    """
    >>> _pieces("東京都"), _pieces("サーバ"), _pieces("は")
    (['東京', '京都', '東', '京', '都'], ['サー', 'ーバ'], [])
    """
    pairs = _pairs(run)
    return pairs + list(run) if _HAN.match(run) and len(run) > 1 else pairs


def _pairs(run: str) -> list[str]:
    """
    >>> _pairs("東京都"), _pairs("東")
    (['東京', '京都'], ['東'])
    """
    parts = _SYLLABLE.findall(run)
    if len(parts) > 1:
        return list(map("".join, pairwise(parts)))
    return [] if _HIRAGANA.fullmatch(run) else parts


def words(text: str) -> list[str]:
    """The words of a text, with names taken apart and not kept whole.

    >>> words("HTTPServer.getUser_name2")
    ['http', 'server', 'get', 'user', 'name', '2']
    """
    return [stem(_fold(part)) for part in _PART.findall(text)]


def other_language(text: str | None) -> bool:
    """Whether the rules of another language than English have a say in the terms of a text."""
    return text is not None and (not text.isascii() or "'" in text or detect.detect(text) != "en")


def of_memory(memory: Memory) -> list[str]:
    """Every term by which a memory is found."""
    parts = (memory.title, memory.content, memory.reasoning, *memory.keywords, *memory.tags)
    return [term for part in parts for term in terms(part)]


def joined(text: str | None) -> str:
    """The terms as one string: what a store puts into its full text index."""
    return " ".join(terms(text)) if text else ""


def of_query(text: str, most: int = 48) -> list[str]:
    """The distinct terms of a question, without stop words unless nothing else is left.

    >>> of_query("Why did we choose pnpm?"), of_query("who are you")
    (['choos', 'pnpm'], ['who', 'are', 'you'])
    """
    language = detect.detect(text)
    if language == "en":
        distinct = list(dict.fromkeys(terms(text)))
        return ([term for term in distinct if term not in STOP_WORDS] or distinct)[:most]
    runs, found = _runs(text, _pairs)
    found = [one for one in found if one not in _ASKING] or found
    stop = detect.stop_words(language)
    for run in runs:
        word = _word(run)
        if word.isalpha() and language in detect.STEMMERS:
            found += [] if fold(word) in stop else [detect.stem(word, language)]
        else:
            found += _of_run(run)
    return list(dict.fromkeys(term[:MAX_TERM] for term in found if term))[:most] or terms(text)[:most]
