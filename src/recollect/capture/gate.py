"""The gate: whether a window is worth a closer look. Pure.

Most of a conversation is worth nothing tomorrow. Without a model the gate asks whether any sentence of a window has the
shape of a statement that does not take itself back.
"""

from __future__ import annotations

from ..grounding import hedged
from .extract import own_sentences
from .sentences import classify
from .windows import Window


def worth(window: Window) -> bool:
    """
    >>> from recollect.capture.windows import Turn
    >>> worth(Window((Turn("user", "We use pnpm, because npm is slow."),))), worth(Window((Turn("user", "thanks!"),)))
    (True, False)
    """
    return any(
        classify(" ".join(sentence.split()), turn.role) and not hedged(sentence)
        for turn in window.fresh
        for sentence in own_sentences(turn)
    )
