"""How failures of a command are told: one message on stderr, and an exit code."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from starling.errors import ArgumentError, ElementTypeError, Error, RangeError

WRONG_USE = 2  # a file or an option is not as it must be
FAILED = 1  # the machine or the run failed
INTERRUPTED = 130


@contextmanager
def told(debug: bool, interrupted: str = "nothing was written") -> Iterator[None]:
    """Turns what goes wrong inside into a message and an exit code; with `debug`, the traceback too, and the log.

    Args:
        interrupted: What is said when somebody interrupts the command.
    """
    if debug:
        logging.basicConfig(level=logging.DEBUG)
    try:
        yield
    except (ArgumentError, ElementTypeError, RangeError) as problem:
        _end(str(problem), WRONG_USE, debug)
    except (Error, MemoryError) as problem:
        _end(str(problem) or type(problem).__name__, FAILED, debug)
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        _end(f"{where}{problem.strerror or problem}; check the place and its free space", FAILED, debug)
    except KeyboardInterrupt:
        _end(f"interrupted; {interrupted}", INTERRUPTED, debug)


def _end(message: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print(f"starling: {message}", file=sys.stderr)
    raise typer.Exit(code)
