"""The exceptions of programs that end before their end."""

from __future__ import annotations

import builtins

from starling.dace.ir import StopReason
from starling.dace.program_error import ProgramError

__all__ = ["exception_of"]


def exception_of(reason: StopReason) -> Exception:
    """The exception of Python with the message of a reason, and a note that names its line.

    >>> from starling.dace.program_error import Place
    >>> exception_of(StopReason("ZeroDivisionError", "division by zero", Place("a.py", 3)))
    ZeroDivisionError('division by zero')
    """
    place = reason.place
    if reason.exception == "ProgramError":
        node, _, words = reason.message.partition(": ")
        return ProgramError.at(place, node, words)
    kind = getattr(builtins, reason.exception)
    message, note = reason.message, f"at {place} of a program of starling.dace"
    made: Exception = kind(message) if message else kind()
    if hasattr(made, "add_note"):
        made.add_note(note)
    else:  # before Python 3.11
        made.args = (f"{message} ({note})".strip(),)
    return made
