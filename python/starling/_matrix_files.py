"""Sparse matrices from files, with errors that name the file and the line."""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from scipy import io, sparse

from starling import _files
from starling.errors import ArgumentError, MatrixFileError

LEAST_BYTES_OF_ENTRY = 2  # of a Matrix Market file: a digit and the end of the line
MOST_COMPRESSION = 1100  # of gzip


def suffix_of(path: Path, known: tuple[str, ...]) -> str:
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


def read_npz(path: Path, file: IO[bytes] | None = None) -> Any:
    """A sparse matrix that SciPy saved, of any format; from `file` where that is what `path` holds."""
    try:
        return sparse.load_npz(path if file is None else file)
    except MemoryError:
        raise MatrixFileError(f"{path} says it holds more than fits into memory; is it damaged?") from None
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as problem:
        raise MatrixFileError(
            f"{path} is not a whole sparse matrix ({first_line(problem)}); write it again with scipy.sparse.save_npz"
        ) from None


def read_market(path: Path, pattern: bool = False) -> Any:
    """A sparse matrix, or an array if the Matrix Market file is one.

    Args:
        pattern: Entries may be without values, which are then ones.
    """
    try:
        _check_header(path, pattern, *io.mminfo(path))
        return io.mmread(path)
    except MemoryError:
        raise MatrixFileError(f"{path} says it holds more than fits into memory; is it damaged?") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise MatrixFileError(f"{path} is not a whole gzip file ({first_line(problem)}); fetch it again") from None
    except MatrixFileError:
        raise
    except ArgumentError:
        raise
    except (ValueError, OverflowError, UnicodeDecodeError) as problem:
        line = _line_of(path, str(problem))
        reason = re.sub(r"^Line \d+: ", "", first_line(problem)).rstrip(".")
        where = "" if line is None else f", line {line}"
        raise MatrixFileError(
            f"{path}{where}: {reason}; is the file whole, and in Matrix Market format?", line
        ) from None


def _check_header(
    path: Path, pattern: bool, rows: int, columns: int, entries: int, layout: str, field: str, symmetry: str
) -> None:
    if field == "pattern" and not pattern:
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


def first_line(problem: BaseException) -> str:
    """What an error of another library says, in short."""
    return str(problem).splitlines()[0] if str(problem) else type(problem).__name__


def _line_of(path: Path, text: str) -> int | None:
    """The line that an error of SciPy means."""
    named = re.match(r"Line (\d+):", text)
    if named:
        return int(named.group(1))
    if "Truncated" in text:
        with opened(path) as file:
            return sum(1 for _ in file)
    return _size_line(path) if "Invalid integer value" in text else None


def _size_line(path: Path) -> int | None:
    """The first line that is no comment: the number of rows, columns and entries."""
    with opened(path) as file:
        for number, line in _numbered(file):
            if line.strip() and not line.startswith(b"%"):
                return number
    return None


def opened(path: Path) -> IO[bytes]:
    """A file to read, unpacked if its name ends in .gz."""
    opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opened(path, "rb")  # type: ignore[no-any-return]


def _numbered(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    return enumerate(file, 1)
