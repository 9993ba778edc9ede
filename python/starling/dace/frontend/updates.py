"""Updates in place of slices with a step, which DaCe's parser takes for slices without one."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from starling.dace.frontend.source import place_in, syntax_of
from starling.dace.program_error import ProgramError

__all__ = ["refuse_strided_updates"]


def refuse_strided_updates(function: Callable[..., Any]) -> None:
    """Refuses them.

    Raises:
        ProgramError: There is one.
    """
    for node in ast.walk(syntax_of(function)):
        if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Subscript):
            continue
        steps = [n.step for n in ast.walk(node.target.slice) if isinstance(n, ast.Slice) and n.step is not None]
        if any(not isinstance(step, ast.Constant) or step.value not in (None, 1) for step in steps):
            name = ast.unparse(node.target)
            raise ProgramError.at(
                place_in(function, node),
                ast.unparse(node.target.value),
                f"is updated in place with a step; write {name} = {name} ... instead",
            )
