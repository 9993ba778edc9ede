"""The order in which a matrix lies on the devices, where it is not the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from starling.errors import Unsupported

Places = NDArray[np.int64]

MOST_PADDING = 1.15  # zeros stored with blocks of 3 x 3, beyond which rows are better


@dataclass(frozen=True)
class Order:
    """Row i on the devices is row `rows[i]` of the user; None: the same order.

    Attributes:
        first_rows: Of each device and the end, where the order decides that; else empty.
    """

    name: str | None = None
    rows: Places | None = None
    first_rows: tuple[int, ...] = ()

    def matrix(self, a: sparse.csr_array) -> sparse.csr_array:
        """The matrix in this order; the user's stays as it is."""
        if self.rows is None:
            return a
        moved = a[self.rows][:, self.rows]
        moved.sort_indices()
        return moved

    def into(self, v: NDArray[Any]) -> NDArray[Any]:
        """A vector of the user in this order."""
        return v if self.rows is None else v[self.rows]

    def back(self, v: NDArray[Any]) -> NDArray[Any]:
        """A new vector in the order of the user."""
        if self.rows is None:
            return v.copy()
        out = np.empty_like(v)
        out[self.rows] = v
        return out


def order_of(a: sparse.csr_array, reorder: str | None, parts: int, partition: str, symmetric: bool) -> Order:
    """The order that the arguments `reorder` and `partition` ask for, on so many devices.

    The rows of a node that has three unknowns stay side by side, for the storage that keeps blocks of 3 x 3.
    """
    if reorder is None:
        return Order()
    side, nodes = _nodes_of(a if symmetric else _symmetric_pattern(a))
    if reorder == "rcm":
        return Order(reorder, _rows_of(_cuthill_mckee(nodes), side))
    weights = np.diff(nodes.indptr) if partition == "nonzeros" else np.ones(nodes.shape[0], np.int64)
    part = _without_empty_parts(_parts_of(nodes, parts, weights), parts)
    order: list[Places] = []
    for number in range(parts):
        mine = np.flatnonzero(part == number)
        inside = sparse.csr_array(nodes[mine][:, mine])
        order.append(mine[_cuthill_mckee(inside)] if mine.size else mine)
    first = side * np.concatenate([[0], np.cumsum([len(some) for some in order])])
    return Order(reorder, _rows_of(np.concatenate(order), side), tuple(int(n) for n in first))


def _symmetric_pattern(a: sparse.csr_array) -> sparse.csr_array:
    ones = sparse.csr_array((np.ones(a.nnz, np.int8), a.indices, a.indptr), shape=a.shape)
    return sparse.csr_array(ones + ones.T)


def _nodes_of(a: sparse.csr_array) -> tuple[int, sparse.csr_array]:
    """The graph to order: of nodes of 3 rows where the matrix is made of blocks of 3 x 3, else of rows."""
    if a.shape[0] % 3 == 0:
        blocks = a.tobsr(blocksize=(3, 3))
        if 9 * len(blocks.indices) <= MOST_PADDING * a.nnz:
            ones = np.ones(len(blocks.indices), np.int8)
            nodes = sparse.csr_array((ones, blocks.indices, blocks.indptr), shape=(a.shape[0] // 3, a.shape[0] // 3))
            nodes.sort_indices()
            return 3, nodes
    return 1, a


def _rows_of(nodes: Places, side: int) -> Places:
    return (side * nodes[:, None] + np.arange(side)).ravel()


def _cuthill_mckee(pattern: sparse.csr_array) -> Places:
    return np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True), dtype=np.int64)


def _parts_of(pattern: sparse.csr_array, parts: int, weights: Places) -> Places:
    """The part of each node: about equal weights, few entries between parts."""
    try:
        import pymetis
    except ImportError:
        raise Unsupported(
            "reorder = 'graph' needs the package pymetis, which is not installed; run "
            "`pip install 'starling[partition]'` or `pip install pymetis`, or pass reorder='rcm'"
        ) from None
    n = pattern.shape[0]
    if parts == 1:
        return np.zeros(n, dtype=np.int64)
    # METIS wants no edges from a node to itself.
    row = np.repeat(np.arange(n), np.diff(pattern.indptr))
    between = pattern.indices != row
    starts = np.concatenate([[0], np.cumsum(np.bincount(row[between], minlength=n))]).astype(np.int64)
    graph = pymetis.CSRAdjacency(starts, pattern.indices[between].astype(np.int64))
    return np.asarray(pymetis.part_graph(parts, graph, vweights=weights.astype(np.int64)).vertex_part, dtype=np.int64)


def _without_empty_parts(part: Places, parts: int) -> Places:
    """METIS may leave parts of a small graph empty; each takes a node of the largest, if that has several."""
    for number in range(parts):
        count = np.bincount(part, minlength=parts)
        if count[number] == 0 and count.max() > 1:
            part[np.flatnonzero(part == count.argmax())[-1]] = number
    return part
