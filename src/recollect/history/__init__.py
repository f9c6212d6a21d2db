"""Readers of the journal: what a memory was, at any time."""
