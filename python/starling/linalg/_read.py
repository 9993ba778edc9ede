"""Matrices and vectors from files, for linear systems."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling import _files
from starling._matrix_files import read_market, read_npz, suffix_of
from starling.errors import ArgumentError
from starling.linalg import _matrix

MATRIX_SUFFIXES = (".mtx", ".mtx.gz", ".npz")
VECTOR_SUFFIXES = (".npy", ".mtx", ".mtx.gz")


def read_matrix(path: str | PathLike[str]) -> sparse.csr_array:
    """Reads a square matrix, with both halves of one that is stored as symmetric.

    Args:
        path: A Matrix Market file (``.mtx``, ``.mtx.gz``), or ``.npz`` as ``scipy.sparse.save_npz`` writes it.

    Raises:
        MatrixFileError: The file is damaged; the message and ``line`` say where.
        ArgumentError: There is no such file, or its matrix is complex, without values, not square or empty.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.mtx")
    ...     _ = file.write_text("%%MatrixMarket matrix coordinate real symmetric\\n2 2 3\\n1 1 4\\n2 1 -1\\n2 2 4\\n")
    ...     read_matrix(file).toarray().tolist()
    [[4.0, -1.0], [-1.0, 4.0]]
    """
    path = Path(path)
    suffix = suffix_of(path, MATRIX_SUFFIXES)
    a = read_npz(path) if suffix == ".npz" else read_market(path)
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(f"{path} holds a matrix of {a.shape[0]} x {a.shape[1]}; must be square")
    if a.shape[0] == 0:
        raise ArgumentError(f"{path} holds an empty matrix; must have at least one row")
    return _matrix.as_csr(a, str(path))


def read_vector(path: str | PathLike[str]) -> NDArray[Any]:
    """Reads a vector, of shape (N,) or (N, 1) in the file.

    Args:
        path: ``.npy``, or a Matrix Market file (``.mtx``, ``.mtx.gz``).

    Raises:
        MatrixFileError: The file is damaged; the message and ``line`` say where.
        ArgumentError: There is no such file, or it holds no vector.
    """
    path = Path(path)
    if suffix_of(path, VECTOR_SUFFIXES) == ".npy":
        v: NDArray[Any] = _files.read_npy(path)
    else:
        read = read_market(path)
        v = np.asarray(read.toarray() if sparse.issparse(read) else read)
    if v.ndim not in (1, 2) or (v.ndim == 2 and v.shape[1] != 1) or v.size == 0:
        raise ArgumentError(f"{path} holds an array of shape {v.shape}; a right-hand side has the shape (N,) or (N, 1)")
    return v.ravel()
