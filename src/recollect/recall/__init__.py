"""The read path: query, arms, fusion, weighing, selection."""
