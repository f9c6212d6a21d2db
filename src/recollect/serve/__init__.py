"""Serve: the engine for those outside the process, over one list of operations."""
