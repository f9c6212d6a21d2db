"""The entry of the program: `recollect` and `python -m recollect`.

What an assistant starts and waits for, `recollect mcp` and `recollect hook`, goes to `thin` before anything but the
standard library is imported. Everything else is the command line.
"""

import sys

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from .serve import solo


def alone() -> "solo.Started":
    """The server in this process, for when no daemon can be had."""
    from .serve import solo

    return solo.start()


def main() -> None:
    called = sys.argv[1] if len(sys.argv) > 1 else ""
    if called == "hook":
        from .thin import hook

        sys.exit(hook.main(sys.argv[2:]))
    if called == "mcp":
        from .thin import shim

        sys.exit(shim.main(sys.argv[2:], alone))
    from .cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
