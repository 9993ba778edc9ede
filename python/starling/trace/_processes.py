"""One trace of a machine that several processes have together: each has written a file of the blocks of its own PEs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from starling.trace._format import RawProgram, RawTrace


def joined(files: Sequence[RawTrace]) -> list[RawTrace]:
    """The files, those of one machine as one; in the order of the first of each.

    Programs are collective, so the n-th of one file is the n-th of the others. Where a file has none, as of a process
    that was killed, its blocks never began. Clocks need no alignment: processes of a host share one.
    """
    by_job: dict[object, list[RawTrace]] = {}
    for number, file in enumerate(files):
        by_job.setdefault(file.facts.get("job", number), []).append(file)
    return [_one(parts) if len(parts) > 1 else parts[0] for parts in by_job.values()]


def _one(parts: list[RawTrace]) -> RawTrace:
    parts = sorted(parts, key=lambda file: int(file.facts["own_pes"][0]))
    activities = np.concatenate([file.activities for file in parts])
    whole = RawTrace(
        parts[0].path, parts[0].facts, activities=activities[np.argsort(activities["start"], kind="stable")]
    )
    problems = [file.problem for file in parts if file.problem]
    for number in range(max(len(file.programs) for file in parts)):
        there = [(file, file.programs[number]) for file in parts if number < len(file.programs)]
        shape = _shape(there[0][1])
        alike = [(file, program) for file, program in there if _shape(program) == shape]
        if len(alike) < len(there):
            problems.append(
                f"program {number} differs between the processes; shown is {shape[0]} PEs, {shape[1]} blocks"
            )
        whole.programs.append(_program(alike))
    whole.problem = "; ".join(problems)
    return whole


def _shape(program: RawProgram) -> tuple[int, int, int]:
    return program.facts["pes"], program.facts["blocks"], program.facts["capacity"]


def _program(parts: list[tuple[RawTrace, RawProgram]]) -> RawProgram:
    first = parts[0][1]
    heads = np.zeros_like(first.heads)
    clocks = list(first.facts["clocks"])
    records = []
    for file, program in parts:
        begin, end = file.facts["own_pes"]
        heads[begin:end] = program.heads[begin:end]
        clocks[begin:end] = program.facts["clocks"][begin:end]
        records.append(program.records)  # of its own blocks alone: nobody else's began here
    facts = {
        **first.facts,
        "clocks": clocks,
        "start": min(program.facts["start"] for _, program in parts),
        "end": max(program.facts["end"] for _, program in parts),
    }
    return RawProgram(facts, heads, np.concatenate(records))
