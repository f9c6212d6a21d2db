"""Connecting assistants: their configuration files, edited as a careful person would."""
