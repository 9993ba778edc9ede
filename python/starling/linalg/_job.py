"""A solve from file to file: what the command line does, without its arguments and its display."""

from __future__ import annotations

import io as streams
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import io, sparse

from starling import _files
from starling._arguments import one_of
from starling._native import __version__
from starling.errors import ArgumentError
from starling.linalg._distributed import DistributedMatrix
from starling.linalg._plot import plot_history
from starling.linalg._preconditioners import BlockJacobi, Chebyshev, Jacobi
from starling.linalg._read import read_matrix, read_vector
from starling.linalg._report import Progress, Report

SOLUTION_SUFFIXES = (".npy", ".mtx")


@dataclass(frozen=True)
class System:
    """What is to be solved.

    Attributes:
        right: Where b comes from; None: it is A times ones.
    """

    matrix: Path
    right: Path | None
    A: sparse.csr_array
    b: NDArray[Any]

    def error(self, x: NDArray[Any]) -> float | None:
        """The largest difference from the solution, where that is known."""
        return None if self.right else float(np.abs(x - 1).max())


def read_system(matrix: Path, right: Path | None, dtype: str) -> System:
    """Reads both files; raises ArgumentError with the reason when that is not possible."""
    one_of("dtype", dtype, ("float32", "float64"))
    A = read_matrix(matrix).astype(dtype)
    if right is None:
        return System(matrix, None, A, A @ np.ones(A.shape[0], dtype))
    b = read_vector(right)
    if b.shape[0] != A.shape[0]:
        raise ArgumentError(
            f"{right} has {b.shape[0]} numbers, the matrix of {matrix} {A.shape[0]} rows; they must be equal"
        )
    if b.dtype.kind not in "biuf":
        raise ArgumentError(f"{right} holds {b.dtype}; solvers compute in float32 or float64")
    return System(matrix, right, A, b.astype(dtype))


def preconditioner_of(text: str) -> Jacobi | BlockJacobi | Chebyshev | None:
    """Reads ``none``, ``jacobi``, ``block_jacobi:6`` and the like.

    >>> preconditioner_of("chebyshev:4")
    Chebyshev(degree=4)
    """
    name, _, number = text.partition(":")
    makers: dict[str, Callable[..., Any]] = {
        "none": lambda: None,
        "jacobi": Jacobi,
        "block_jacobi": BlockJacobi,
        "chebyshev": Chebyshev,
    }
    allowed = "none, jacobi, block_jacobi[:SIZE] or chebyshev[:DEGREE]"
    if name not in makers:
        raise ArgumentError(f"preconditioner = {text!r}; must be {allowed}")
    if not number:
        return makers[name]()  # type: ignore[no-any-return]
    if name in ("none", "jacobi") or not number.isdecimal():
        raise ArgumentError(f"preconditioner = {text!r}; must be {allowed}, with a whole number")
    return makers[name](int(number))  # type: ignore[no-any-return]


class Outputs:
    """Where results go. Made before the solve, so that a wrong place is known before any work is done."""

    def __init__(self, solution: Path | None, report: Path | None, plot: Path | None) -> None:
        self.solution, self.report, self.plot = solution, report, plot
        if solution is not None:
            _files.check_writable(solution, SOLUTION_SUFFIXES)
        if report is not None:
            _files.check_writable(report)
        if plot is not None:
            _files.check_writable(plot, (".png",))

    def write(self, x: NDArray[Any], report: Report, facts: dict[str, Any]) -> list[Path]:
        """Writes what was asked for, and says what."""
        if self.solution is not None and self.solution.suffix.lower() == ".npy":
            _files.write_npy(self.solution, x)
        elif self.solution is not None:
            text = streams.BytesIO()
            io.mmwrite(text, x[:, None], comment="solution by starling solve")
            with _files.written_whole(self.solution) as file:
                file.write(text.getvalue())
        if self.report is not None:
            _files.write_json(self.report, facts)
        if self.plot is not None:
            name = report.method if report.preconditioner == "none" else f"{report.method}, {report.preconditioner}"
            plot_history(self.plot, {name: report.history}, report.target)
        return [place for place in (self.solution, self.report, self.plot) if place is not None]


class Job:
    """A system on its machine.

    Args:
        where: Arguments of :class:`DistributedMatrix` besides the matrix.
        m: The preconditioner.
    """

    def __init__(self, system: System, where: dict[str, Any], m: Jacobi | BlockJacobi | Chebyshev | None) -> None:
        self.system = system
        size = m.size if isinstance(m, BlockJacobi) else None
        self.on_devices = DistributedMatrix(system.A, block_size=size, **where)
        self._m = m

    @property
    def choice(self) -> str:
        """Which machine was taken and why."""
        return self.on_devices.machine.choice

    def run(self, options: dict[str, Any], progress: Callable[[Progress], None]) -> tuple[NDArray[Any], int, Report]:
        """The result of :meth:`DistributedMatrix.solve`."""
        x, info, report = self.on_devices.solve(self.system.b, M=self._m, report=True, progress=progress, **options)
        return x, info, report

    def facts(self, x: NDArray[Any], report: Report, asked: dict[str, Any]) -> dict[str, Any]:
        """What a report file holds."""
        return {
            "starling": __version__,
            "matrix": str(self.system.matrix),
            "right_hand_side": str(self.system.right) if self.system.right else "A @ ones",
            "largest_error": self.system.error(x),
            "asked": asked,
            "choice": self.choice,
            "device_names": [d.name for d in self.on_devices.machine.devices],
            **report.as_dict(),
        }
