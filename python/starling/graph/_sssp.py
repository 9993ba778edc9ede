"""Shortest paths from one vertex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

from starling import _regions
from starling._arguments import whole_number
from starling._element_types import floating_type
from starling._measuring import Measuring
from starling._region_report import Progress, Report
from starling._regions import Agent
from starling.errors import ArgumentError, RangeError
from starling.graph import _matrix
from starling.graph._matrix import Graph
from starling.machine import Machine

NOBODY = -9999  # as in SciPy: the vertex has no predecessor
WHOLE_IN_FLOAT32 = 2**24  # whole numbers up to this are exact


def sssp(
    A: Any,
    source: Any,
    return_predecessors: bool = False,
    *,
    weight: str | None = "weight",
    dtype: DTypeLike | None = None,
    devices: int | None = None,
    machine: Machine | str | None = None,
    agent: Agent = "auto",
    chunk: int | str | None = None,
    agent_blocks: SupportsIndex | None = None,
    deadline: SupportsFloat | None = None,
    report: bool = False,
    progress: Callable[[Progress], object] | None = None,
    measuring: Measuring | None = None,
) -> Any:
    """The lengths of the shortest paths from one vertex to all, on all devices of a machine.

    As ``scipy.sparse.csgraph.dijkstra(A, indices=source)``; whole numbers give the same, exactly.

    Args:
        A: Sparse matrix or array of SciPy in any format or a NumPy array, of shape (N, N), whose entry (i, j) is the
            length of an edge from i to j, at least 0. A zero that is stored is an edge, one of a dense array is none;
            of entries that are there twice the shorter counts. Or a graph of networkx, each edge of which leads both
            ways if it is undirected. It is not changed.
        source: The vertex: its number, 0 to N - 1, or the node of a networkx graph.
        return_predecessors: Return the vertex before each on a shortest path too.
        weight: As in :func:`pagerank`; None: all edges have the length 1.
        dtype: The element type on the devices; float32 may round. None: float32 where all lengths are whole numbers and
            that is exact, else float64.
        devices, machine, agent, chunk, agent_blocks, deadline, report, progress, measuring: As in :func:`pagerank`.

    Returns:
        Lengths: a new array of shape (N,) of float64, infinite where no path leads; with `return_predecessors` also an
        array of int32 that is -9999 for `source` and where no path leads. For a graph of networkx, dictionaries by node
        of those that a path leads to; `source` has no predecessor there. With `report`, a :class:`Report` comes last.

    Raises:
        RangeError: `source` is no vertex.
        EntryError: A length is negative, NaN or infinite, or below what float32 holds where `dtype` says that; has
            ``row``, ``column`` and ``value``.
        ArgumentError: Another value is not allowed: the matrix is not square, ...
        ElementTypeError: `A` is no graph, or an array has another element type.
        OutOfMemory, Unsupported, StallError: As in :func:`pagerank`.

    Source: R. Bellman, "On a routing problem", 1958, and L. R. Ford, 1956: each vertex pulls from its neighbours until
    nothing changes.

    >>> import numpy as np
    >>> from starling.graph import sssp
    >>> roads = np.array([[0, 7, 2], [0, 0, 0], [0, 4, 0]])
    >>> lengths, before = sssp(roads, 0, return_predecessors=True, devices=2)
    >>> lengths.tolist(), before.tolist()
    ([0.0, 6.0, 2.0], [-9999, 2, 0])
    """
    asked = None if dtype is None else floating_type(dtype)
    graph = _matrix.as_graph(A, weight)
    _matrix.check_weights(graph)
    start = _vertex(graph, source)
    sending = _regions.sending(agent, chunk, agent_blocks, deadline, progress, None, measuring)
    on = _regions.on(machine, devices, graph.vertices)
    single = _single_is_exact(graph) if asked is None else asked == np.float32
    length, before, done = _ways(graph, start, return_predecessors, single, on, sending)
    if asked is None and single and np.max(length, initial=0, where=np.isfinite(length)) >= WHOLE_IN_FLOAT32:
        length, before, done = _ways(graph, start, return_predecessors, False, on, sending)
    results = [*_by_node(graph, length.astype(np.float64), before)]
    if report:
        results.append(done)
    return tuple(results) if len(results) > 1 else results[0]


def _vertex(graph: Graph, source: Any) -> int:
    n = graph.vertices
    if graph.nodes is not None:
        try:
            return graph.nodes.index(source)
        except ValueError:
            raise RangeError(f"source = {source!r} is no node of the graph, which has {n}") from None
    number = whole_number("source", source, least=-(2**62), most=2**62)
    if not 0 <= number < n:
        known = f"vertices are numbered from 0 to {n - 1}" if n else "the graph has no vertices"
        raise RangeError(f"source = {number}; {known}")
    return number


def _single_is_exact(graph: Graph) -> bool:
    """Whether all lengths are whole numbers that float32 holds."""
    w = graph.edges.data
    whole = w.dtype.kind in "iu" or np.array_equal(w, np.trunc(w))
    return bool(whole and w.max(initial=0) < WHOLE_IN_FLOAT32)


def _ways(
    graph: Graph, start: int, predecessors: bool, single: bool, on: Machine, sending: _regions.Sending
) -> tuple[NDArray[Any], NDArray[np.int32] | None, Report]:
    element = np.dtype(np.float32 if single else np.float64)
    longest = graph.edges.data.max(initial=0)
    if single and longest > np.finfo(np.float32).max:
        raise ArgumentError(f"a length of {longest:g} is more than float32 holds; leave dtype out")
    if single:
        _matrix.check_least(graph, element)
    edges = _matrix.in_edges(graph, np.minimum, element)
    subject = _regions.Subject(
        "sssp", on, graph.vertices, edges.source.size, element.name, edges.weight is not None, None
    )
    return _regions.shortest_paths(
        subject, edges.start, edges.source, edges.weight, start, predecessors=predecessors, sending=sending
    )


def _by_node(graph: Graph, length: NDArray[np.float64], before: NDArray[np.int32] | None) -> list[Any]:
    if graph.nodes is None:
        return [length] if before is None else [length, before]
    nodes = graph.nodes
    reached = np.flatnonzero(np.isfinite(length))
    lengths = {nodes[v]: float(length[v]) for v in reached}
    if before is None:
        return [lengths]
    return [lengths, {nodes[v]: nodes[before[v]] for v in reached if before[v] != NOBODY}]
