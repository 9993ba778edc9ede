#!/usr/bin/env python3
"""Solves a linear system from a Matrix Market file on all devices of a machine, and compares with SciPy.

The matrix is that of an elastic bar: linear finite elements in three dimensions, from the sample data of PyAMG, which
keeps it in MATLAB's format; it is written as bar.mtx first. The solve is done by each method, and with each
preconditioner. Pictures and files go to demo_out.

    python examples/solve_matrix.py [MATRIX.mtx] [--devices 4] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse.linalg
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import starling
from starling import linalg, machine

Vector = NDArray[np.float64]

RTOL = 1e-8


def elastic_bar(folder: Path) -> Path:
    """The bar of PyAMG's gallery as a Matrix Market file; without PyAMG, one that Starling makes."""
    try:
        from pyamg import gallery

        matrix, source = gallery.load_example("bar")["A"], "sample data of PyAMG"
    except ImportError:
        matrix, source = linalg.matrices.elasticity_3d(16, 4, 4), "made by Starling, since PyAMG is not installed"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bar.mtx"
    scipy.io.mmwrite(path, matrix, symmetry="symmetric", precision=17, comment=f" elastic bar, {source}")
    return path


def solve_with_scipy(A: Any, b: Vector, M: Any = None) -> tuple[Vector, list[float], float]:
    """The solution, the norms of the residuals, and the seconds."""
    start = time.perf_counter()
    x, info = scipy.sparse.linalg.cg(A, b, rtol=RTOL, M=M)
    seconds = time.perf_counter() - start
    iterates: list[Vector] = []
    scipy.sparse.linalg.cg(A, b, rtol=RTOL, M=M, callback=lambda xk: iterates.append(xk.copy()))
    if info:
        raise SystemExit(f"solve_matrix: SciPy has not converged after {info} iterations")
    return x, [float(np.linalg.norm(b - A @ xk)) for xk in [np.zeros_like(b), *iterates]], seconds


def main() -> int:
    parser = argparse.ArgumentParser(description="Solves a Matrix Market file on all devices, compares with SciPy.")
    parser.add_argument("matrix", type=Path, nargs="?", help="symmetric positive definite; PyAMG's bar if not given")
    parser.add_argument("--devices", type=int, help="how many; all GPUs, or 4 virtual devices, if not given")
    parser.add_argument("--out", type=Path, default=Path("demo_out"), help="folder for what is written (demo_out)")
    arguments = parser.parse_args()

    console = Console(highlight=False)
    m = machine.best(arguments.devices)
    path = arguments.matrix or elastic_bar(arguments.out)
    A = linalg.read_matrix(path)
    b = A @ np.ones(A.shape[0])
    console.print(f"{path}: {A.shape[0]} rows, {A.nnz} entries; b = A @ ones", markup=False, soft_wrap=True)
    console.print(f"machine: {m.choice}", markup=False)

    jacobi = scipy.sparse.diags_array(1 / A.diagonal())
    expected, history, seconds = solve_with_scipy(A, b)
    expected_jacobi, history_jacobi, seconds_jacobi = solve_with_scipy(A, b, jacobi)
    rows: list[tuple[str, Vector, list[float], float, Vector]] = [
        ("SciPy", expected, history, seconds, expected),
        ("SciPy, jacobi", expected_jacobi, history_jacobi, seconds_jacobi, expected_jacobi),
    ]
    good = True
    for name, wanted, options in (
        ("standard", expected, {"method": "standard"}),
        ("fused", expected, {"method": "fused"}),
        ("pipelined", expected, {"method": "pipelined"}),
        ("fused, jacobi", expected_jacobi, {"M": "jacobi"}),
        ("fused, block jacobi", expected_jacobi, {"M": "block_jacobi"}),
        ("fused, chebyshev", expected_jacobi, {"M": "chebyshev"}),
    ):
        x, info, report = linalg.cg(A, b, rtol=RTOL, machine=m, report=True, **options)
        good = good and info == 0
        rows.append((name, x, list(report.history), report.seconds, wanted))

    table = Table("solver", "iterations", "us each", "residual / |b|", "from SciPy", "from the solution")
    for name, x, norms, took, wanted in rows:
        residual = float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))
        good = good and residual <= 1.01 * RTOL
        apart = "" if x is wanted else f"{abs(x - wanted).max():.1e}"
        iterations = len(norms) - 1
        table.add_row(
            name, str(iterations), f"{1e6 * took / iterations:.1f}", f"{residual:.1e}", apart, f"{abs(x - 1).max():.1e}"
        )
    console.print(table)

    arguments.out.mkdir(parents=True, exist_ok=True)
    plot = arguments.out / f"{path.name.split('.')[0]}_residuals.png"
    linalg.plot_history(plot, {name: norms for name, _, norms, _, _ in rows}, RTOL * float(np.linalg.norm(b)))
    console.print(f"wrote {plot}", markup=False, soft_wrap=True)
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (starling.Error, OSError, ImportError) as problem:
        sys.exit(f"solve_matrix: {problem}")
