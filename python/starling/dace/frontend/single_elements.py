"""Loops over single elements, which are refused."""

from __future__ import annotations

import sympy

from starling.dace.ir import Body, Compute, For, If, Program, While
from starling.dace.program_error import ProgramError

__all__ = ["refuse_single_elements"]


def refuse_single_elements(p: Program, body: Body, loops: set[str]) -> None:
    """Refuses loops over single elements: each would be computed by one block, with barriers between.

    Raises:
        ProgramError: One of them.
    """
    for s in body:
        if isinstance(s, For):
            refuse_single_elements(p, s.body, loops | {s.variable})
        elif isinstance(s, While):
            refuse_single_elements(p, s.body, loops)
        elif isinstance(s, If):
            for _, inner in s.branches:
                refuse_single_elements(p, inner, loops)
        elif isinstance(s, Compute) and not s.params and not p.arrays[s.target].scalar:
            named = {str(n) for i in s.index for n in sympy.sympify(i).free_symbols}
            if named & loops and p.arrays[s.target].split:
                raise ProgramError.at(
                    s.place,
                    s.target,
                    "is computed by a loop over single elements; write it with slices, or with dace.map",
                )
