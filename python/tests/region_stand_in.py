"""What the native programs on regions answer, in NumPy: for tests of what stands before them.

It checks that arrays come as ``starling._regions`` promises, and computes with the same meanings, on one processor.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse


def expect_array(array, dtype, shape):
    assert isinstance(array, np.ndarray)
    assert array.dtype == dtype
    assert array.shape == shape
    assert array.flags.c_contiguous
    assert array.dtype.isnative


def expect_in_edges(row_start, source, weight, dtype, n):
    expect_array(row_start, np.int64, (n + 1,))
    edges = int(row_start[-1])
    expect_array(source, np.int32, (edges,))
    assert row_start[0] == 0
    assert np.all(np.diff(row_start) >= 0)
    rows = np.repeat(np.arange(n), np.diff(row_start))
    if edges:
        assert source.min() >= 0
        assert source.max() < n
    keys = rows * n + source
    assert np.all(np.diff(keys) > 0), "sources ascend, each once"
    if weight is not None:
        expect_array(weight, dtype, (edges,))
        assert np.all(np.isfinite(weight))
    return rows


class StandIn:
    """Has the functions of the native module."""

    def __init__(self):
        self.calls = []

    def _facts(self, name, machine, options, n, converged, history, storage):
        self.calls.append(name)
        assert machine.size >= 1
        assert set(options) == {"agent", "chunk_bytes", "deadline", "watch"}
        pes = machine.size
        if options["watch"] is not None:
            for i, value in enumerate(history, 1):
                options["watch"](i, value)
        return {
            "converged": converged,
            "iterations": len(history),
            "history": history,
            "seconds": 1e-3,
            "agent": "inline" if options["agent"] == "auto" else options["agent"],
            "chunk_bytes": options["chunk_bytes"] or 65536,
            "blocks": 1,
            "threads": 1,
            "tiles": 1,
            "first_rows": [n * pe // pes for pe in range(pes + 1)],
            "bytes_sent": [[0 if a == b else 8 * n for b in range(pes)] for a in range(pes)],
            "wait_seconds": [0.0] * pes,
            "storage": storage,
        }

    def pagerank(
        self, machine, row_start, source, weight, out_weight, teleport, dangling, start, *, alpha, tolerance,
        most_iterations, fixed, **options,
    ):  # fmt: skip
        dtype, n = out_weight.dtype, out_weight.size
        assert n > 0
        rows = expect_in_edges(row_start, source, weight, dtype, n)
        expect_array(out_weight, dtype, (n,))
        for shares in (teleport, dangling, start):
            if shares is not None:
                expect_array(shares, dtype, (n,))
                assert np.isclose(shares.sum(dtype=np.float64), 1)
        even = np.full(n, 1 / n)
        t = even if teleport is None else teleport.astype(np.float64)
        d = t if dangling is None else dangling.astype(np.float64)
        x = even if start is None else start.astype(np.float64)
        w = np.ones(source.size) if weight is None else weight.astype(np.float64)
        pull = sparse.csr_array((w, (rows, source)), shape=(n, n))
        scale = np.zeros(n)
        np.divide(1, out_weight, out=scale, where=out_weight > 0)
        history = []
        while len(history) < most_iterations:
            new = alpha * (pull @ (x * scale) + x[out_weight == 0].sum() * d) + (1 - alpha) * t
            history.append(float(np.abs(new - x).sum()))
            x = new
            if not fixed and history[-1] < tolerance:
                break
        facts = self._facts(
            "pagerank", machine, options, n, history[-1] < tolerance, history, "compressed" if source.size else "sliced"
        )
        return x.astype(dtype), facts

    def shortest_ways(self, machine, row_start, source, weight, from_vertex, *, predecessors, single, **options):
        n = row_start.size - 1
        dtype = np.float32 if single else np.float64
        rows = expect_in_edges(row_start, source, weight, dtype, n)
        assert 0 <= from_vertex < n
        w = np.ones(source.size, dtype) if weight is None else weight
        assert np.all(w >= 0)
        d = np.full(n, np.inf, dtype)
        d[from_vertex] = 0
        before = np.full(n, -9999, np.int32)
        history = []
        while True:
            candidates = d[source] + w
            assert candidates.dtype == dtype
            new = d.copy()
            np.minimum.at(new, rows, candidates)
            changed = np.flatnonzero(new < d)
            if changed.size == 0:
                break
            # The first time that a vertex has its length in a round, its predecessor had its own before.
            tight = np.flatnonzero((candidates == new[rows]) & (new < d)[rows])
            before[rows[tight]] = source[tight]
            d = new
            history.append(float(changed.size))
        return d, before if predecessors else None, self._facts(
            "shortest_ways", machine, options, n, True, history, "compressed"
        )  # fmt: skip

    def jacobi(self, machine, matrix, diagonal, b, x0, *, target, most_iterations, exchange, **options):
        dtype, n = b.dtype, b.size
        expect_array(diagonal, dtype, (n,))
        expect_array(b, dtype, (n,))
        assert np.all(diagonal != 0)
        assert exchange in ("region", "halo")
        if len(matrix) == 3:
            row_start, column, value = matrix
            rows = expect_in_edges(row_start, column, value, dtype, n)
            assert not np.any(rows == column)
            r = sparse.csr_array((value, column, row_start), shape=(n, n))
        else:
            offset, value = matrix
            expect_array(offset, np.int32, (offset.size,))
            expect_array(value, dtype, (offset.size, n))
            assert np.all(np.diff(offset) > 0)
            assert not np.any(offset == 0)
            i = np.arange(n)
            r = sparse.csr_array((n, n), dtype=dtype)
            for k, row in zip(offset.tolist(), value, strict=True):
                inside = (i + k >= 0) & (i + k < n)
                assert np.all(row[~inside] == 0)
                r = r + sparse.csr_array((row[inside], (i[inside], i[inside] + k)), shape=(n, n))
        x = np.zeros(n, dtype) if x0 is None else x0.copy()
        if x0 is not None:
            expect_array(x0, dtype, (n,))

        def residual():
            return float(np.linalg.norm((b - r @ x - diagonal * x).astype(np.float64)))

        history = [residual()]
        while history[-1] > target and len(history) <= most_iterations:
            x = (b - r @ x) / diagonal
            history.append(residual())
        facts = self._facts(
            "jacobi",
            machine,
            options,
            n,
            history[-1] <= target,
            history,
            "compressed" if len(matrix) == 3 else "diagonals",
        )
        facts["iterations"] -= 1
        return x.astype(dtype), facts
