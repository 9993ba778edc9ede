"""Types of arguments: DaCe's, and arrays that the PEs share."""

from __future__ import annotations

from typing import Any

from dace import data, dtypes
from starling.dace.program_error import ProgramError

__all__ = ["Split", "split"]


class Split:
    """An array of which every PE has its part along an axis; made by :func:`split`."""

    def __init__(self, array: Any, axis: int) -> None:
        self.array = array
        self.axis = axis

    def __repr__(self) -> str:
        return f"split({self.array}, {self.axis})"


def split(array: Any, axis: Any = 0) -> Split:
    """The type of a whole array whose layers along an axis are shared out among the PEs.

    Args:
        array: A type of DaCe such as ``float64[M, N]``.
        axis: The axis, counted from 0.

    Raises:
        ProgramError: `array` is no such type, or has no such axis.

    Source: block distribution of stencils, CPU-free execution, 4.1.

    >>> from starling import dace as sd
    >>> M, N = sd.symbols("M N")
    >>> sd.split(sd.float32[M, N], 0).axis
    0
    """
    if isinstance(array, dtypes.typeclass) or not isinstance(array, data.Array):
        raise ProgramError(f"split: {array!r} is no array type; pass one such as float64[M, N]", node="split")
    if not isinstance(axis, int):
        raise ProgramError(f"split: axis = {axis}; one axis can be split, pass its number", node="split")
    if not 0 <= axis < len(array.shape):
        raise ProgramError(f"split: axis = {axis}; must be from 0 to {len(array.shape) - 1}", node="split")
    return Split(array, axis)
