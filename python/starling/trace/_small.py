"""A trace as notebooks show it: the last program of a machine, a lane for each block, and the time of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from starling import _html
from starling.trace._spans import KIND_OF_OP, KINDS, Program

if TYPE_CHECKING:
    from starling.trace._trace import MachineTrace

COLUMNS = 600
MOST_LANES = 24


def html_of(m: MachineTrace) -> str:
    roles = [
        (role, *(f"{times[kind] / 1e6:.4g} ms" for kind in KINDS)) for role, times in m.roles.items()
    ]  # over all programs
    where = m.summary or f"{m.size} {m.kind} devices"
    title = f"{where}, {len(m.programs)} programs, {m.records:,} records, {m.dropped:,} dropped"
    picture = picture_of(m.programs[-1]) if m.programs else ""
    return _html.table(title, roles, ("role", *KINDS)) + picture


def picture_of(program: Program) -> str:
    """Its blocks as lanes; of many so many that all PEs are seen."""
    each = max(1, MOST_LANES // program.pes)
    blocks = [(pe, block) for pe in range(program.pes) for block in range(min(each, program.blocks))][:MOST_LANES]
    edges = np.linspace(0, max(program.end - program.start, 1), COLUMNS + 1)
    names = [f"PE {pe} block {block}" for pe, block in blocks]
    return _html.lanes([lane_of(program, *b, edges) for b in blocks], names, "what blocks did when")


def lane_of(program: Program, pe: int, block: int, edges: NDArray[np.float64]) -> NDArray[np.int64]:
    """The kind of what took the most of each column's time; -1: nothing that is known. Edges from the begin on."""
    spans, gaps = program.spans, program.gaps
    taken = np.zeros((len(KINDS), COLUMNS))
    for times, kinds in ((spans, KIND_OF_OP[spans.op]), (gaps, np.zeros(len(gaps.start), dtype=np.int64))):
        mine = (times.pe == pe) & (times.block == block)
        for kind in range(len(KINDS)):
            some = mine & (kinds == kind)
            taken[kind] += _time_in(times.start[some] - program.start, times.end[some] - program.start, edges)
    return np.where(taken.max(axis=0) > 0, taken.argmax(axis=0), -1)


def _time_in(start: NDArray[np.int64], end: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of each column intervals take."""
    time: NDArray[np.float64] = np.diff(_time_since(start, edges) - _time_since(end, edges))
    return time


def _time_since(times: NDArray[np.int64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each edge the sum of the time that has passed since those of `times` that lie before it."""
    times = np.sort(times)
    count = np.searchsorted(times, edges)
    since: NDArray[np.float64] = count * edges - np.concatenate([[0], np.cumsum(times)])[count]
    return since
