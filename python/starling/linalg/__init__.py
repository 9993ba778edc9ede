"""Linear systems on all devices of a machine: conjugate gradients, products with sparse matrices.

:func:`cg` is SciPy's ``cg`` with more arguments: the same matrices, the same result. :class:`DistributedMatrix` keeps a
matrix on the devices for several solves. The matrix is partitioned among the devices by rows. With
``control="cpu_free"`` one
persistent program on every device does all iterations: devices exchange what they need of each other's vectors, and
add up the sums, by signals; the host takes no part until the end.
:func:`jacobi` and :func:`jacobi_banded` solve systems that are strictly diagonally dominant by Jacobi's method.

>>> import numpy as np
>>> from starling.linalg import cg, matrices
>>> A = matrices.grid_3d(6, 6, 6)
>>> x, info, report = cg(A, A @ np.ones(216), M="jacobi", devices=3, report=True)
>>> info, report.devices, report.residual <= report.target
(0, 3, True)
"""

from starling.linalg import matrices
from starling.linalg._choices import (
    CONTROLS,
    METHODS,
    PARTITIONS,
    REORDERS,
    STORAGES,
    Control,
    Method,
    Partition,
    Reorder,
    Storage,
)
from starling.linalg._distributed import DistributedMatrix
from starling.linalg._functions import cg, spmv
from starling.linalg._jacobi import LAYOUTS, Layout, jacobi, jacobi_banded
from starling.linalg._plot import plot_history
from starling.linalg._preconditioners import BlockJacobi, Chebyshev, Jacobi, Preconditioner
from starling.linalg._read import read_matrix, read_vector
from starling.linalg._report import Facts, Progress, Report

__all__ = [
    "CONTROLS",
    "LAYOUTS",
    "METHODS",
    "PARTITIONS",
    "REORDERS",
    "STORAGES",
    "BlockJacobi",
    "Chebyshev",
    "Control",
    "DistributedMatrix",
    "Facts",
    "Jacobi",
    "Layout",
    "Method",
    "Partition",
    "Preconditioner",
    "Progress",
    "Reorder",
    "Report",
    "Storage",
    "cg",
    "jacobi",
    "jacobi_banded",
    "matrices",
    "plot_history",
    "read_matrix",
    "read_vector",
    "spmv",
]
