"""The numbers of a trace: who sent how much to whom, where the time went, how much communication was hidden.

docs/trace.md has the definitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from starling import _html
from starling._native import native
from starling.trace import _intervals as intervals
from starling.trace._spans import KIND_OF_OP, KINDS, OP, Program

Flows = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class Matrix:
    """[from PE][to PE]: bytes of payload, and messages, of the calls of blocks and of the copies of the host."""

    bytes: NDArray[np.int64]
    messages: NDArray[np.int64]
    host_bytes: NDArray[np.int64]
    host_messages: NDArray[np.int64]

    def _repr_html_(self) -> str:
        size, messages = self.bytes + self.host_bytes, self.messages + self.host_messages
        total = f"{native.format_bytes(int(size.sum()))} in {int(messages.sum()):,} messages between {len(size)} PEs"
        return _html.table(f"{total}; from (row) to (column)", []) + _html.grid(size, "bytes from PE to PE")


def empty_matrix(pes: int) -> Matrix:
    return Matrix(*(np.zeros((pes, pes), dtype=np.int64) for _ in range(4)))


def add_program(matrix: Matrix, program: Program) -> None:
    """Every put, signal, atomic and get is one message."""
    spans = program.spans
    for ops, out in ((("put", "put_signal", "put_packets", "signal", "atomic"), True), (("get",), False)):
        chosen = np.flatnonzero(np.isin(spans.op, [OP[op] for op in ops]) & (spans.peer >= 0))
        pe, peer = spans.pe[chosen], spans.peer[chosen]
        source, target = (pe, peer) if out else (peer, pe)
        np.add.at(matrix.bytes, (source, target), spans.bytes[chosen])
        np.add.at(matrix.messages, (source, target), 1)


def add_copies(matrix: Matrix, source: NDArray[np.int64], target: NDArray[np.int64], size: NDArray[np.int64]) -> None:
    """Copies of the host; -1 stands for its own memory, which has no place in the matrix."""
    between = (source >= 0) & (target >= 0)
    np.add.at(matrix.host_bytes, (source[between], target[between]), size[between])
    np.add.at(matrix.host_messages, (source[between], target[between]), 1)


def role_times(program: Program) -> dict[str, dict[str, int]]:
    """Nanoseconds by role, over all its blocks of all PEs: compute, put, wait, sync."""
    spans, gaps = program.spans, program.gaps
    times = np.zeros((len(program.roles), len(KINDS)), dtype=np.int64)
    np.add.at(times[:, KINDS.index("compute")], program.role_of[gaps.block], gaps.end - gaps.start)
    np.add.at(times, (program.role_of[spans.block], KIND_OF_OP[spans.op]), spans.own)
    return {role: dict(zip(KINDS, map(int, row), strict=True)) for role, row in zip(program.roles, times, strict=True)}


@dataclass
class Overlap:
    """Of the communication that was in flight to a PE: how long, and how much of that while the PE computed; ns."""

    flight: int = 0
    hidden: int = 0

    @property
    def ratio(self) -> float | None:
        """None when nothing was in flight."""
        return self.hidden / self.flight if self.flight else None


def overlaps(program: Program, flows: Flows) -> list[Overlap]:
    """By PE. In flight: from the start of a put to the end of the wait it released, and in a get from another PE."""
    spans, gaps = program.spans, program.gaps
    source, target = flows
    result = []
    for pe in range(program.pes):
        came = (spans.pe[target] == pe) & (spans.pe[source] != pe)
        got = np.flatnonzero((spans.op == OP["get"]) & (spans.pe == pe) & (spans.peer != pe))
        flight = intervals.union(
            np.concatenate([spans.start[source[came]], spans.start[got]]),
            np.concatenate([spans.end[target[came]], spans.end[got]]),
        )
        computing = intervals.union(gaps.start[gaps.pe == pe], gaps.end[gaps.pe == pe])
        result.append(Overlap(intervals.total(*flight), intervals.overlap(flight, computing)))
    return result
