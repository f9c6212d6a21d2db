"""Adapters: the memory interfaces of frameworks, over one store.

One module a framework, each behind an extra of the same name (`pip install 'recollect[langgraph]'`). A framework is
imported by its own module alone, which works on an `Engine` of this process or a `Client` of a daemon alike. What a
framework stores are memories: journalled, redacted, walled off by scope and found by every other surface.
"""

from __future__ import annotations


def missing(library: str, extra: str) -> ImportError:
    """What is raised where the framework of an adapter is not installed."""
    return ImportError(f"This adapter needs {library}, which is not installed. Run: pip install 'recollect[{extra}]'")
