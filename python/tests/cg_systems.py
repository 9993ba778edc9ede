"""Linear systems that the tests of conjugate gradients share."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from starling.linalg import matrices

CLASSES = {
    "grid 2D": lambda: matrices.grid_2d(17, 13),
    "grid 3D": lambda: matrices.grid_3d(6, 5, 7),
    "elasticity": lambda: matrices.elasticity_3d(5, 4, 3),
    "circuit": lambda: matrices.circuit(230, nets=3, seed=5),
    "uneven": lambda: matrices.uneven(260, mean_degree=6, seed=5),
}


def random_system(rng, rows, entries=5):
    """A symmetric matrix whose diagonal exceeds the sums of its rows, with `entries` a row on average."""
    a = sparse.random_array((rows, rows), density=min(1.0, entries / rows), rng=rng, format="csr")
    a.data -= 0.5
    a = sparse.csr_array(a + a.T)
    return sparse.csr_array(a + sparse.diags_array(abs(a).sum(axis=1) + rng.uniform(0.1, 1, rows)))


def residual(a, x, b):
    """The norm of b - A x, in float64."""
    return float(np.linalg.norm(b.astype("f8") - a.astype("f8") @ x.astype("f8")))
