"""How the PEs lie: along one axis, or as a grid of rows and columns."""

from __future__ import annotations

import operator
from typing import Any

from starling.dace.ir import Program
from starling.dace.program_error import Place, ProgramError

__all__ = ["grid_of", "nearly_square", "place_in", "share"]

Grid = tuple[int, ...]


def share(n: int, parts: int, which: int) -> tuple[int, int]:
    """Begin and end of a part, as share() of base/index.hpp."""
    each, more = divmod(n, parts)
    begin = which * each + min(which, more)
    return begin, begin + each + (which < more)


def nearly_square(pes: int, axes: int) -> Grid:
    """So many PEs along one axis or two; of two as equal as can be, more along the first.

    >>> nearly_square(4, 2), nearly_square(6, 2), nearly_square(3, 2), nearly_square(3, 1)
    ((2, 2), (3, 2), (3, 1), (3,))
    """
    if axes == 1:
        return (pes,)
    columns = max(k for k in range(1, pes + 1) if pes % k == 0 and k * k <= pes)
    return pes // columns, columns


def grid_of(p: Program, given: Any, pes: int) -> Grid:
    """The grid of a call.

    Args:
        p: After all passes.
        given: What the caller asks for; None: the most nearly square one.
        pes: How many there are.

    Raises:
        ProgramError: It has another number of axes than the program's, or of PEs than there are.
    """
    fitting = nearly_square(pes, p.grid)
    if given is None:
        return fitting
    place = Place(p.file, p.line)
    try:
        grid = tuple(operator.index(n) for n in given)
    except TypeError:
        raise ProgramError.at(place, "grid", f"= {given!r}; pass whole numbers such as grid={fitting}") from None
    if len(grid) != p.grid:
        raise ProgramError.at(
            place,
            "grid",
            f"= {grid} has {len(grid)} axes and the program's PEs lie along {p.grid}; pass one such as {fitting}",
        )
    if min(grid) < 1:
        raise ProgramError.at(place, "grid", f"= {grid}; each number must be at least 1, such as {fitting}")
    if grid[0] * (grid[1] if p.grid > 1 else 1) != pes:
        raise ProgramError.at(
            place, "grid", f"= {grid} is for other than {pes} PEs; pass one whose product is {pes}, such as {fitting}"
        )
    return grid


def place_in(grid: Grid, pe: int) -> tuple[int, ...]:
    """Where a PE stands along each axis: rows one after the other."""
    return (pe,) if len(grid) == 1 else (pe // grid[1], pe % grid[1])
