"""The janitor: keeps thousands of memories clean without supervision."""
