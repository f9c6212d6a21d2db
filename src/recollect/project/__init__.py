"""The project: what its repository, decisions, incidents, code and documents tell."""
