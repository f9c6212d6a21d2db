"""Keywords: what a statement is about, in a few words of its own. Pure."""

from __future__ import annotations

import re
from collections import Counter

from .terms import STOP_WORDS, terms

MAX_KEYWORDS, LONGEST_KEYWORD = 10, 60
_WORD = re.compile(r"`([^`\n]{2,60})`|([A-Za-z][\w./+-]*\w|\w)")


def keywords(content: str) -> tuple[str, ...]:
    """Up to ten words a statement is about: names first, then the longer and more frequent ones.

    >>> keywords("The `billing-api` talks to Postgres over the pooler, and the pooler restarts nightly.")
    ('billing-api', 'postgres', 'pooler', 'restarts', 'nightly', 'talks')
    """
    weights: Counter[str] = Counter()
    for code, word in _WORD.findall(content):
        name = (code or word).strip().lower()
        if not 3 <= len(name) <= LONGEST_KEYWORD or set(terms(name)) <= STOP_WORDS:
            continue
        named = bool(code) or (not word.islower() and not content.startswith(word)) or re.search(r"[_./\d-]", word)
        weights[name] += 100 if named and name not in weights else 0
        weights[name] += 10 + min(len(name), 9)
    order = sorted(weights, key=lambda name: (-weights[name], content.lower().find(name)))
    return tuple(order[:MAX_KEYWORDS])
