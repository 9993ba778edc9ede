"""What is modelled and simulated: domains, matrices and graphs, and on how many PEs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import scale_model as model
from scale_parameters import Parameters

COMPARED = (1, 2, 4)  # with GPUs
SIMULATED = (4, 8, 16, 32, 64)  # formula against event order
CHUNK = 65536  # bytes of a region's chunk
PLANNED = (2, 8, 64, 512, 4096)


@dataclass(frozen=True)
class Case:
    """One simulation; `computing` is the model's, us of a step on a PE."""

    application: str
    shape: str
    pes: int
    computing: float = 0.0
    steps: int = 6
    memory: int = 16  # MiB of symmetric memory for each PE

    def formula(self, p: Parameters) -> float:
        """The closed formula's step for the same, us."""
        return FORMULAS[self.application](p, self)


def sides(shape: str) -> tuple[int, int]:
    one, other = shape.split("x")
    return int(one), int(other)


def _stencil(p: Parameters, case: Case) -> float:
    _, width = sides(case.shape)
    exchange = model.stencil_exchange(p, case.pes, model.FLOAT * width, case.application == "stencil")
    return max(p.sync_pe.value + case.computing, exchange)


def _cg(p: Parameters, case: Case) -> float:
    _, width = sides(case.shape)
    return case.computing + model.cg_flights(p, case.pes, width)


def _pagerank(p: Parameters, case: Case) -> float:
    """On a virtual device blocks meet by two signals, and one thread waits for chunk after chunk."""
    vertices, _ = sides(case.shape)
    signal = (p.signal_host if case.pes <= p.pes_per_host else p.signal_between).value
    own = p.signal_own.value + 2 * p.call.value
    chunks = max(case.pes, math.ceil(model.FLOAT * vertices / CHUNK))
    step = model.pagerank_step(
        case.computing,
        model.pagerank_traffic(p, vertices, case.pes, CHUNK),
        own + signal,
        model.all_reduce(p, case.pes) + 2 * own,
    )
    return step + chunks * p.call.value


FORMULAS = {
    "stencil": _stencil,
    "stencil by signals": _stencil,
    "cg": _cg,
    "pagerank": _pagerank,
    "all_reduce": lambda p, case: model.all_reduce(p, case.pes),
    "sum by levels": lambda p, case: model.levels(p, case.pes),
}
STENCILS = ("256x256", "2048x2048")  # measured on GPUs, and simulated
CGS = {"5-point 534x533": "534x533", "5-point 1000^2": "1000x1000", "5-point 1260x1258": "1260x1258"}
CG_SIMULATED = "5-point 534x533"
PAGERANK = "65536x16"


def _memory(cells: int, pes: int) -> int:
    """MiB for so many bytes of all PEs together, and what lies beside."""
    return 2 * cells // pes // 2**20 + 16


def simulated_cases(p: Parameters) -> Iterator[Case]:
    stencil, cg = model.stencil_computing(p), model.cg_computing(p)
    for shape in STENCILS:
        rows, width = sides(shape)
        many = SIMULATED[1:] if shape == "2048x2048" else ()
        for pes in (*COMPARED, *many):
            yield Case("stencil", shape, pes, stencil.us(rows * width / pes), 3, _memory(rows * width * 8, pes))
        for pes in many[1:]:
            computing = stencil.us(rows * width / pes)
            yield Case("stencil by signals", shape, pes, computing, 3, _memory(rows * width * 8, pes))
    for pes in (*COMPARED, *SIMULATED[1:]):
        computing = cg.us(model.CG_MATRICES[CG_SIMULATED] / pes)
        yield Case("cg", CGS[CG_SIMULATED], pes, computing, 3, _memory(2**28, pes))
    for pes in SIMULATED:
        yield Case("pagerank", PAGERANK, pes, 100.0 / pes, steps=3)
    for pes in (*COMPARED, *SIMULATED[1:]):
        yield Case("all_reduce", "1x1", pes)
    for pes in SIMULATED:
        yield Case("sum by levels", "1x1", pes)
