"""Types of arguments: DaCe's, and arrays that the PEs share."""

from __future__ import annotations

from typing import Any

from dace import data, dtypes
from starling.dace.program_error import ProgramError

__all__ = ["MOST_AXES", "Split", "split"]

MOST_AXES = 2  # of the grid of PEs


class Split:
    """An array of which every PE has its part along one axis or two; made by :func:`split`."""

    def __init__(self, array: Any, axes: tuple[int, ...]) -> None:
        self.array = array
        self.axes = axes

    def __repr__(self) -> str:
        return f"split({self.array}, {self.axes[0] if len(self.axes) == 1 else self.axes})"


def split(array: Any, axis: Any = 0) -> Split:
    """The type of a whole array whose layers along an axis, or two, are shared out among the PEs.

    Args:
        array: A type of DaCe such as ``float64[M, N]``.
        axis: The axis, counted from 0. Two of them, such as ``(0, 1)``: the PEs form a grid, whose rows share the first
            and whose columns share the second.

    Raises:
        ProgramError: `array` is no such type, or has no such axis.

    Source: block distribution of stencils, CPU-free execution, 4.1.

    >>> from starling import dace as sd
    >>> M, N = sd.symbols("M N")
    >>> sd.split(sd.float32[M, N], (0, 1)).axes
    (0, 1)
    """
    if isinstance(array, dtypes.typeclass) or not isinstance(array, data.Array):
        raise ProgramError(f"split: {array!r} is no array type; pass one such as float64[M, N]", node="split")
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(k, int) and not isinstance(k, bool) for k in axes) or not 1 <= len(axes) <= MOST_AXES:
        raise ProgramError(
            f"split: axis = {axis!r}; one axis or two can be split, pass a number such as 0, or (0, 1)", node="split"
        )
    for k in axes:
        if not 0 <= k < len(array.shape):
            raise ProgramError(
                f"split: axis = {k} of an array of {len(array.shape)} axes; must be from 0 to {len(array.shape) - 1}",
                node="split",
            )
    if len(set(axes)) != len(axes):
        raise ProgramError(f"split: axis = {axis}; name two different axes", node="split")
    return Split(array, axes)
