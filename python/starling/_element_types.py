"""Element types as arguments: whatever NumPy knows them by."""

from __future__ import annotations

from typing import Any

import numpy as np

from starling._arguments import one_of
from starling.errors import ElementTypeError

FLOATING = ("float32", "float64")


def known_type(dtype: object, name: str = "dtype") -> np.dtype[Any]:
    """`dtype` as NumPy's.

    >>> known_type("f8")
    dtype('float64')
    """
    try:
        found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError):  # NumPy raises any of them for texts and lists that are no types
        raise ElementTypeError(f"{name} = {dtype!r} is none that NumPy knows; pass for example 'float64'") from None
    return found


def floating_type(dtype: object, name: str = "dtype") -> np.dtype[Any]:
    """float32 or float64 in the byte order of this machine.

    >>> floating_type(np.float32)
    dtype('float32')
    """
    try:
        found = None if dtype is None else known_type(dtype, name).newbyteorder("=")
    except ElementTypeError:
        found = None
    return found if found in FLOATING else np.dtype(one_of(name, dtype, FLOATING))
