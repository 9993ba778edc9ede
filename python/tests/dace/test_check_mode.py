"""Generated programs in check mode: right ones pass, and each barrier, wait or credit that is dropped is noticed."""

from __future__ import annotations

import copy
import math
import os
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_grid_programs
import dace_programs as programs
import starling
from starling.dace import ir
from starling.dace.compile import Compiled
from starling.dace.decorator import Program
from starling.dace.emit.kernel import emit

Shape = tuple[tuple[int, ...], int]  # of the grid of PEs, and how many blocks each has
COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
SEEDS = 200
ORDERS_OF_THREADS = 5  # of the host that are tried
LIMITS = (0, 1 << 18)  # up to which layers travel as packets
CHECKED = (
    (programs.smooth, *programs.WHOLE, programs.ring, programs.columns, *dace_grid_programs.CHECKED)
    if COMPLETE
    else (programs.smooth, dace_grid_programs.jacobi_2d)
)
WEAKENED = (
    (programs.smooth, programs.jacobi_2d, programs.heat_3d, programs.fdtd_2d, programs.temporaries, programs.in_place,
     programs.converge, programs.nested, programs.ring, programs.columns, programs.relax,
     dace_grid_programs.one_corner, dace_grid_programs.relax)
    if COMPLETE
    else (programs.jacobi_1d,)
)  # fmt: skip
# Barriers matter with several blocks alone, waits and credits with several PEs.
SHAPES: tuple[Shape, ...] = (((2,), 1), ((3,), 3), ((1,), 3))
GRIDS: tuple[Shape, ...] = (((2, 2), 1), ((2, 2), 2), ((1, 2), 3), ((1, 1), 3))


def shapes_of(program: Program) -> tuple[Shape, ...]:
    return GRIDS if program.function.__module__ == dace_grid_programs.__name__ else SHAPES


def arguments(program: Program, pes: int, rng: np.random.Generator) -> tuple[list[Any], dict[str, Any], list[Any]]:
    """Arrays and scalars, and what the arrays hold afterwards."""
    name = program.function.__name__
    if name in ("smooth", "ring", "columns"):
        shape = (6, 7) if name == "columns" else (10,)
        parts = [rng.random(shape) for _ in range(pes)]
        other = [np.zeros(shape) for _ in range(pes)]
        return [parts, other], {"steps": 5}, []
    if shapes_of(program) is GRIDS:
        arrays, scalars = dace_grid_programs.inputs(program, rng, 9, 11)
    else:
        arrays, scalars = programs.inputs(program, rng)
    want = [a.copy() for a in arrays]
    program.function(*want, **scalars)
    return arrays, scalars, want


def explore(
    program: Program,
    grid: tuple[int, ...],
    blocks: int,
    rng: np.random.Generator,
    control: str = "device",
    packet_bytes: int = 0,
) -> starling.CheckSummary:
    summed = set(programs.WHOLE) - set(programs.EXACT) | set(dace_grid_programs.SUMMED)
    exact = program.function not in [p.function for p in summed]
    pes = math.prod(grid)

    def run(m: starling.machine.Machine) -> None:
        arrays, scalars, want = arguments(program, pes, rng)
        program(*arrays, machine=m, grid=grid, blocks=blocks, control=control, packet_bytes=packet_bytes, **scalars)
        for have, wanted in zip(arrays, want, strict=bool(want)):
            np.testing.assert_allclose(have, wanted, rtol=0 if exact else 1e-13, atol=0)

    return starling.check(run, devices=pes, seeds=SEEDS)


@pytest.mark.parametrize("packet_bytes", LIMITS)
@pytest.mark.parametrize("program", CHECKED, ids=lambda p: p.__name__)
def test_right_programs_pass(program: Program, packet_bytes: int, rng: np.random.Generator) -> None:
    for grid, blocks in shapes_of(program):
        found = explore(program, grid, blocks, rng, packet_bytes=packet_bytes)
        assert found.accesses_seen
        assert found.schedules == SEEDS + 1


def counts(s: ir.Statement, packets: bool) -> bool:
    """Whether blocks or PEs would not be in order without a statement."""
    if isinstance(s, ir.Ready):
        return s.put.packet_credit if packets and s.put.packets else True
    return isinstance(s, (ir.Barrier, ir.Wait))


def weakened(program: Program, packets: bool = False) -> list[tuple[str, Program]]:
    """The program without one of its barriers, waits or credits: one for each."""
    whole = program.compiled()
    made = []
    for k in range(sum(counts(s, packets) for _, s in ir.statements(whole.program.body))):
        p = copy.deepcopy(whole.program)
        body, dropped = [(b, s) for b, s in ir.statements(p.body) if counts(s, packets)][k]
        body.remove(dropped)
        if isinstance(dropped, ir.Ready):
            dropped.put.credit = dropped.put.packet_credit = False
        weak = Program(program.function)
        weak._compiled.setdefault((), []).append(Compiled(p, emit(p), whole.explanation, {}))
        made.append((f"{type(dropped).__name__} at line {dropped.place.line}", weak))
    return made


@pytest.mark.parametrize("packet_bytes", LIMITS)
@pytest.mark.parametrize("program", WEAKENED, ids=lambda p: p.__name__)
def test_what_is_dropped_is_noticed(program: Program, packet_bytes: int, rng: np.random.Generator) -> None:
    cases = weakened(program, packet_bytes > 0)
    assert cases
    for name, weak in cases if COMPLETE else cases[:2]:
        with pytest.raises((starling.errors.CheckError, AssertionError)):  # noqa: PT012 -- any of the shapes will do
            for grid, blocks in shapes_of(program):
                explore(weak, grid, blocks, rng, packet_bytes=packet_bytes)
            raise RuntimeError(f"{program.__name__} without its {name} passes")


@pytest.mark.parametrize("program", CHECKED if COMPLETE else (programs.in_place,), ids=lambda p: p.__name__)
def test_right_programs_pass_with_the_loop_on_the_host(program: Program, rng: np.random.Generator) -> None:
    for control in ("stream", "call"):
        for grid, blocks in shapes_of(program):
            found = explore(program, grid, blocks, rng, control)
            assert found.accesses_seen
            assert found.schedules > SEEDS


# A ring without credits is in order by the way where threads of the host run ahead. Others are rarely: the threads are
# the system's, so one exploration may have them in such an order.
@pytest.mark.parametrize("program", [p for p in WEAKENED if p is not programs.ring], ids=lambda p: p.__name__)
def test_what_is_dropped_is_noticed_with_the_loop_on_the_host(program: Program, rng: np.random.Generator) -> None:
    cases = [c for c in weakened(program) if not c[0].startswith("Barrier")]
    assert cases
    for name, weak in cases if COMPLETE else cases[:1]:
        with pytest.raises((starling.errors.CheckError, AssertionError)):  # noqa: PT012 -- any of the shapes will do
            for grid, blocks in ORDERS_OF_THREADS * shapes_of(program):
                explore(weak, grid, blocks, rng, "stream")
            raise RuntimeError(f"{program.__name__} without its {name} passes")


def test_findings_name_lines_of_the_program(rng: np.random.Generator) -> None:
    (name, weak), *_ = [c for c in weakened(programs.jacobi_1d) if c[0].startswith("Wait")]
    with pytest.raises(starling.errors.CheckError, match=r"dace_programs\.py:\d+") as found:
        explore(weak, (2,), 1, rng)
    line = int(name.rsplit(" ", 1)[1])
    assert any(f"dace_programs.py:{n}" in str(found.value) for n in (line - 1, line, line + 1))
