"""The command line: commands, and how results look to a person."""

from .program import cli

__all__ = ["cli"]
