"""Graphs to try programs with. The same arguments give the same graph; all are ``scipy.sparse.csr_array``.

>>> from starling.graph import generators
>>> A = generators.road_like(30, seed=3)
>>> A.shape, bool((A != A.T).nnz == 0)
((900, 900), True)
"""

from __future__ import annotations

from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling._arguments import finite_number, whole_number
from starling.errors import ArgumentError, ElementTypeError
from starling.graph._matrix import MOST_VERTICES, from_edges

__all__ = ["hv15r_like", "rmat", "road_like", "wikipedia_like"]

MOST_SEED = 2**64 - 1
QUADRANTS = (0.57, 0.19, 0.19, 0.05)  # of R-MAT, as in Graph500
DRAWN_AT_ONCE = 2**22

WIKIPEDIA_VERTICES = 3_566_907
WIKIPEDIA_EDGES = 45_030_389
# The vertex of rank r is drawn as an end of an edge with a probability that falls like r^-0.6, as a beginning like
# r^-0.375: articles that many link to have more links than any has links of its own.
POWER_OF_ENDS = 2.5
POWER_OF_BEGINNINGS = 1.6

HV15R_UNKNOWNS = 7
# 21 points: the cell, those beside it with a face or an edge in common, and the next but one along the first axis.
HV15R_POINTS = [
    (x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if abs(x) + abs(y) + abs(z) <= 2
] + [(-2, 0, 0), (2, 0, 0)]


def rmat(
    scale: SupportsIndex,
    edges_per_vertex: SupportsIndex = 16,
    seed: SupportsIndex = 1,
    weights: tuple[int, int] | None = None,
) -> sparse.csr_array:
    """A directed graph of 2^scale vertices whose degrees follow a power law (R-MAT with the numbers of Graph500).

    Args:
        scale: 1 to 30.
        edges_per_vertex: As many edges are drawn for each vertex; those that are drawn twice are there once.
        weights: The least and the largest; whole numbers between them are drawn. None: the matrix holds ones.
    """
    bits = whole_number("scale", scale, most=30)
    drawn = whole_number("edges_per_vertex", edges_per_vertex) << bits
    low, high = _bounds(weights)
    rng = _rng(seed)
    n = 1 << bits
    order = rng.permutation(n).astype(np.int32)  # so that neighbouring numbers have nothing in common
    begin, end = np.empty(drawn, np.int32), np.empty(drawn, np.int32)
    for at in range(0, drawn, DRAWN_AT_ONCE):
        piece = slice(at, min(at + DRAWN_AT_ONCE, drawn))
        rows, columns = _drawn_quadrants(rng, bits, piece.stop - piece.start)
        begin[piece], end[piece] = order[rows], order[columns]
    return _weighted(rng, _once(begin, end, n), low, high)


def _drawn_quadrants(rng: np.random.Generator, bits: int, edges: int) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b, c, _ = QUADRANTS
    rows, columns = np.zeros(edges, np.int32), np.zeros(edges, np.int32)
    for bit in range(bits):
        u = rng.random(edges, dtype=np.float32)
        low = u >= a + b
        right = (u >= a) & (u < a + b) | (u >= a + b + c)
        rows |= low.astype(np.int32) << bit
        columns |= right.astype(np.int32) << bit
    return rows, columns


def wikipedia_like(
    vertices: SupportsIndex = WIKIPEDIA_VERTICES, edges: SupportsIndex | None = None, seed: SupportsIndex = 1
) -> sparse.csr_array:
    """A directed graph like that of the links between the articles of Wikipedia in 2007: as many vertices and edges.

    Few articles have very many links to them. No edge is there twice, and none leads back to its vertex.

    Args:
        edges: None: as many for each vertex as there, 12.6; at most half of those that there can be.
    """
    n = whole_number("vertices", vertices, least=2, most=MOST_VERTICES)
    most = n * (n - 1) // 2
    m = min(most, n * WIKIPEDIA_EDGES // WIKIPEDIA_VERTICES)
    if edges is not None:
        m = whole_number("edges", edges, least=0, most=most)
    rng = _rng(seed)
    # Neighbouring numbers have nothing in common.
    orders = [rng.permutation(n).astype(np.int32) for _ in range(2)]
    begin, end = np.zeros(0, np.int32), np.zeros(0, np.int32)
    while begin.size < m:
        missing = m - begin.size
        drawn = missing + missing // 8 + 16
        begin = np.concatenate([begin, orders[0][_ranks(rng, drawn, n, POWER_OF_BEGINNINGS)]])
        end = np.concatenate([end, orders[1][_ranks(rng, drawn, n, POWER_OF_ENDS)]])
        others = begin != end
        found = _once(begin[others], end[others], n)
        begin, end = np.repeat(np.arange(n, dtype=np.int32), np.diff(found.indptr)), found.indices
    stays = np.ones(begin.size, bool)
    stays[rng.permutation(begin.size)[m:]] = False
    return from_edges(begin[stays], end[stays], np.ones(m, np.int32), n)


def _ranks(rng: np.random.Generator, count: int, n: int, power: float) -> NDArray[np.int32]:
    """Ranks below n, the first of which come most often."""
    ranks = np.empty(count, np.int32)
    for at in range(0, count, DRAWN_AT_ONCE):
        piece = ranks[at : at + DRAWN_AT_ONCE]
        u: NDArray[np.float64] = rng.random(piece.size)
        piece[:] = n * u**power
    return ranks


def hv15r_like(
    cells: SupportsIndex = 66, seed: SupportsIndex = 1, weights: tuple[int, int] = (1, 64)
) -> sparse.csr_array:
    """A graph with the pattern of a fluid dynamics matrix like HV15R: 7 unknowns in each of cells^3 cells.

    The unknowns of a cell are joined to those of 21 cells: itself, the neighbours with a face or an edge in common, and
    the next but one along the first axis. With 66 cells it has 2,012,472 rows and 288.6 M entries; that takes 5 GB.

    Args:
        weights: The least and the largest; whole numbers between them are drawn, for both directions alike.
    """
    side = whole_number("cells", cells, most=500)
    low, high = _bounds(weights)
    rng = _rng(seed)
    of_cell = np.arange(side**3, dtype=np.int32).reshape(side, side, side)
    unknowns = np.arange(HV15R_UNKNOWNS, dtype=np.int32)
    start, columns = _cells_beside(of_cell)
    counts = np.diff(start)
    n = side**3 * HV15R_UNKNOWNS
    # Each of a cell's rows has the same columns: all unknowns of the cells beside it.
    of_rows = np.repeat(counts * HV15R_UNKNOWNS, HV15R_UNKNOWNS)
    indptr = np.concatenate([[0], np.cumsum(of_rows)])
    indices = np.empty(indptr[-1], np.int32)
    for count in np.unique(counts):
        rows_of = np.flatnonzero(counts == count)
        beside = columns[start[rows_of][:, None] + np.arange(count)]
        wide = (beside[:, :, None] * HV15R_UNKNOWNS + unknowns).reshape(len(rows_of), -1)
        for unknown in range(HV15R_UNKNOWNS):
            at = indptr[rows_of * HV15R_UNKNOWNS + unknown][:, None] + np.arange(wide.shape[1])
            indices[at] = wide
    data = _symmetric_weights(rng, indptr, indices, low, high)
    if indices.size < 2**31:
        indptr = indptr.astype(np.int32)  # columns take the type of row starts
    return sparse.csr_array((data, indices, indptr), shape=(n, n))


def _cells_beside(of_cell: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Row starts and columns of the graph of cells."""
    side = of_cell.shape[0]
    ends, begins = [], []
    for shift in HV15R_POINTS:
        here = tuple(slice(max(0, -s), side - max(0, s)) for s in shift)
        there = tuple(slice(max(0, s), side - max(0, -s)) for s in shift)
        begins.append(of_cell[here].ravel())
        ends.append(of_cell[there].ravel())
    begin, end = np.concatenate(begins), np.concatenate(ends)
    graph = from_edges(begin, end, np.ones(begin.size, np.int8), of_cell.size)
    return graph.indptr.astype(np.int64), graph.indices


def _symmetric_weights(
    rng: np.random.Generator, indptr: NDArray[Any], indices: NDArray[np.int32], low: int, high: int
) -> NDArray[np.int32]:
    """Weights that depend on the two ends alone, in either order; made in pieces."""
    key = np.uint64(rng.integers(2**63))
    data = np.empty(indices.size, np.int32)
    rows_at_once = 2**16
    for first in range(0, len(indptr) - 1, rows_at_once):
        last = min(first + rows_at_once, len(indptr) - 1)
        begin, end = indptr[first], indptr[last]
        rows = np.repeat(np.arange(first, last, dtype=np.uint64), np.diff(indptr[first : last + 1]))
        columns = indices[begin:end].astype(np.uint64)
        small, large = np.minimum(rows, columns), np.maximum(rows, columns)
        bits = _mixed(_mixed(small ^ key) + large)
        data[begin:end] = low + (bits % np.uint64(high - low + 1)).astype(np.int32)
    return data


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """splitmix64's last step: bits that look random from bits that do not."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def road_like(
    side: SupportsIndex = 1414,
    removed: SupportsFloat = 0.3,
    seed: SupportsIndex = 1,
    weights: tuple[int, int] = (1, 100),
) -> sparse.csr_array:
    """A graph like a road network: a grid of side x side vertices with some of the edges out, the same both ways.

    The vertex in the middle is ``side // 2 * (side + 1)``.

    Args:
        removed: The share of the edges that is taken out, from 0 to 1; some vertices may then be cut off.
        weights: The least and the largest; whole numbers between them are drawn.
    """
    n = whole_number("side", side, most=32768)
    share = finite_number("removed", removed, least=0)
    if share > 1:
        raise ArgumentError(f"removed = {share}; must be from 0 to 1")
    low, high = _bounds(weights)
    rng = _rng(seed)
    of_place = np.arange(n * n, dtype=np.int32).reshape(n, n)
    begin = np.concatenate([of_place[:, :-1].ravel(), of_place[:-1].ravel()])
    end = np.concatenate([of_place[:, 1:].ravel(), of_place[1:].ravel()])
    stays = rng.permutation(begin.size)[round(share * begin.size) :]
    begin, end = begin[stays], end[stays]
    drawn = rng.integers(low, high, begin.size, dtype=np.int32, endpoint=True)
    both = np.concatenate([begin, end]), np.concatenate([end, begin])
    return from_edges(*both, np.concatenate([drawn, drawn]), n * n)


def _once(begin: NDArray[np.int32], end: NDArray[np.int32], n: int) -> sparse.csr_array:
    a = from_edges(begin, end, np.ones(begin.size, np.int32), n)
    a.sum_duplicates()
    return a


def _weighted(rng: np.random.Generator, a: sparse.csr_array, low: int, high: int) -> sparse.csr_array:
    a.data = rng.integers(low, high, a.nnz, dtype=np.int32, endpoint=True) if high > low else np.full_like(a.data, low)
    return a


def _bounds(weights: tuple[int, int] | None) -> tuple[int, int]:
    if weights is None:
        return 1, 1
    try:
        low, high = weights
    except (TypeError, ValueError):
        raise ElementTypeError(f"weights = {weights!r}; pass the least and the largest, such as (1, 64)") from None
    least = whole_number("weights[0]", low, least=0)
    return least, whole_number("weights[1]", high, least=least)


def _rng(seed: SupportsIndex) -> np.random.Generator:
    return np.random.default_rng(whole_number("seed", seed, least=0, most=MOST_SEED))
