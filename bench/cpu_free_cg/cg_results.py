"""A result file of the conjugate gradient benchmark, and what can be asked of it. Lines that lack something are left
out: what a file does not hold is None here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import plot
import results_page

METHODS = ("standard", "fused", "pipelined")
CPU_FREE = "cpu_free"
HOST_CONTROLLED = ("streams", "graph")

# Set before the first measurement, for 4 GPUs, float64, microseconds per iteration: our limit, then the publication's
# programs measured on the same machine, CPU-free and host-controlled.
BARS = {
    "5-point 1000^2": (9, 27, 80),
    "5-point 1260x1258": (12, 34, 95),
    "27-point 100^3": (25, 86, 182),
    "elasticity 110^3": (300, 803, 2528),
}
BAR_DEVICES = 4


class Best(NamedTuple):
    """The least time among several ways, in microseconds, and how it was come by."""

    way: str
    us: float


class CgResults(results_page.Results):
    """One result file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lines = [line for line in self.lines if "matrix" in line]

    @property
    def matrices(self) -> list[str]:
        return list(dict.fromkeys(line["matrix"] for line in self.lines))

    def fact(self, matrix: str, key: str, default: object = "") -> object:
        """What a line of the matrix says about it."""
        return next((line[key] for line in self.lines if line["matrix"] == matrix and key in line), default)

    def chosen(self, what: str, matrix: str, devices: int) -> list[dict]:
        key = (what, matrix, devices)
        return [line for line in self.lines if (line["what"], line["matrix"], line["devices"]) == key]

    def iteration(
        self,
        matrix: str,
        devices: int,
        controls: Iterable[str],
        methods: Iterable[str] = METHODS,
        what: str = "cg",
    ) -> Best | None:
        """The fastest of these methods under one of these controls."""
        return best(
            (f"{line.get('method')}, {line.get('control')}", line)
            for line in self.chosen(what, matrix, devices)
            if line.get("control") in tuple(controls) and line.get("method") in tuple(methods)
        )

    def rival(self, matrix: str, devices: int) -> Best | None:
        """The fastest of the solvers made of other libraries."""
        return self.iteration(matrix, devices, HOST_CONTROLLED, what="rival cg")

    def multiply(self, matrix: str, devices: int) -> Best | None:
        lines = self.chosen("multiply", matrix, devices)
        return best((str(line.get("storage", "")), line) for line in lines)

    def rival_multiply(self, matrix: str) -> Best | None:
        lines = self.chosen("rival multiply", matrix, 1)
        return best((str(line.get("algorithm", "")), line) for line in lines)

    def speed_up(self, matrix: str, devices: int, method: str, controls: Iterable[str]) -> float | None:
        """The time under the host's control over the time without, of one method."""
        ours = self.iteration(matrix, devices, (CPU_FREE,), (method,))
        host = self.iteration(matrix, devices, controls, (method,))
        return host.us / ours.us if ours and host else None


def best(ways: Iterable[tuple[str, dict]]) -> Best | None:
    found = [Best(way, plot.best(line)) for way, line in ways]
    return min(found, key=lambda one: one.us, default=None)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    known = [v for v in values if v is not None and v > 0]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None
