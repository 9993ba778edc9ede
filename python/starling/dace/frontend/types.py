"""Types of arguments: DaCe's, and arrays that the PEs share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import dace
from dace import data, dtypes
from starling.dace.frontend.source import place_of
from starling.dace.program_error import ProgramError

__all__ = ["MOST_AXES", "Split", "array_in", "dtype_name", "is_number", "split", "type_hints"]

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


def is_number(hint: Any) -> bool:
    """Whether a type is that of a number."""
    return isinstance(hint, dtypes.typeclass)


def dtype_name(hint: Any) -> str:
    """The element type of a type of DaCe."""
    return str((hint if is_number(hint) else hint.dtype).to_string())


def _hint_of(function: Callable[..., Any], hint: Any) -> Any:
    """An annotation, also one that is kept as text."""
    if not isinstance(hint, str):
        return hint
    closure = inspect.getclosurevars(function)
    return eval(hint, {**function.__globals__, **closure.nonlocals})


def array_in(function: Callable[..., Any], name: str) -> Any | None:
    """The array that an argument of a function is said to be; None: it has no such type."""
    hint = inspect.signature(function).parameters[name].annotation
    try:
        found = _hint_of(function, hint)
    except Exception:
        return None
    found = found.array if isinstance(found, Split) else found
    return found if isinstance(found, data.Array) else None


def type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the arguments, in order.

    Raises:
        ProgramError: An argument has none, or one that is no type of an argument.
    """
    place = place_of(function)
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        try:
            hint = _hint_of(function, parameter.annotation)
        except Exception as problem:
            text = parameter.annotation
            raise ProgramError.at(place, name, f"its type {text!r} cannot be evaluated: {problem}") from problem
        if not isinstance(hint, (Split, data.Array, dtypes.typeclass)):
            shown = "no type" if hint is inspect.Parameter.empty else f"the type {hint!r}"
            raise ProgramError.at(place, name, f"has {shown}; give one such as float64[N], split(float64[N], 0), int64")
        base = hint.array if isinstance(hint, Split) else hint
        dtype = base if isinstance(base, dtypes.typeclass) else base.dtype
        if dtype not in (dace.float32, dace.float64, dace.int32, dace.int64):
            raise ProgramError.at(place, name, f"holds {dtype.to_string()}; must be float32, float64, int32 or int64")
        found[name] = hint
    return found
