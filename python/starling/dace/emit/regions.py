"""Regions of arrays that a user's puts name, in C++."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.emit.index import cpp_index
from starling.dace.ir import Array, Box, same

__all__ = ["box_of_region", "in_one_piece", "lengths_of"]


def lengths_of(box: Box) -> list[Any]:
    """Elements along each axis."""
    return [sympy.expand(e - b) if s == 1 else sympy.floor((e - b + s - 1) / s) for b, e, s in box]


def in_one_piece(a: Array, box: Box) -> bool:
    """Whether a region lies in one piece."""
    varying = [k for k, n in enumerate(lengths_of(box)) if n != 1]
    if not varying:
        return True
    whole = all(
        box[k][0] == 0 and same(box[k][1], a.shape[k]) and box[k][2] == 1 for k in range(varying[0] + 1, len(box))
    )
    return whole and box[varying[0]][2] == 1


def box_of_region(box: Box) -> tuple[int, str]:
    """A region in one piece as a box, behind the last axis along which it may be less than the array."""
    lengths = lengths_of(box)
    last = next((k for k, n in enumerate(lengths) if n != 1), len(lengths) - 1)
    start, count = ", ".join(cpp_index(b) for b, _, _ in box), ", ".join(map(cpp_index, lengths))
    return last, f"{{{{{start}}}, {{{count}}}}}"
