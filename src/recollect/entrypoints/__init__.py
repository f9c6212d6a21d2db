"""What an assistant starts and waits for: clients of the daemon that import nothing but the standard library.

`tests/test_daemon.py` proves it by looking at every import. Heavy modules of the standard library (`http.client`,
`subprocess`, `dataclasses`, `pathlib`, `logging`) are kept out of the common path too: each costs milliseconds that a
person would wait for at every prompt.
"""
