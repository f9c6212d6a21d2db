"""Run the command line with `python -m recollect`."""

from .cli import main

if __name__ == "__main__":
    main()
