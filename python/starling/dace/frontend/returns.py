"""Values that a program returns: a call of it gives nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from starling.dace.frontend.source import place_in, syntax_of
from starling.dace.program_error import ProgramError

__all__ = ["refuse_returned_values"]


def refuse_returned_values(function: Callable[..., Any]) -> None:
    """Refuses them; a program that another one calls may return a value.

    Raises:
        ProgramError: There is one.
    """
    for node in ast.walk(syntax_of(function)):
        if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
            raise ProgramError.at(
                place_in(function, node),
                f"return {ast.unparse(node.value)}",
                "gives a value, which a program cannot; write it into an argument, such as result[0] = ... or "
                "result[:] = ...",
            )
