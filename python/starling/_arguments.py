"""Checks of arguments that several modules share. Each names the argument, the value and what is allowed."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, SupportsFloat, SupportsIndex

from starling.errors import ArgumentError, ElementTypeError

MOST_INT = 2**31 - 1
MOST_STEPS = 2**62


def whole_number(name: str, value: SupportsIndex, least: int = 1, most: int = MOST_INT) -> int:
    """`value` as an int from `least` to `most`.

    >>> whole_number("steps", 10)
    10
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ElementTypeError(f"{name} = {value!r} is a {type(value).__name__}; pass a whole number") from None
    if not least <= number <= most:
        limit = f"at least {least}" if number < least else f"at most {most}"
        raise ArgumentError(f"{name} = {number}; must be {limit}")
    return number


def finite_number(name: str, value: SupportsFloat, least: float | None = None) -> float:
    """`value` as a finite float, not below `least`.

    >>> finite_number("tol", 1)
    1.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ElementTypeError(f"{name} = {value!r} is a {type(value).__name__}; pass a number") from None
    except OverflowError:
        raise ArgumentError(f"{name} = {value!r} is too large for a floating point number") from None
    if not math.isfinite(number) or (least is not None and number < least):
        limit = "" if least is None else f" and at least {least:g}"
        raise ArgumentError(f"{name} = {number}; must be finite{limit}")
    return number


def members(name: str, values: object, allowed: str) -> list[Any]:
    """`values` as a list: any sequence but a text, arrays of NumPy too.

    >>> members("split", (2, 2), "a list of numbers")
    [2, 2]
    """
    try:
        if isinstance(values, (str, bytes)):
            raise TypeError
        return list(values)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        raise ElementTypeError(f"{name} = {values!r} is a {type(values).__name__}; pass {allowed}") from None


def callable_or_none(name: str, f: Callable[..., object] | None) -> Callable[..., object] | None:
    """`f` itself, if it can be called."""
    if f is not None and not callable(f):
        raise ElementTypeError(f"{name} = {f!r} is a {type(f).__name__}; pass a function, or None")
    return f


def one_of(name: str, value: object, allowed: Sequence[str]) -> str:
    """`value` itself, if it is one of the words that are allowed.

    >>> one_of("partition", "rows", ("nonzeros", "rows"))
    'rows'
    """
    words = f"{', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}" if len(allowed) > 1 else repr(allowed[0])
    if not isinstance(value, str):
        raise ElementTypeError(f"{name} = {value!r} is a {type(value).__name__}; must be {words}")
    if value not in allowed:
        raise ArgumentError(f"{name} = {value!r}; must be {words}")
    return value
