"""Taps: what people and assistants said elsewhere, taken in from their files."""
