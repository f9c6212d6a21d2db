"""The stemmer: English Snowball, safe to use from several threads. Pure."""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

_stemmer = snowballstemmer.stemmer("english")
_lock = threading.Lock()  # a stemmer stores the word it works on: two threads at once would mix their words
SHORTEST = 4  # letters; shorter words stay as they are


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """
    >>> stem("deploying"), stem("ran"), stem("deployed") == stem("deploys")
    ('deploy', 'ran', True)
    """
    if len(word) < SHORTEST:
        return word
    with _lock:
        return str(_stemmer.stemWord(word))
