"""The answer cache: repeated questions answered at once, and never wrongly."""
