"""The source of a function."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from starling.dace.program_error import Place, ProgramError

__all__ = ["definition_of", "place_of"]


def place_of(function: Callable[..., Any]) -> Place:
    """Where a function stands."""
    code = function.__code__
    return Place(code.co_filename, code.co_firstlineno)


def definition_of(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    """Its definition, and the number of the line before the first that the definition counts.

    Raises:
        ProgramError: There is no source, or it is no function with a name.
    """
    place = place_of(function)
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, IndentationError) as problem:
        raise ProgramError.at(
            place, function.__name__, f"its source cannot be read ({problem}); write it into a file or a cell"
        ) from problem
    found = tree.body[0] if tree.body else None
    if not isinstance(found, ast.FunctionDef):
        what = "a lambda" if function.__name__ == "<lambda>" else "no plain function"
        raise ProgramError.at(place, function.__name__, f"is {what}; write def")
    if found.args.vararg or found.args.kwarg:
        raise ProgramError.at(place, function.__name__, "takes arguments by * or **; name each")
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(found)):
        raise ProgramError.at(place, function.__name__, "is a generator, which a program cannot be")
    return found, max(first - 1, 0)
