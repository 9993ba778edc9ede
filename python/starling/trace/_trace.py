"""A trace: what one or more machines recorded, on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling.errors import ArgumentError
from starling.trace import _small
from starling.trace._flows import flows_of
from starling.trace._format import ACTIVITIES, RawTrace, read_raw
from starling.trace._measures import (
    Flows,
    Matrix,
    Overlap,
    add_copies,
    add_program,
    empty_matrix,
    overlaps,
    role_times,
)
from starling.trace._processes import joined
from starling.trace._spans import KINDS, Program, program_of


@dataclass
class MachineTrace:
    """What one machine recorded."""

    kind: str
    process: int
    devices: list[str]
    programs: list[Program]
    activities: NDArray[Any]  # of the host; times on its clock
    problem: str  # why the file was read in part, if it was
    summary: str = ""  # "4 PEs on 1 GPU"

    @property
    def size(self) -> int:
        return len(self.devices)

    @cached_property
    def flows(self) -> list[Flows]:
        """By program: which put released which wait, as indices of its spans."""
        return [flows_of(p.spans, p.alignment_error + 2 * p.resolution) for p in self.programs]

    @cached_property
    def matrix(self) -> Matrix:
        """Who sent how much to whom."""
        matrix = empty_matrix(self.size)
        for program in self.programs:
            add_program(matrix, program)
        copies = self.activities[self.activities["kind"] == ACTIVITIES.index("copy")]
        add_copies(matrix, copies["from"].astype(np.int64), copies["to"].astype(np.int64), copies["bytes"].astype("i8"))
        return matrix

    @cached_property
    def overlap(self) -> list[Overlap]:
        """By PE, over all programs."""
        sums = [Overlap() for _ in range(self.size)]
        for program, flows in zip(self.programs, self.flows, strict=True):
            for total, one in zip(sums, overlaps(program, flows), strict=True):
                total.flight += one.flight
                total.hidden += one.hidden
        return sums

    @cached_property
    def roles(self) -> dict[str, dict[str, int]]:
        """Nanoseconds in compute, put, wait and sync by the name of the role, over all blocks and programs."""
        sums: dict[str, dict[str, int]] = {}
        for program in self.programs:
            for role, times in role_times(program).items():
                mine = sums.setdefault(role, dict.fromkeys(KINDS, 0))
                for kind, time in times.items():
                    mine[kind] += time
        return sums

    @property
    def records(self) -> int:
        return sum(int((p.written - p.dropped).sum()) for p in self.programs)

    @property
    def dropped(self) -> int:
        return sum(int(p.dropped.sum()) for p in self.programs)

    @property
    def blocks(self) -> int:
        """Of the largest program, on all PEs."""
        return max((p.pes * p.blocks for p in self.programs), default=0)

    @property
    def alignment_error(self) -> int:
        """The most that times of two PEs may be off against each other, in ns."""
        return max((p.alignment_error + p.resolution for p in self.programs), default=0)

    @property
    def host_error(self) -> int:
        """The most that times of devices may be off against those of the host, in ns."""
        return max((p.host_error + p.resolution for p in self.programs), default=0)


@dataclass
class Trace:
    """Machines of one host; their times are on one clock."""

    machines: list[MachineTrace] = field(default_factory=list)

    @cached_property
    def begin(self) -> int:
        """The earliest time in it."""
        times = [int(p.start) for m in self.machines for p in m.programs]
        times += [int(p.first.min()) for m in self.machines for p in m.programs if p.first.size]
        times += [int(m.activities["start"].min()) for m in self.machines if len(m.activities)]
        return min(times, default=0)

    def _repr_html_(self) -> str:
        return "".join(_small.html_of(m) for m in self.machines) or "an empty trace"

    @property
    def problems(self) -> list[str]:
        return [m.problem for m in self.machines if m.problem]


def machine_of(raw: RawTrace) -> MachineTrace:
    return MachineTrace(
        kind=str(raw.facts["kind"]),
        process=int(raw.facts["process"]),
        devices=[str(d["name"]) for d in raw.facts["devices"]],
        programs=[program_of(p) for p in raw.programs],
        activities=raw.activities,
        problem=raw.problem,
        summary=str(raw.facts.get("machine", "")),
    )


def read(paths: str | PathLike[str] | Sequence[str | PathLike[str]], *, partial: bool = False) -> Trace:
    """Reads the files that machines wrote (``STARLING_TRACE``, ``Machine.trace_to``).

    Args:
        paths: One file or several, of processes of the same host. Those of one machine that several processes have
            together become one.
        partial: Read a file that is cut off as far as it goes; ``problems`` of the result says so.

    Raises:
        TraceFileError: A file is not a whole trace; ``offset`` is where it stops making sense.
    """
    several = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    if not several:
        raise ArgumentError("paths is empty; name at least one file that a machine wrote")
    return Trace([machine_of(raw) for raw in joined([read_raw(Path(path), partial) for path in several])])
