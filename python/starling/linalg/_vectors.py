"""Right-hand sides, starts and vectors to multiply: checked, and as the solver wants them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling.errors import ArgumentError, ElementTypeError
from starling.linalg._matrix import element_type


def as_vector(v: Any, name: str, rows: int) -> NDArray[Any]:
    """An array of shape (rows,) or (rows, 1) as (rows,) of float32 or float64; not a copy where that is possible."""
    array = _real_numbers(v, name, rows)
    if array.shape not in ((rows,), (rows, 1)):
        raise ArgumentError(
            f"{name} has the shape {array.shape}, the matrix {rows} rows; pass an array of shape ({rows},) or "
            f"({rows}, 1)"
        )
    return np.ascontiguousarray(array.ravel())


def as_columns(v: Any, name: str, rows: int) -> NDArray[Any]:
    """The same of an array that may have several columns, as (rows, columns)."""
    array = _real_numbers(v, name, rows)
    if array.ndim not in (1, 2) or array.shape[0] != rows or array.size == 0:
        raise ArgumentError(
            f"{name} has the shape {array.shape}, the matrix {rows} rows; pass an array of shape ({rows},), or "
            f"({rows}, columns)"
        )
    return array.reshape(rows, -1)


def finite_columns(v: Any, name: str, rows: int) -> NDArray[Any]:
    """The same, without NaN and infinity."""
    array = as_columns(v, name, rows)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        at = f"{row}" if array.shape[1] == 1 else f"{row}, {column}"
        raise ArgumentError(
            f"{name}[{at}] = {array[row, column]}; all {array.size} must be finite ({len(bad)} are not)"
        )
    return array


def _real_numbers(v: Any, name: str, rows: int) -> NDArray[Any]:
    """An array of float32 or float64, in the byte order of this machine."""
    if sparse.issparse(v):
        raise ElementTypeError(f"{name} is sparse; pass {name}.toarray()")
    if isinstance(v, np.ma.MaskedArray):
        raise ElementTypeError(f"{name} is a masked array, and a vector knows no masks; pass {name}.filled(0)")
    if isinstance(v, (str, bytes)) or v is None:
        raise ElementTypeError(f"{name} = {v!r} is a {type(v).__name__}; pass an array of {rows} numbers")
    try:
        array = np.asarray(v)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise ElementTypeError(
            f"{name} is a {type(v).__name__} that NumPy cannot read ({str(problem).splitlines()[0]}); "
            f"pass an array of {rows} numbers in the memory of the host"
        ) from None
    return np.asarray(array, dtype=element_type(array.dtype, name))
