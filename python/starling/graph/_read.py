"""Graphs from files."""

from __future__ import annotations

import gzip
import io
import warnings
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling._arguments import whole_number
from starling._matrix_files import first_line, opened, read_market, read_npz, suffix_of
from starling.errors import ArgumentError, MatrixFileError
from starling.graph import _matrix

MARKET = (".mtx", ".mtx.gz")
SAVED = (".npz", ".npz.gz")
LISTS = (".txt", ".txt.gz", ".snap", ".snap.gz", ".tsv", ".tsv.gz", ".edges", ".edges.gz", ".el", ".el.gz")
COMMAS = (".csv", ".csv.gz")
SUFFIXES = (*MARKET, *SAVED, *LISTS, *COMMAS)
COMMENTS = "#%"


def read(
    path: str | PathLike[str],
    *,
    base: SupportsIndex | None = None,
    vertices: SupportsIndex | None = None,
    weights: bool | None = None,
    directed: bool = True,
) -> sparse.csr_array:
    """Reads a graph: ``A[i, j]`` is the weight of the edge from vertex i to vertex j.

    Args:
        path: A Matrix Market file (``.mtx``), with or without values; ``.npz`` as ``scipy.sparse.save_npz`` writes it;
            or a list of edges, two vertices and perhaps a weight on a line: with spaces or tabs between them, as SNAP
            has them (``.txt``, ``.snap``, ``.tsv``, ``.edges``, ``.el``), or commas (``.csv``), perhaps below a line of
            names. Lines that begin with ``#`` or ``%`` are comments. Each may be packed (``.gz``).
        base: The number of the first vertex in a list of edges, 0 or 1. None: 0.
        vertices: How many a list of edges has. None: up to the last one that an edge has.
        weights: Whether a list of edges has weights. None: as its first line.
        directed: False: each edge of a list leads both ways.

    Returns:
        ``scipy.sparse.csr_array`` of shape (N, N), rows sorted. Edges that are there twice are kept as two entries:
        parallel edges, of which PageRank counts all and :func:`sssp` takes the shortest. Entries without weights are
        ones of int32; weights are int64 where all are whole, else float64.

    Raises:
        MatrixFileError: The file is damaged or ends too early, or an edge is none: a vertex that is out of range, a
            weight that is NaN; the message and ``line`` say where.
        ArgumentError: There is no such file, its kind is not known, an argument is not allowed, or the matrix is not
            square or complex.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "edges.txt")
    ...     _ = file.write_text("# from to weight\\n1 2 7\\n2 3 5\\n")
    ...     read(file, base=1).toarray().tolist()
    [[0, 7, 0], [0, 0, 5], [0, 0, 0]]
    """
    path = Path(path)
    suffix = suffix_of(path, SUFFIXES)
    if suffix in LISTS + COMMAS:
        first = 0 if base is None else whole_number("base", base, least=0, most=1)
        most = None if vertices is None else whole_number("vertices", vertices, least=0, most=_matrix.MOST_VERTICES)
        return _read_list(path, _Form(first, most, "," if suffix in COMMAS else None), weights, directed)
    for name, value in (("base", base), ("vertices", vertices), ("weights", weights)):
        if value is not None:
            raise ArgumentError(f"{name} = {value!r}, but {path} says so itself; leave {name} out")
    if not directed:
        raise ArgumentError(
            f"directed = False, but {path} is a matrix; pass A + A.T, or one that is stored as symmetric"
        )
    a = sparse.coo_array(read_market(path, pattern=True) if suffix in MARKET else _read_saved(path))
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(f"{path} holds a matrix of {a.shape[0]} x {a.shape[1]}; that of a graph must be square")
    if a.dtype.kind not in "biuf":
        raise ArgumentError(f"{path} holds {a.dtype}; weights must be real numbers")
    data = a.data.astype(np.int32) if a.dtype.kind == "b" else a.data
    return _matrix.from_edges(a.coords[0], a.coords[1], data, a.shape[0])


def _read_saved(path: Path) -> Any:
    if path.suffix.lower() != ".gz":
        return read_npz(path)
    try:
        with opened(path) as file:
            return read_npz(path, io.BytesIO(file.read()))
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise MatrixFileError(f"{path} is not a whole gzip file ({first_line(problem)}); fetch it again") from None


@dataclass(frozen=True)
class _Form:
    """The format of lines of edges."""

    base: int
    vertices: int | None
    comma: str | None
    weights: bool = False
    header: int = 0  # lines before the first edge that are no comments

    @property
    def columns(self) -> int:
        return 3 if self.weights else 2

    def words(self, line: str) -> list[str]:
        return [w.strip() for w in line.split(self.comma)] if self.comma else line.split()

    def problem_of(self, words: list[str]) -> str | None:
        """What is wrong with a line."""
        if len(words) != self.columns:
            return f"has {len(words)} columns, not {self.columns}"
        for word in words[:2]:
            try:
                vertex = int(word)
            except ValueError:
                return f"has {word!r} for a vertex, which must be a whole number"
            if vertex < self.base:
                return f"has vertex {vertex}, but vertices are numbered from {self.base}"
            most = self.base + (_matrix.MOST_VERTICES if self.vertices is None else self.vertices) - 1
            if vertex > most:
                return f"has vertex {vertex}; the last one is {most}"
        if self.weights:
            try:
                weight = float(words[2])
            except ValueError:
                return f"has {words[2]!r} for a weight, which must be a number"
            if not np.isfinite(weight):
                return f"has the weight {words[2]}; all must be finite"
        return None


def _read_list(path: Path, form: _Form, weights: bool | None, directed: bool) -> sparse.csr_array:
    form, comment = _looked_at(path, form, weights)
    edges = _parsed(path, form, comment)
    n = form.vertices if form.vertices is not None else 0
    if edges.size:
        ends = [edges[name] - form.base if form.base else edges[name] for name in ("from", "to")]
        least, most = min(int(e.min()) for e in ends), max(int(e.max()) for e in ends)
        if least < 0 or most >= (_matrix.MOST_VERTICES if form.vertices is None else form.vertices):
            raise _damaged(path, form)
        if form.weights and not np.all(np.isfinite(edges["weight"])):
            raise _damaged(path, form)
        n = n if form.vertices is not None else most + 1
    else:
        ends = [np.zeros(0, np.int64)] * 2
    data = _whole(edges["weight"]) if form.weights else np.ones(len(edges), np.int32)
    if not directed:
        back = ends[0] != ends[1]
        ends = [np.concatenate([ends[0], ends[1][back]]), np.concatenate([ends[1], ends[0][back]])]
        data = np.concatenate([data, data[back]])
    return _matrix.from_edges(ends[0], ends[1], data, n)


def _whole(weights: NDArray[np.float64]) -> NDArray[Any]:
    """As int64, if that is the same."""
    exact = 2.0**53
    if weights.size and np.abs(weights).max() <= exact and np.array_equal(weights, np.trunc(weights)):
        return weights.astype(np.int64)
    return weights


def _looked_at(path: Path, form: _Form, weights: bool | None) -> tuple[_Form, str]:
    """What the first lines show, and the sign that comments begin with."""
    comment = COMMENTS[0]
    header = 0
    for _, line in _lines(path):
        text = line.strip()
        if not text or text[0] in COMMENTS:
            comment = text[0] if text else comment
            continue
        words = form.words(text)
        if form.comma and header == 0 and not _is_number(words[0]):
            header = 1
            continue
        found = weights if weights is not None else len(words) > 2
        return _Form(form.base, form.vertices, form.comma, found, header), comment
    return _Form(form.base, form.vertices, form.comma, bool(weights), header), comment


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; raises MatrixFileError with the number where the file ends too early."""
    number = 0
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                yield number, (line.removeprefix(BOM_UTF8) if number == 1 else line).decode("latin1")
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise MatrixFileError(
            f"{path}, line {number + 1}: not a whole gzip file ({first_line(problem)}); fetch it again", number + 1
        ) from None


def _parsed(path: Path, form: _Form, comment: str) -> NDArray[Any]:
    fields = [("from", np.int64), ("to", np.int64), ("weight", np.float64)][: form.columns]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a file without edges is a graph without edges
            return np.loadtxt(
                path,
                dtype=fields,
                comments=comment,
                delimiter=form.comma,
                skiprows=_lines_above(path, form),
                encoding=_encoding(path),
                ndmin=1,
            )
    except MemoryError:
        raise MatrixFileError(f"{path} holds more edges than fit into memory") from None
    except (ValueError, OverflowError, EOFError, zlib.error, gzip.BadGzipFile):
        raise _damaged(path, form) from None


def _encoding(path: Path) -> str:
    """One that reads comments of any kind, and the mark that editors put before UTF-8."""
    with opened(path) as file:
        return "utf-8-sig" if file.read(len(BOM_UTF8)) == BOM_UTF8 else "latin1"


def _lines_above(path: Path, form: _Form) -> int:
    """Lines to skip: up to the header, if there is one."""
    if form.header == 0:
        return 0
    for number, line in _lines(path):
        if line.strip() and line.strip()[0] not in COMMENTS:
            return number
    return 0


def _damaged(path: Path, form: _Form) -> MatrixFileError:
    """Finds the first line that is wrong: slowly, but that is needed once."""
    left = form.header
    for number, line in _lines(path):
        text = line.strip()
        if not text or text[0] in COMMENTS:
            continue
        left -= 1
        problem = None if left >= 0 else form.problem_of(form.words(text))
        if problem is not None:
            ends_here = "" if line.endswith("\n") else ", and ends there"
            return MatrixFileError(f"{path}, line {number}: {problem}{ends_here}; is the file whole?", number)
    return MatrixFileError(f"{path} cannot be read; comments must begin with one sign, # or %, and stand alone")
