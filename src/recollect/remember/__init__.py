"""The write path: everything that wants to become a memory goes through `write.remember`."""
