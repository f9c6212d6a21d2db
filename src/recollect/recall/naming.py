"""Naming: whether a question asks for code by its name. Pure.

`fetch_invoice` stands in whatever calls it; who asks for it by name wants the one place that is called so. A name
counts when it is written as a name (`fetchInvoice`, `` `fetch` ``, `fetch()`) or when its words are all that is asked
for («fetch invoice», «where is fetch invoice defined»). A few shared words are no name: meaning decides there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .. import terms
from ..types import Memory

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

    @classmethod
    def of(cls, question: str, identifiers: Sequence[str]) -> Names:
        written = (tuple(terms.words(_JOINT.split(one)[-1])) for one in identifiers)
        return cls(frozenset(name for name in written if name), _content(terms.words(question)) - _EMPTY)

    def mean(self, memory: Memory) -> bool:
        """Whether it is this piece of code that a question names.

        >>> found = Memory("1", "def f(): …", kind="code", refs=("a.py", "a.py::Bill.fetch_invoice"))
        >>> [Names.of(asked, ids).mean(found) for asked, ids in (("where is fetchInvoice?", ("fetchInvoice",)),
        ...     ("fetch invoice", ()), ("how is an invoice fetched from the bank", ()))]
        [True, True, False]
        """
        cited = next((ref for ref in memory.refs if "::" in ref), "") if memory.kind == "code" else ""
        own = terms.words(_JOINT.split(cited.partition("::")[2])[-1])
        return bool(own) and (tuple(own) in self.names or _content(own) == self.bare)


def _content(words: Sequence[str]) -> frozenset[str]:
    return frozenset(word for word in words if word not in terms.STOP_WORDS) or frozenset(words)
