"""Graphs as arguments: sparse matrices whose entry (i, j) is the weight of the edge from i to j, and networkx's graphs.

Inside, a graph is compressed by the vertex that its edges lead *to*: that is what a device reads when each vertex
pulls what its neighbours have.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling._dense import dense_array
from starling.errors import ArgumentError, ElementTypeError, EntryError

T = TypeVar("T")

MOST_VERTICES = 2**30  # as most_rows of the native part
ALLOWED = "a sparse matrix or array of SciPy, a NumPy array of 2 dimensions, or a graph of networkx"


@dataclass(frozen=True)
class Graph:
    """A graph as it was given."""

    edges: sparse.csr_array
    """Entry (i, j): the weight of an edge from i to j. Edges that are there twice are two entries; rows are sorted."""
    nodes: list[Hashable] | None
    """networkx's names of the vertices; None: they are numbers."""
    kept: dict[Hashable, Any] | None = None
    """What was made of it, kept where it will be asked for again; None: nothing is."""

    __networkx_backend__: ClassVar[str] = "starling"

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, once for each key where the graph keeps such things."""
        if self.kept is None:
            return make()
        if key not in self.kept:
            self.kept[key] = make()
        made: T = self.kept[key]
        return made

    @property
    def vertices(self) -> int:
        return int(self.edges.shape[0])

    def name(self, vertex: int) -> Hashable:
        """What the user calls a vertex."""
        return vertex if self.nodes is None else self.nodes[vertex]

    def place(self, row: int, column: int) -> str:
        """How a message names an entry."""
        if self.nodes is None:
            return f"A[{row}, {column}]"
        return f"the weight of the edge from {self.nodes[row]!r} to {self.nodes[column]!r}"


@dataclass(frozen=True)
class InEdges:
    """The same by the vertices that edges lead to, each pair of vertices once.

    Attributes:
        start: [vertices + 1] where the edges to each vertex begin.
        source: The vertex that each edge comes from, ascending for each vertex.
        weight: None: all are 1.
    """

    start: NDArray[np.int64]
    source: NDArray[np.int32]
    weight: NDArray[Any] | None


def is_networkx(graph: Any) -> bool:
    """Whether it is a graph of networkx; which is loaded then."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(graph, networkx.Graph)


def from_edges(begin: NDArray[Any], end: NDArray[Any], data: NDArray[Any], vertices: int) -> sparse.csr_array:
    """Rows sorted by column; edges that are there twice stay two."""
    coo = sparse.coo_array((data, (_places(begin), _places(end))), shape=(vertices, vertices))
    return _sorted_rows(coo)


def _places(vertices: NDArray[Any]) -> NDArray[Any]:
    return vertices.astype(np.int32, copy=False)


def _sorted_rows(coo: sparse.coo_array) -> sparse.csr_array:
    coo.has_canonical_format = True  # so that entries of one place are not added up
    csr = coo.tocsr()
    csr.sort_indices()
    return csr


def as_graph(a: Any, weight: str | None = "weight", name: str = "A") -> Graph:
    """A matrix or a networkx graph as a graph, checked but for its weights; a graph itself. `a` is not changed.

    Args:
        weight: Of networkx: the attribute that has the weight, 1 where it is missing. None: all edges have the weight
            1, those of a matrix too.
    """
    if is_networkx(a):
        return _from_networkx(a, weight)
    given = a if isinstance(a, Graph) else Graph(_from_matrix(a, name), None)
    if weight is not None:
        return given
    edges = given.edges
    ones = sparse.csr_array((np.ones(edges.nnz, np.int32), edges.indices, edges.indptr), shape=edges.shape)
    return Graph(ones, given.nodes)


def _from_networkx(graph: Any, weight: str | None) -> Graph:
    nodes: list[Hashable] = list(graph)
    index = {node: i for i, node in enumerate(nodes)}
    found = graph.edges(data=weight, default=1) if weight is not None else ((u, v, 1) for u, v in graph.edges())
    edges = list(found)
    begin = np.fromiter((index[u] for u, _, _ in edges), np.int32, len(edges))
    end = np.fromiter((index[v] for _, v, _ in edges), np.int32, len(edges))
    data = _real_weights(edges, weight, begin, end)
    if not graph.is_directed():
        back = begin != end
        begin, end = np.concatenate([begin, end[back]]), np.concatenate([end, begin[back]])
        data = np.concatenate([data, data[back]])
    return Graph(from_edges(begin, end, data, len(nodes)), nodes)


def _real_weights(
    edges: list[tuple[Hashable, Hashable, Any]], name: str | None, begin: NDArray[Any], end: NDArray[Any]
) -> NDArray[Any]:
    try:
        data = np.asarray([w for _, _, w in edges], dtype=None if edges else np.int32)
    except (TypeError, ValueError, OverflowError):
        data = np.asarray(None)
    if data.dtype.kind in "biuf" and data.ndim == 1:
        return data.astype(np.int32) if data.dtype.kind == "b" else data
    numbers = np.zeros(len(edges), np.float64)  # whole numbers that no type of NumPy holds, or no numbers
    for at, (u, v, w) in enumerate(edges):
        if isinstance(w, np.timedelta64) or not isinstance(w, (int, float, np.bool_, np.integer, np.floating)):
            raise ElementTypeError(
                f"the edge from {u!r} to {v!r} has {name} = {w!r}, a {type(w).__name__}; weights must be real numbers"
            )
        try:
            numbers[at] = float(w)
        except OverflowError:
            raise EntryError(
                f"the edge from {u!r} to {v!r} has a {name} of {int(w).bit_length()} bits, more than float64 holds; "
                "scale the weights",
                int(begin[at]),
                int(end[at]),
                float("inf"),
            ) from None
    return numbers


def _from_matrix(a: Any, name: str) -> sparse.csr_array:
    if not sparse.issparse(a):
        a = _dense(a, name)
    if a.dtype.kind not in "biuf":
        raise ElementTypeError(f"{name} holds {a.dtype}; weights must be real numbers: pass {name}.astype('float64')")
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise ArgumentError(f"{name} has the shape {tuple(a.shape)}; the matrix of a graph must be square")
    if a.shape[0] > MOST_VERTICES:
        raise ArgumentError(f"{name} has {a.shape[0]} rows; must have at most {MOST_VERTICES}")
    if sparse.issparse(a) and a.format == "coo":
        return _sorted_rows(sparse.coo_array(a, copy=True))
    csr = sparse.csr_array(a)
    try:
        csr.check_format(full_check=True)
    except ValueError as problem:
        raise ArgumentError(f"{name} is damaged: {problem}; make it again") from None
    if not csr.has_sorted_indices:
        csr = csr.copy()
        csr.sort_indices()
    return csr.astype(np.int32) if csr.dtype.kind == "b" else csr


def _dense(a: Any, name: str) -> NDArray[Any]:
    dense = dense_array(a, name, ALLOWED, "starling.graph.read(path)")
    if dense.ndim != 2 and not isinstance(a, (np.ndarray, list, tuple)):
        raise ElementTypeError(f"{name} is a {type(a).__name__}; pass {ALLOWED}")
    return dense


def check_weights(graph: Graph) -> None:
    """Raises EntryError with the place of the first weight that is NaN, infinite or negative."""
    edges = graph.edges
    wrong = edges.data < 0 if edges.dtype.kind in "iu" else ~((edges.data >= 0) & (edges.data < np.inf))
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    value = edges.data[at]
    kind = "must not be negative" if value < 0 and np.isfinite(value) else "must be finite"
    raise _entry_error(graph, at, f"weights {kind}", int(wrong.sum()))


def check_least(graph: Graph, element: np.dtype[Any]) -> None:
    """Raises EntryError with the place of the first weight above 0 that is too small for an element type."""
    weights = graph.edges.data
    if weights.dtype.kind != "f":
        return
    least = float(np.finfo(element).tiny)  # what is smaller loses digits, and becomes 0 at last
    wrong = np.flatnonzero((weights > 0) & (weights < least))
    if wrong.size:
        wider = ", or use dtype='float64'" if element == np.float32 else ""
        problem = f"{element} holds no weight between 0 and {least:.3g}; scale them{wider}"
        raise _entry_error(graph, int(wrong[0]), problem, wrong.size)


def _entry_error(graph: Graph, at: int, problem: str, wrong: int) -> EntryError:
    """For entry number `at`, the first of those that are wrong."""
    edges = graph.edges
    row = int(np.searchsorted(edges.indptr, at, side="right")) - 1
    column, value = int(edges.indices[at]), edges.data[at].item()
    return EntryError(
        f"{graph.place(row, column)} = {value}; {problem} ({wrong} of {edges.nnz} are wrong)", row, column, value
    )


def in_edges(graph: Graph, join: np.ufunc, dtype: Any) -> InEdges:
    """The edges by where they lead to; those of one place become one by `join`: np.add, or np.minimum.

    Args:
        dtype: Of the weights; where all are 1, there are none.
    """
    return graph.remember((join.__name__, np.dtype(dtype).name), lambda: _made_in_edges(graph, join, dtype))


def _made_in_edges(graph: Graph, join: np.ufunc, dtype: Any) -> InEdges:
    # Compressing the columns of rows that are sorted leaves them sorted.
    by_end = graph.edges.tocsc()
    start = by_end.indptr.astype(np.int64)
    source, weight = by_end.indices, by_end.data
    if source.size:
        first = np.empty(source.size, bool)
        first[0] = True
        np.not_equal(source[1:], source[:-1], out=first[1:])
        begins = start[:-1][start[:-1] < source.size]
        first[begins] = True
        if not first.all():
            places = np.flatnonzero(first)
            weight = join.reduceat(weight.astype(np.float64) if join is np.add else weight, places)
            source = source[places]
            start = np.concatenate([[0], np.cumsum(first)])[start].astype(np.int64)
    ones = bool(np.all(weight == 1))
    return InEdges(
        np.ascontiguousarray(start),
        np.ascontiguousarray(source, dtype=np.int32),
        None if ones else np.ascontiguousarray(weight, dtype=dtype),
    )
