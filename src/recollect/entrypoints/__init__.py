"""What an assistant starts and waits for: only the standard library, and little of it, because imports take time."""
