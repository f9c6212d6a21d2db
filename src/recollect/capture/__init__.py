"""Taps: what assistants tell their hooks, and the transcripts they leave."""
