"""Upkeep: what keeps a store in good health."""
