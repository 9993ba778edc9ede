"""What PageRank is compared with: cuSPARSE's product and the updates, recorded as one CUDA graph, by CuPy."""

from __future__ import annotations

import time
from typing import Any

NAME = "cuSPARSE in a CUDA graph"


def pagerank(a: Any, iterations: int, repetitions: int) -> list[float]:
    """Microseconds of an iteration in float32 on one GPU, by repetition; nothing where there is no CuPy."""
    try:
        import cupy as cp
        from cupyx import cusparse
        from cupyx.scipy import sparse
    except ImportError:
        return []
    import numpy as np
    from scipy import sparse as on_host

    rows = on_host.csr_array(a)
    n = rows.shape[0]
    out = np.diff(rows.indptr).astype(np.float32)
    ones = on_host.csr_array((np.ones(rows.nnz, np.float32), rows.indices, rows.indptr), shape=rows.shape)
    pull = sparse.csr_matrix(on_host.csr_matrix(ones.T))
    inverse = cp.asarray(np.divide(1, out, out=np.zeros(n, np.float32), where=out > 0))
    loose = cp.asarray((out == 0).astype(np.float32))
    x = cp.full(n, 1 / n, cp.float32)
    scaled, summed = x * inverse, cp.empty(n, cp.float32)
    alpha = np.float32(0.85)

    def step() -> None:
        dangling = cp.dot(loose, x)
        cusparse.spmv(pull, scaled, summed, alpha=alpha, beta=0)
        cp.add(summed, alpha * dangling / n + (1 - alpha) / n, out=x)
        cp.multiply(x, inverse, out=scaled)

    stream = cp.cuda.Stream(non_blocking=True)
    times = []
    with stream:
        step()  # takes the memory that the recording uses
        stream.synchronize()
        stream.begin_capture()
        step()
        graph = stream.end_capture()
        for _ in range(repetitions):
            stream.synchronize()
            start = time.perf_counter()
            for _ in range(iterations):
                graph.launch(stream)
            stream.synchronize()
            times.append(1e6 * (time.perf_counter() - start) / iterations)
    return times
