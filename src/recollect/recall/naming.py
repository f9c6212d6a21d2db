"""Naming: whether a question asks for code by its name. Pure.

`fetch_invoice` stands in whatever calls it; who asks for it by name wants the one place that is called so. A name
counts when it is written as a name (`fetchInvoice`, `` `fetch` ``, `fetch()`) or when its words are all that is asked
for («fetch invoice», «where is fetch invoice defined»). A few shared words are no name: meaning decides there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..language import terms
from ..types import Memory
from .understand import Understood

if TYPE_CHECKING:
    from .understand import Understood

_JOINT = re.compile(r"\.|::|->|#|/")
# Words that say what is wanted of a name, and are no part of one.
_EMPTY = frozenset(
    terms.words("define defined definition declared function method class implement implementation code")
)


@dataclass(frozen=True, slots=True)
class Names:
    """What a question calls things by: the words of each name in it, and its own words, which may be a name too."""

    names: frozenset[tuple[str, ...]]
    bare: frozenset[str]
    owned: frozenset[tuple[tuple[str, ...], tuple[str, ...]]] = frozenset()  # names with what stands before them

    @classmethod
    def of(cls, question: str, identifiers: Sequence[str]) -> Names:
        written = [_parts(one) for one in identifiers]
        owned = frozenset((owner, name) for owner, name in written if owner and name)
        names = frozenset(name for _, name in written if name)
        return cls(names, _content(terms.words(question)) - _EMPTY, owned)

    def mean(self, memory: Memory) -> float:
        """How surely it is this piece of code that a question names: half where it names another's of that name.

        >>> found = Memory("1", "def f(): …", kind="code", refs=("a.py", "a.py::Bill.fetch_invoice"))
        >>> [Names.of(asked, ids).mean(found) for asked, ids in (("where is fetchInvoice?", ("fetchInvoice",)),
        ...     ("fetch invoice", ()), ("how is an invoice fetched from the bank", ()))]
        [1.0, 1.0, 0.0]
        >>> [Names.of(asked, (asked,)).mean(found) for asked in ("Bill.fetch_invoice", "Order.fetch_invoice")]
        [1.0, 0.5]
        """
        cited = next((ref for ref in memory.refs if "::" in ref), "") if memory.kind == "code" else ""
        owner, own = _parts(cited.partition("::")[2])
        if not own or not (own in self.names or _content(own) == self.bare):
            return 0.0
        owners = {before for before, name in self.owned if name == own}
        return 1.0 if not owners or owner in owners else 0.5


def _parts(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of what stands right before a name, and those of the name."""
    owner, own = ["", *_JOINT.split(name)][-2:]
    return tuple(terms.words(owner)), tuple(terms.words(own))


def _content(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in words if word not in terms.STOP_WORDS) or frozenset(words)


def verbatim(memory: Memory, asked: Understood) -> float:
    """Which share of the quoted phrases, identifiers, paths and codes of a question stands in a memory as it is."""
    wanted = (*asked.phrases, *asked.identifiers)
    said = f"{memory.title}\n{memory.content}\n{' '.join(memory.refs)}".casefold() if wanted else ""
    return sum(one.casefold() in said for one in wanted) / len(wanted) if wanted else 0.0
