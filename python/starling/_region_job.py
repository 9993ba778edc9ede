"""PageRank, shortest paths and Jacobi's method from file to file: what the command line does, without its arguments and
its display."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling import _files
from starling._native import __version__
from starling._region_report import Report
from starling.errors import ArgumentError, NotConverged
from starling.graph import plot_history

RESULT_SUFFIXES = (".npy", ".csv")


class Outputs:
    """Where results go. Made before the run, so that a wrong place is known before any work is done."""

    def __init__(self, out: Path | None, report: Path | None, plot: Path | None) -> None:
        self.out, self.report, self.plot = out, report, plot
        if out is not None:
            _files.check_writable(out, RESULT_SUFFIXES)
        if report is not None:
            _files.check_writable(report)
        if plot is not None:
            _files.check_writable(plot, (".png",))

    def write(self, columns: dict[str, NDArray[Any]], base: int, report: Report, asked: dict[str, Any]) -> list[Path]:
        """Writes what was asked for, and says what.

        Args:
            columns: By name; an .npy file gets the first one, a .csv file all, behind the number of the row.
            base: The number of the first row.
        """
        if self.out is not None and self.out.suffix.lower() == ".npy":
            _files.write_npy(self.out, next(iter(columns.values())))
        elif self.out is not None:
            _write_csv(self.out, columns, base)
        if self.report is not None:
            _files.write_json(self.report, {"starling": __version__, "asked": asked, **report.as_dict()})
        if self.plot is not None:
            plot_history(self.plot, report)
        return [place for place in (self.out, self.report, self.plot) if place is not None]


def _write_csv(path: Path, columns: dict[str, NDArray[Any]], base: int) -> None:
    names = ["number", *columns]
    rows = len(next(iter(columns.values())))
    table = [np.arange(base, base + rows), *columns.values()]
    with _files.written_whole(path) as file:
        file.write((",".join(names) + "\n").encode())
        at_once = 65536
        for first in range(0, rows, at_once):
            pieces = [column[first : first + at_once].tolist() for column in table]
            lines = (",".join(map(repr, row)) for row in zip(*pieces, strict=True))
            file.write(("\n".join(lines) + "\n").encode())


def finished(run: Any, *arguments: Any, **options: Any) -> tuple[Any, Report, NotConverged | None]:
    """The result and report of a call, also where it has not converged; then what it raised comes last."""
    try:
        result = run(*arguments, report=True, **options)
    except NotConverged as problem:
        return problem.last, problem.report, problem
    return result[:-1] if len(result) > 2 else result[0], result[-1], None


def vertex(number: int, base: int | None, name: str) -> int:
    """The vertex that has a number in a file."""
    if number < (base or 0):
        raise ArgumentError(f"{name} = {number}, but the first vertex of the file has the number {base or 0}")
    return number - (base or 0)


def base_of(path: Path, base: int | None) -> int:
    """The number of a file's first vertex, as its users call it: Matrix Market counts from 1."""
    if base is not None:
        return base
    return 1 if path.name.lower().removesuffix(".gz").endswith(".mtx") else 0


def largest(values: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The places of the largest finite values, the largest first, of equal ones the first.

    >>> largest(np.array([1.0, 5.0, np.inf, 5.0]), 2).tolist()
    [1, 3]
    """
    finite = np.flatnonzero(np.isfinite(values))
    order = np.argsort(-values[finite], kind="stable")[:count]
    places: NDArray[np.int64] = finite[order]
    return places
