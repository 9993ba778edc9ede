"""Loops of a few literal passes that are written out, because an index along a split axis follows their variable.

PEs exchange layers at distances that are constant. `img[i : M - 2 + i]` in `for i in range(3)` has three of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from starling.dace.ir import Compute, Reduce, Sym, reads_of

if TYPE_CHECKING:
    from starling.dace.frontend.translation import Translation

__all__ = ["WriteOut", "check_distances", "write_out_for"]


class WriteOut(Exception):
    """A loop at this file and line is to be written out."""

    def __init__(self, place: tuple[str, int]) -> None:
        super().__init__(place)
        self.place = place


def write_out_for(t: Translation, e: Sym) -> None:
    """Asks for a loop to be written out whose variable stands in an expression that must be a number.

    Raises:
        WriteOut: There is one that can be.
    """
    for name in sorted(str(x) for x in sympy.sympify(e).free_symbols):
        over = t.ranges.get(name)
        if over is not None and over.values is not None:
            raise WriteOut(over.place)


def check_distances(t: Translation, s: Compute | Reduce) -> None:
    """Looks at what a statement reads of split arrays.

    Raises:
        WriteOut: It lies at a distance that changes from pass to pass of a loop which can be written out.
    """
    arrays = t.program.arrays
    own: list[Sym] | None = None
    if isinstance(s, Compute) and arrays[s.target].split:
        own = [s.index[d.axis] for d in arrays[s.target].dealt]
    for r in reads_of(s.value):
        if not arrays[r.array].split:
            continue
        for k, d in enumerate(arrays[r.array].dealt):
            there = r.index[d.axis]
            distance = there - own[k] if own is not None and k < len(own) else there
            write_out_for(t, sympy.expand(distance))
