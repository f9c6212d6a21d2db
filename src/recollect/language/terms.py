"""Terms: the words that full text search sees. Pure, and the same for every store.

- words are folded to lower case without accents and stemmed (English Snowball): "deployed" finds "deploying";
- identifiers are split at case changes, digits, `_`, `-`, `.`, `/` and kept whole beside their parts;
- numbers lose leading zeros: `ADR-005` gives `adr 5 adr5`;
- Han, Kana and Hangul become pairs of characters.

Documents and queries go through the same function; only queries lose their stop words.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import snowballstemmer

from ..types import Memory
from .tables import STOP_WORDS as STOP_WORDS

MAX_TERM = 64
SHORT = 4  # letters of a name, and of a word that stays as it is
_stemmer = snowballstemmer.stemmer("english")
_lock = threading.Lock()  # a stemmer stores the word it works on: two threads at once would mix their words
# A run of letters and digits, with the joints that hold an identifier, path or dotted name together.
_RUN = re.compile(r"[^\W_]+(?:['’_\-./\\:@#+]+[^\W_]+)*|[^\W_]*_+[^\W_]*", re.UNICODE)
_PATH = re.compile(r"[/\\:@#+]+")
_DOT = re.compile(r"\.+")
_DASH = re.compile(r"[_\-]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+|[A-Z]", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MARKS = re.compile(r"[\u0300-\u036f]")


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
    parts = tuple(stem(_fold(part)) for part in _PART.findall(run))
    return (*parts, _whole(run)) if len(parts) > 1 else parts


def _whole(name: str) -> str:
    """A compound as one term, the same however it was written: getUserName, get_user_name, GETUSERNAME."""
    return stem("".join(_fold(part) for part in _PART.findall(name))[:MAX_TERM])


def _fold(word: str) -> str:
    if word.isdigit():
        return word.lstrip("0") or "0"
    word = word.casefold()
    return word if word.isascii() else _MARKS.sub("", unicodedata.normalize("NFKD", word).casefold())


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
    for name in _PATH.split(run.replace("’", "'").split("'")[0]):
        found += _compound(name, (_DOT, _DASH))
    return found


def terms(text: str) -> list[str]:
    """
    >>> terms("getUserName failed in ADR-005")
    ['get', 'user', 'name', 'getusernam', 'fail', 'in', 'adr', '5', 'adr5']
    >>> terms("src/auth/token_store.py uses HTTPServer2")
    ['src', 'auth', 'token', 'store', 'tokenstor', 'py', 'tokenstorepi', 'use', 'http', 'server', '2', 'httpserver2']
    """
    found: list[str] = []
    if _CJK.search(text):
        text = _CJK.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)
    for run in _RUN.findall(text):
        found.extend(_of_run(run))
    return [term[:MAX_TERM] for term in found if term]


def _pairs(run: str) -> list[str]:
    """
    >>> _pairs("東京都")
    ['東京', '京都']
    """
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words(text: str) -> list[str]:
    """The words of a text, with names taken apart and not kept whole.

    >>> words("HTTPServer.getUser_name2")
    ['http', 'server', 'get', 'user', 'name', '2']
    """
    return [stem(_fold(part)) for part in _PART.findall(text)]


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
    distinct = list(dict.fromkeys(terms(text)))
    return ([term for term in distinct if term not in STOP_WORDS] or distinct)[:most]
