"""The operations: what every surface offers, declared once, one file for each noun."""
