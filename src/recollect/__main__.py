"""The entry of the program: `recollect` and `python -m recollect`.

`recollect mcp` and `recollect hook`, which an assistant starts and waits for, go to `entrypoints` before anything but
the standard library is imported. Everything else is the command line.
"""

import os
import sys

TYPE_CHECKING = False  # what `typing` has too, and without the milliseconds
if TYPE_CHECKING:
    from .serve import solo


def alone() -> "solo.Started":
    """The server in this process, for when no daemon can be had."""
    from .serve import solo

    return solo.start()


def main() -> None:
    try:
        run()
    except SystemExit as ended:
        leave(ended)
        raise


def run() -> None:
    called = sys.argv[1] if len(sys.argv) > 1 else ""
    if called == "hook":
        from .entrypoints import hook

        sys.exit(hook.main(sys.argv[2:]))
    if called == "mcp":
        from .entrypoints import shim

        sys.exit(shim.main(sys.argv[2:], alone))
    from .cli.program import cli

    cli.main(prog_name="recollect")


def leave(ended: SystemExit) -> None:
    """End the process at once where a thread of ours is still at work, such as one that loads the model.

    Python ends such a thread in the middle of native code when the interpreter ends, which aborts the whole process.
    """
    threading = sys.modules.get("threading")
    if threading is None or not any(thread.name.startswith("recollect-") for thread in threading.enumerate()):
        return
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # nobody reads it any more, or it was closed before we began
            continue
    os._exit(ended.code if isinstance(ended.code, int) else int(ended.code is not None))


if __name__ == "__main__":
    main()
