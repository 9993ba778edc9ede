"""Arrays of NumPy where a matrix is wanted, of whatever users pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from starling.errors import ElementTypeError

__all__ = ["dense_array"]


def dense_array(a: Any, name: str, allowed: str, reader: str) -> NDArray[Any]:
    """`a` as an array; of what is none, an array of objects without dimensions.

    Args:
        a: Anything but a sparse matrix.
        name: What the caller calls it.
        allowed: What may be passed instead.
        reader: The call that reads a matrix from a file.

    Raises:
        ElementTypeError: It is a linear operator, a masked array or a text.
    """
    if isinstance(a, LinearOperator):
        raise ElementTypeError(f"{name} is a {type(a).__name__}, whose entries cannot be read; pass {allowed}")
    if isinstance(a, np.ma.MaskedArray):
        raise ElementTypeError(f"{name} is a masked array, and a matrix knows no masks; pass {name}.filled(0)")
    if isinstance(a, (str, bytes)):
        raise ElementTypeError(f"{name} = {a!r} is a text; pass {allowed}; {reader} reads one")
    try:
        return np.asarray(a)
    except (TypeError, ValueError, RuntimeError):
        return np.asarray(None)
