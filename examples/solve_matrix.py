#!/usr/bin/env python3
"""Solves linear systems on all devices of a machine, and compares with SciPy, and with CuPy where it is installed.

The first matrix is that of an elastic bar: linear finite elements in three dimensions, from the sample data of PyAMG,
which keeps it in MATLAB's format; it is written as bar.mtx first. The solve is done by each method, and with each
preconditioner. GPUs then get an implicit step of the heat equation on a million points, of which SciPy does the first
iterations alone, for their time. Pictures and files go to demo_out.

    python examples/solve_matrix.py [MATRIX.mtx] [--points 1000] [--devices 4] [--out FOLDER] [--summary FILE]
"""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import starling
from starling import linalg, machine

Vector = NDArray[np.float64]

RTOL = 1e-8
DIFFUSION = 100.0  # diffusivity * time step / spacing squared of the implicit step
MANY_ROWS = 100_000
FIRST_ITERATIONS = 30  # that SciPy does of so many rows: each takes a processor milliseconds

METHODS: dict[str, dict[str, Any]] = {name: {"method": name} for name in ("standard", "fused", "pipelined")}
PRECONDITIONED: dict[str, dict[str, Any]] = {
    f"fused, {name.replace('_', ' ')}": {"M": name} for name in ("jacobi", "block_jacobi", "chebyshev")
}


@dataclass(frozen=True)
class System:
    """What is to be solved; the solution is 1 everywhere."""

    name: str
    title: str
    A: Any
    preconditioned: bool
    """Whether preconditioners are tried: the diagonal is not the same everywhere."""


@dataclass(frozen=True)
class Solve:
    """What one solver did."""

    x: Vector
    norms: list[float]
    """Of the residual, from the start on; empty if the solver does not say."""
    iterations: int
    seconds: float
    converged: bool = True
    """Otherwise it was stopped early, and only its time an iteration is of interest."""


def points_of(kind: str) -> int:
    """Points along each axis of the step of the heat equation: none on virtual devices."""
    return 1000 if kind == "cuda" else 0


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


def from_file(path: Path) -> System:
    A = linalg.read_matrix(path)
    return System(path.name.split(".")[0], str(path), A, preconditioned=True)


def heat_step(points: int) -> System:
    """An implicit step of the heat equation on points x points: the identity, and so many times -Laplace."""
    A = scipy.sparse.csr_array(scipy.sparse.eye_array(points**2) + DIFFUSION * linalg.matrices.grid_2d(points, points))
    title = f"an implicit step of the heat equation on {points} x {points} points"
    return System("heat_step", title, A, preconditioned=False)


def solve_with_scipy(A: Any, b: Vector, M: Any = None, most: int | None = None) -> Solve:
    """To the end, or `most` iterations. The time goes without what the norms take."""
    norms = [float(np.linalg.norm(b))]
    looking = 0.0

    def look(xk: Vector) -> None:
        nonlocal looking
        start = time.perf_counter()
        norms.append(float(np.linalg.norm(b - A @ xk)))
        looking += time.perf_counter() - start

    start = time.perf_counter()
    x, info = scipy.sparse.linalg.cg(A, b, rtol=RTOL, maxiter=most, M=M, callback=look)
    seconds = time.perf_counter() - start - looking
    if info and most is None:
        raise SystemExit(f"solve_matrix: SciPy has not converged after {info} iterations")
    return Solve(x, norms, len(norms) - 1, seconds, converged=not info)


def solve_with_cupy(A: Any, b: Vector) -> Solve | None:
    """On one GPU, the matrix there before; None without CuPy. A first solve of two iterations loads its kernels."""
    try:
        import cupy
        from cupyx.scipy import sparse
        from cupyx.scipy.sparse.linalg import cg
    except ImportError:
        return None
    there, right = sparse.csr_matrix(scipy.sparse.csr_matrix(A)), cupy.asarray(b)
    # The name of the tolerance has changed, as SciPy's has.
    tolerance = {"rtol" if "rtol" in inspect.signature(cg).parameters else "tol": RTOL}
    cg(there, right, maxiter=2, **tolerance)
    iterations = 0

    def count(_: Any) -> None:
        nonlocal iterations
        iterations += 1

    start = time.perf_counter()
    x, info = cg(there, right, callback=count, **tolerance)
    found = cupy.asnumpy(x)
    seconds = time.perf_counter() - start
    if info:
        raise SystemExit(f"solve_matrix: CuPy has not converged after {info} iterations")
    return Solve(found, [], iterations, seconds)


def solve_with_starling(A: linalg.DistributedMatrix, b: Vector, options: dict[str, Any]) -> Solve:
    x, info, report = linalg.cg(A, b, rtol=RTOL, report=True, **options)
    if info:
        raise SystemExit(f"solve_matrix: {options} has not converged after {info} iterations")
    return Solve(x, list(report.history), report.iterations, report.seconds)


def solved(system: System, m: machine.Machine) -> dict[str, Solve]:
    """By every solver, SciPy first."""
    A, b = system.A, system.A @ np.ones(system.A.shape[0])
    solves = {"SciPy": solve_with_scipy(A, b, most=FIRST_ITERATIONS if A.shape[0] >= MANY_ROWS else None)}
    if system.preconditioned:
        solves["SciPy, jacobi"] = solve_with_scipy(A, b, scipy.sparse.diags_array(1 / A.diagonal()))
    cupy = solve_with_cupy(A, b) if m.kind == "cuda" else None
    if cupy:
        solves["CuPy"] = cupy
    there = linalg.DistributedMatrix(A, machine=m, block_size=3 if system.preconditioned else None)
    for name, options in {**METHODS, **(PRECONDITIONED if system.preconditioned else {})}.items():
        solves[name] = solve_with_starling(there, b, options)
    return solves


def show(console: Console, system: System, solves: dict[str, Solve]) -> bool:
    """The table; whether all residuals are as small as was asked."""
    A, b = system.A, system.A @ np.ones(system.A.shape[0])
    good = True
    table = Table("solver", "iterations", "us each", "residual / |b|", "from SciPy", "from the solution")
    for name, solve in solves.items():
        wanted = solves["SciPy, jacobi" if name in PRECONDITIONED or name == "SciPy, jacobi" else "SciPy"]
        us = f"{1e6 * solve.seconds / solve.iterations:.1f}"
        if not solve.converged:
            table.add_row(name, f"the first {solve.iterations}", us)
            continue
        residual = float(np.linalg.norm(b - A @ solve.x) / np.linalg.norm(b))
        good = good and residual <= 1.01 * RTOL
        table.add_row(
            name,
            str(solve.iterations),
            us,
            f"{residual:.1e}",
            f"{abs(solve.x - wanted.x).max():.1e}" if wanted.converged and solve is not wanted else "",
            f"{abs(solve.x - 1).max():.1e}",
        )
    console.print(table)
    return good


def summary(system: System, solves: dict[str, Solve]) -> str:
    """What the fastest method without a preconditioner gained over the solvers of others; over one that was stopped
    early, in an iteration."""
    name = min(METHODS, key=lambda method: solves[method].seconds)
    ours = solves[name]

    def gain(other: Solve, text: str) -> str:
        if other.converged:
            return f"{other.seconds / ours.seconds:.2f} times as fast as {text}"
        ratio = other.seconds / other.iterations / (ours.seconds / ours.iterations)
        return f"in an iteration {ratio:.2f} times as fast as {text} in its first {other.iterations}"

    others = {"SciPy": "SciPy on a processor", "CuPy": "CuPy on a GPU"}
    gains = [gain(solves[o], text) for o, text in others.items() if o in solves]
    return f"`{name}` cg of {system.A.shape[0]:,} rows was {' and '.join(gains)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Solves linear systems on all devices, compares with SciPy and CuPy.")
    parser.add_argument("matrix", type=Path, nargs="?", help="symmetric positive definite; PyAMG's bar if not given")
    parser.add_argument("--points", type=int, help="also a step of the heat equation on so many points squared (GPUs:"
                        " 1000, otherwise 0: none)")  # fmt: skip
    parser.add_argument("--devices", type=int, help="how many; all GPUs, or 4 virtual devices, if not given")
    parser.add_argument("--out", type=Path, default=Path("demo_out"), help="folder for what is written (demo_out)")
    parser.add_argument("--summary", type=Path, help="file for the line that says what was gained")
    arguments = parser.parse_args()
    if arguments.points is not None and arguments.points < 0:
        parser.error(f"--points {arguments.points}: must be at least 0")

    console = Console(highlight=False)
    m = machine.best(arguments.devices)
    systems = [from_file(arguments.matrix or elastic_bar(arguments.out))]
    points = points_of(m.kind) if arguments.points is None else arguments.points
    if points:
        systems.append(heat_step(points))
    console.print(f"machine: {m.choice}", markup=False)
    arguments.out.mkdir(parents=True, exist_ok=True)
    good = True
    for system in systems:
        rows, entries = system.A.shape[0], system.A.nnz
        console.print(f"{system.title}: {rows} rows, {entries} entries; b = A @ ones", markup=False, soft_wrap=True)
        solves = solved(system, m)
        good = show(console, system, solves) and good
        plot = arguments.out / f"{system.name}_residuals.png"
        norm = float(np.linalg.norm(system.A @ np.ones(rows)))
        linalg.plot_history(plot, {name: one.norms for name, one in solves.items() if one.norms}, RTOL * norm)
        console.print(f"wrote {plot}", markup=False, soft_wrap=True)
    gained = summary(system, solves)
    console.print(gained, markup=False, soft_wrap=True)
    if arguments.summary:
        arguments.summary.write_text(gained + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (starling.Error, OSError, ImportError) as problem:
        sys.exit(f"solve_matrix: {problem}")
