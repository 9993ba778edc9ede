"""Matrices as arguments: of any format of SciPy, or dense; as compressed sparse rows that the native part can read."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling._dense import dense_array
from starling.errors import ArgumentError, ElementTypeError

log = logging.getLogger("starling")

MOST_ROWS = 2**30  # as most_rows of the native part
SYMMETRY = 64  # units in the last place by which mirrored entries may differ, as sums of element matrices do
ALLOWED = "a sparse matrix or array of SciPy, or a NumPy array of 2 dimensions"


def element_type(given: Any, name: str) -> np.dtype[Any]:
    """float32 or float64, in the byte order of this machine; whole numbers become float64, as in SciPy.

    >>> element_type(np.dtype("int8"), "A")
    dtype('float64')
    """
    dtype: np.dtype[Any] = np.dtype(given).newbyteorder("=")
    if dtype in (np.float32, np.float64):
        return dtype
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    remedy = {
        "c": f"complex systems are not supported; if its imaginary part is zero pass {name}.real",
        "f": f"pass {name}.astype('float64') or 'float32'",
    }.get(dtype.kind, f"pass {name}.astype('float64')")
    raise ElementTypeError(f"{name} holds {dtype}; solvers compute in float32 or float64: {remedy}")


def as_csr(a: Any, name: str = "A", dtype: np.dtype[Any] | None = None) -> sparse.csr_array:
    """A square matrix as sorted rows without duplicates. `a` is not changed.

    Zeros that are stored stay where the matrix has its mirror image stored too, as dense blocks of small matrices have.

    Args:
        dtype: Element type to convert to; None: that of `a`, by :func:`element_type`.
    """
    if not sparse.issparse(a):
        a = _dense(a, name)
    own = element_type(a.dtype, name)
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise ArgumentError(f"{name} has the shape {tuple(a.shape)}; must be square")
    if a.shape[0] == 0:
        raise ArgumentError(f"{name} is empty, shape {tuple(a.shape)}; must have at least one row")
    if a.shape[0] > MOST_ROWS:
        raise ArgumentError(f"{name} has {a.shape[0]} rows; must have at most {MOST_ROWS}")
    csr = sparse.csr_array(a if sparse.issparse(a) else a.astype(own, copy=False))
    try:
        csr.check_format(full_check=True)
    except ValueError as problem:
        raise ArgumentError(f"{name} is damaged: {problem}; make it again") from None
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not np.all(csr.data) and not _has_symmetric_pattern(csr):
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr.astype(dtype or own, copy=False)


def _dense(a: Any, name: str) -> NDArray[Any]:
    dense = dense_array(a, name, ALLOWED, "read_matrix(path)")
    if dense.dtype.kind not in "biufc" or (dense.ndim == 0 and not isinstance(a, (int, float, complex))):
        if isinstance(a, np.ndarray):
            return dense  # its element type is the problem
        raise ElementTypeError(f"{name} is a {type(a).__name__}; pass {ALLOWED}")
    if dense.ndim == 2:
        log.info(
            "%s is dense, shape %s: its entries that are not zero are stored as a sparse matrix", name, dense.shape
        )
    return dense


def _has_symmetric_pattern(csr: sparse.csr_array) -> bool:
    ones = sparse.csr_array((np.ones(csr.nnz, np.int8), csr.indices, csr.indptr), shape=csr.shape)
    mirrored = sparse.csr_array(ones.T)
    mirrored.sort_indices()
    return np.array_equal(mirrored.indptr, csr.indptr) and np.array_equal(mirrored.indices, csr.indices)


def arrays_of(csr: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Row starts, columns and values as the native part wants them; copied only where they differ."""
    return (
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.data),
    )


def common_type(a: Any, b: Any) -> np.dtype[Any]:
    """The element type of a solution, as in SciPy: float32 if both are, else float64."""
    both = element_type(a, "A") == np.float32 and element_type(b, "b") == np.float32
    return np.dtype(np.float32 if both else np.float64)


def check_finite(csr: sparse.csr_array, name: str = "A") -> None:
    """Raises ArgumentError with the place of the first entry that is NaN or infinite."""
    bad = np.flatnonzero(~np.isfinite(csr.data))
    if bad.size:
        row = int(np.searchsorted(csr.indptr, bad[0], side="right")) - 1
        raise ArgumentError(
            f"{name}[{row}, {csr.indices[bad[0]]}] = {csr.data[bad[0]]}; all {csr.nnz} entries must be finite "
            f"({bad.size} are not)"
        )


def check_system(csr: sparse.csr_array, name: str = "A") -> None:
    """Raises ArgumentError with the row where a matrix is not symmetric, or its diagonal not positive."""
    diagonal = csr.diagonal()
    if not np.all(diagonal > 0):
        row = int(np.flatnonzero(~(diagonal > 0))[0])
        raise ArgumentError(
            f"{name}[{row}, {row}] = {diagonal[row]}; the diagonal of a positive definite matrix is positive"
        )
    mirrored = sparse.csr_array(csr.T)
    allowed = SYMMETRY * float(np.finfo(csr.dtype).eps)
    difference = sparse.coo_array(abs(csr - mirrored) - allowed * (abs(csr) + abs(mirrored)))
    if difference.nnz and difference.data.max() > 0:
        row, column = (int(places[difference.data.argmax()]) for places in difference.coords)
        raise ArgumentError(
            f"{name} is not symmetric: {name}[{row}, {column}] = {csr[row, column]}, {name}[{column}, {row}] = "
            f"{csr[column, row]}; conjugate gradients need a symmetric matrix"
        )
