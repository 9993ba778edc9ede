"""Graphs that tests share, and what they are compared with."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def random_graph(rng, n, edges, weights=None, form="csr"):
    """n vertices and about as many edges; some vertices have none, self loops may be there, no edge twice."""
    begin = rng.integers(0, max(n * 3 // 4, 1), edges)
    end = rng.integers(0, n, edges)
    a = sparse.csr_array((np.ones(edges), (begin, end)), shape=(n, n))
    a.data[:] = 1 if weights is None else weights(a.nnz)
    return a.asformat(form)


def power_iteration(a, alpha=0.85, personalization=None, nstart=None, dangling=None, iterations=2000):
    """PageRank as SciPy and NumPy compute it, in float64, to its end."""
    a = sparse.csr_array(a, dtype=np.float64)
    n = a.shape[0]

    def shares(given, otherwise):
        return otherwise if given is None else np.asarray(given, np.float64) / np.sum(given)

    t = shares(personalization, np.full(n, 1 / n))
    d = shares(dangling, t)
    x = shares(nstart, np.full(n, 1 / n))
    sums = np.asarray(a.sum(axis=1)).ravel()
    scaled = sparse.dia_array((np.divide(1, sums, out=np.zeros(n), where=sums > 0)[None], [0]), shape=(n, n)) @ a
    for _ in range(iterations):
        x = alpha * (scaled.T @ x + x[sums == 0].sum() * d) + (1 - alpha) * t
    return x
