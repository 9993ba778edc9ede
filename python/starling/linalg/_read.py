"""Matrices and vectors from files, with errors that name the file and the line."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from starling import _files
from starling.errors import ArgumentError, MatrixFileError
from starling.linalg import _matrix

MATRIX_SUFFIXES = (".mtx", ".mtx.gz", ".npz")
VECTOR_SUFFIXES = (".npy", ".mtx", ".mtx.gz")
LEAST_BYTES_OF_ENTRY = 2  # of a Matrix Market file: a digit and the end of the line
MOST_COMPRESSION = 1100  # of gzip


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
    suffix = _suffix(path, MATRIX_SUFFIXES)
    a = _read_npz(path) if suffix == ".npz" else _read_market(path)
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
    if _suffix(path, VECTOR_SUFFIXES) == ".npy":
        v: NDArray[Any] = _files.read_npy(path)
    else:
        read = _read_market(path)
        v = np.asarray(read.toarray() if sparse.issparse(read) else read)
    if v.ndim not in (1, 2) or (v.ndim == 2 and v.shape[1] != 1) or v.size == 0:
        raise ArgumentError(f"{path} holds an array of shape {v.shape}; a right-hand side has the shape (N,) or (N, 1)")
    return v.ravel()


def _suffix(path: Path, known: tuple[str, ...]) -> str:
    """The suffix of a file that is there."""
    _files.check_readable(path)
    name = path.name.lower()
    for suffix in known:
        if name.endswith(suffix):
            return suffix
    raise ArgumentError(
        f"{path}: the suffix {path.suffix or '(none)'} is not known here; must be {', '.join(known[:-1])} or "
        f"{known[-1]}"
    )


def _read_npz(path: Path) -> Any:
    try:
        return sparse.load_npz(path)
    except MemoryError:
        raise MatrixFileError(f"{path} says it holds more than fits into memory; is it damaged?") from None
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as problem:
        raise MatrixFileError(
            f"{path} is not a whole sparse matrix ({_first_line(problem)}); write it again with scipy.sparse.save_npz"
        ) from None


def _read_market(path: Path) -> Any:
    """A sparse matrix, or an array if the file is one."""
    try:
        _check_header(path, *io.mminfo(path))
        return io.mmread(path)
    except MemoryError:
        raise MatrixFileError(f"{path} says it holds more than fits into memory; is it damaged?") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise MatrixFileError(f"{path} is not a whole gzip file ({_first_line(problem)}); fetch it again") from None
    except MatrixFileError:
        raise
    except ArgumentError:
        raise
    except (ValueError, OverflowError, UnicodeDecodeError) as problem:
        line = _line_of(path, str(problem))
        reason = re.sub(r"^Line \d+: ", "", _first_line(problem)).rstrip(".")
        where = "" if line is None else f", line {line}"
        raise MatrixFileError(
            f"{path}{where}: {reason}; is the file whole, and in Matrix Market format?", line
        ) from None


def _check_header(path: Path, rows: int, columns: int, entries: int, layout: str, field: str, symmetry: str) -> None:
    if field == "pattern":
        raise ArgumentError(f"{path} holds a pattern, entries without values; a linear system needs values")
    if field == "complex" or symmetry == "hermitian":
        raise ArgumentError(f"{path} holds complex numbers; solvers compute in float32 or float64")
    if rows != columns and symmetry != "general":
        raise MatrixFileError(f"{path}: {symmetry}, but {rows} x {columns}; is it damaged?", 1)
    size = path.stat().st_size * (MOST_COMPRESSION if path.suffix.lower() == ".gz" else 1)
    stored = entries if symmetry == "general" or layout == "coordinate" else entries // 2
    if LEAST_BYTES_OF_ENTRY * stored > size:
        line = _size_line(path)
        raise MatrixFileError(
            f"{path}, line {line}: {entries} entries do not fit into a file of {path.stat().st_size} bytes; "
            "fetch it again",
            line,
        )


def _first_line(problem: BaseException) -> str:
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def _line_of(path: Path, text: str) -> int | None:
    """The line that an error of SciPy means."""
    named = re.match(r"Line (\d+):", text)
    if named:
        return int(named.group(1))
    if "Truncated" in text:
        with _opened(path) as file:
            return sum(1 for _ in file)
    return _size_line(path) if "Invalid integer value" in text else None


def _size_line(path: Path) -> int | None:
    """The first line that is no comment: the number of rows, columns and entries."""
    with _opened(path) as file:
        for number, line in _numbered(file):
            if line.strip() and not line.startswith(b"%"):
                return number
    return None


def _opened(path: Path) -> IO[bytes]:
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rb")  # type: ignore[no-any-return]


def _numbered(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    return enumerate(file, 1)
