"""Agents: who may do what. A caller with rights and walls, and the tokens that make one known."""
