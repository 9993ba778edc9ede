"""Symmetric positive definite matrices to try solvers with: one class for each shape of problem.

The same arguments give the same matrix on every machine. All are ``scipy.sparse.csr_array``.

>>> from starling.linalg import matrices
>>> matrices.grid_2d(3, 2).toarray()[0].tolist()
[4.0, -1.0, 0.0, -1.0, 0.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
from scipy import sparse

from starling._arguments import whole_number
from starling._native import native
from starling.errors import ElementTypeError
from starling.linalg._matrix import MOST_ROWS

__all__ = ["circuit", "elasticity_3d", "grid_2d", "grid_3d", "uneven"]

MOST_SEED = 2**64 - 1


def grid_2d(nx: SupportsIndex, ny: SupportsIndex, dtype: Any = "float64") -> sparse.csr_array:
    """-Laplace on nx x ny points, zero outside: 4 on the diagonal, -1 for each of the 4 neighbours."""
    return _made(native.grid_2d, _sizes(nx=nx, ny=ny), dtype)


def grid_3d(nx: SupportsIndex, ny: SupportsIndex, nz: SupportsIndex, dtype: Any = "float64") -> sparse.csr_array:
    """On nx x ny x nz points: 26 on the diagonal, -1 for every neighbour of the surrounding cube."""
    return _made(native.grid_3d, _sizes(nx=nx, ny=ny, nz=nz), dtype)


def elasticity_3d(nx: SupportsIndex, ny: SupportsIndex, nz: SupportsIndex, dtype: Any = "float64") -> sparse.csr_array:
    """Linear elasticity on nx x ny x nz nodes of a brick whose face x = 0 is held by stiff springs.

    Trilinear hexahedra of unit size, Young's modulus 1, Poisson's ratio 0.3; 3 unknowns per node, whose
    blocks of 3 x 3 are stored with their zeros. At least 2 nodes each way.
    """
    return _made(native.elasticity_3d, _sizes(nx=nx, ny=ny, nz=nz), dtype)


def circuit(
    n: SupportsIndex, nets: SupportsIndex = 4, seed: SupportsIndex = 1, dtype: Any = "float64"
) -> sparse.csr_array:
    """A random mesh of n nodes with conductances over four decades, and `nets` nodes that are joined to many.

    It has n + nets rows, the nets last; 0 to n nets.
    """
    wanted = whole_number("nets", nets, least=0, most=MOST_ROWS)
    return _made(native.circuit, (*_sizes(n=n), wanted, _seed(seed)), dtype)


def uneven(
    n: SupportsIndex, mean_degree: SupportsIndex = 8, seed: SupportsIndex = 1, dtype: Any = "float64"
) -> sparse.csr_array:
    """The Laplacian plus the identity of a random graph of n nodes whose degrees, 1 to n - 1, follow a power law."""
    return _made(native.uneven, (*_sizes(n=n, mean_degree=mean_degree), _seed(seed)), dtype)


def _sizes(**sizes: SupportsIndex) -> tuple[int, ...]:
    return tuple(whole_number(name, n, most=MOST_ROWS) for name, n in sizes.items())


def _seed(seed: SupportsIndex) -> int:
    return whole_number("seed", seed, least=0, most=MOST_SEED)


def _made(make: Callable[..., Any], arguments: tuple[int, ...], dtype: Any) -> sparse.csr_array:
    try:
        name = str(np.dtype(dtype).newbyteorder("="))
    except TypeError:
        name = str(dtype)
    if name not in ("float32", "float64"):
        raise ElementTypeError(f"dtype = {name!r}; must be 'float32' or 'float64'")
    row_start, column, value = make(*arguments, single=name == "float32")
    rows = len(row_start) - 1
    return sparse.csr_array((value, column, row_start), shape=(rows, rows))
