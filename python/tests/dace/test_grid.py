"""Arrays that PEs share along two axes, against NumPy bit by bit; and one PE's part where the PEs are a grid."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_grid_programs as programs
from starling.dace import ProgramError
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
Devices = Callable[[int], Machine]
GRIDS = ((1, 1), (2, 1), (1, 2), (1, 3), (3, 1), (2, 2), (1, 4), (4, 1))
QUICK = (programs.jacobi_2d, programs.nine_points)
SIZES = ((13, 18), (11, 9), (24, 16)) if COMPLETE else ((13, 18),)


def run_beside_numpy(
    program: Any,
    m: Machine,
    grid: Any,
    blocks: int,
    rng: np.random.Generator,
    size: tuple[int, int],
    packet_bytes: int | None = None,
) -> None:
    arrays, scalars = programs.inputs(program, rng, *size)
    want = [a.copy() for a in arrays]
    program.function(*want, **scalars)
    report = program(*arrays, machine=m, grid=grid, blocks=blocks, packet_bytes=packet_bytes, report=True, **scalars)
    assert report.grid == grid
    for have, wanted in zip(arrays, want, strict=True):
        if program in programs.SUMMED:
            np.testing.assert_allclose(have, wanted, rtol=1e-13, atol=0)
        else:
            np.testing.assert_array_equal(have, wanted)


@pytest.mark.parametrize("program", programs.GRID if COMPLETE else QUICK, ids=lambda p: p.__name__)
@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: f"{g[0]}x{g[1]}")
def test_two_split_axes(program: Any, grid: tuple[int, int], rng: np.random.Generator, devices: Devices) -> None:
    for blocks in (1, 2, 3):
        for size in SIZES:
            run_beside_numpy(program, devices(grid[0] * grid[1]), grid, blocks, rng, size)


@pytest.mark.parametrize("program", programs.GRID if COMPLETE else QUICK[:1], ids=lambda p: p.__name__)
@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: f"{g[0]}x{g[1]}")
def test_packets_along_two_axes(
    program: Any, grid: tuple[int, int], rng: np.random.Generator, devices: Devices
) -> None:
    for blocks in (1, 2, 3):
        for size in SIZES:
            run_beside_numpy(program, devices(grid[0] * grid[1]), grid, blocks, rng, size, 1 << 18)


@pytest.mark.parametrize(
    ("pes", "grid"), [(1, (1, 1)), (2, (2, 1)), (3, (3, 1)), (4, (2, 2)), (6, (3, 2)), (8, (4, 2))]
)
def test_grids_by_default(pes: int, grid: tuple[int, int], rng: np.random.Generator, devices: Devices) -> None:
    arrays, scalars = programs.inputs(programs.jacobi_2d, rng, 13, 18)
    want = [a.copy() for a in arrays]
    programs.jacobi_2d.function(*want, **scalars)
    report = programs.jacobi_2d(*arrays, machine=devices(pes), report=True, **scalars)
    assert report is not None
    assert report.grid == grid
    np.testing.assert_array_equal(arrays, want)


def test_arrays_stay_on_a_grid(rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.nine_points, rng, 13, 18)
    want = [a.copy() for a in arrays]
    run = programs.nine_points.on(devices(4), *arrays, grid=(1, 4), blocks=2)
    run(steps=4)
    run(steps=3)
    run.store()
    programs.nine_points.function(*want, 7)
    np.testing.assert_array_equal(arrays, want)


def test_explained() -> None:
    e = programs.jacobi_2d.explain()
    assert (e.barriers, e.credits) == (2, ())
    found = {(x.array, x.axis, x.low, x.high) for x in e.exchanges}
    assert found == {(a, axis, 1, 1) for a in "AB" for axis in (0, 1)}
    assert {(q.to, q.protocol, q.bytes) for q in e.puts} == {
        ("neighbour (-1, 0)", "packets or put_signal", "4*ceiling(N/grid_1)"),
        ("neighbour (+1, 0)", "packets or put_signal", "4*ceiling(N/grid_1)"),
        ("neighbour (0, -1)", "packets or iput, fence, signal", "4*ceiling(M/grid_0)"),
        ("neighbour (0, +1)", "packets or iput, fence, signal", "4*ceiling(M/grid_0)"),
    }
    assert "exchange of A along axis 1: 1 below, 1 above" in str(e)


def test_corners_are_sent_where_they_are_read() -> None:
    assert {q.to for q in programs.one_corner.explain().puts} == {
        "neighbour (+1, 0)", "neighbour (0, +1)", "neighbour (+1, +1)"
    }  # fmt: skip
    assert len(programs.nine_points.explain().puts) == 16
    assert programs.nine_points.explain().barriers == 2
    found = {x.array: (x.axis, x.low, x.high) for x in programs.fdtd_2d.explain().exchanges}
    assert found == {"ex": (1, 0, 1), "ey": (0, 0, 1), "hz": (1, 1, 0)}


@pytest.mark.skipif(not COMPLETE, reason="compiles two programs: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.parametrize("packet_bytes", [0, 1 << 18])
@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: f"{g[0]}x{g[1]}")
def test_one_part_of_a_grid(
    grid: tuple[int, int], packet_bytes: int, rng: np.random.Generator, devices: Devices
) -> None:
    rows, columns = grid
    whole = rng.random((6 * rows + 2, 5 * columns + 2))
    at = [(6 * (pe // columns), 5 * (pe % columns)) for pe in range(rows * columns)]
    parts = [whole[y : y + 8, x : x + 7].copy() for y, x in at]
    for _ in range(1, 7):
        whole[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
    other = [np.full((8, 7), np.nan) for _ in parts]
    m = devices(rows * columns)
    programs.smooth(parts, other, 7, machine=m, grid=grid, blocks=2, packet_bytes=packet_bytes)
    for part, (y, x) in zip(parts, at, strict=True):
        np.testing.assert_array_equal(part[1:-1, 1:-1], whole[y + 1 : y + 7, x + 1 : x + 6])


@pytest.mark.skipif(not COMPLETE, reason="compiles two programs: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: f"{g[0]}x{g[1]}")
def test_rings_of_a_grid(grid: tuple[int, int], rng: np.random.Generator, devices: Devices) -> None:
    rows, columns = grid
    pes = rows * columns
    a = [rng.random(6) for _ in range(pes)]
    want = [x.copy() for x in a]
    for _ in range(3):
        want = [want[pe - pe % columns + (pe % columns - 1) % columns] + 1.0 for pe in range(pes)]
        want = [want[(pe + columns) % pes] * 2.0 for pe in range(pes)]
        want = [want[pe - 1] - 3.0 for pe in range(pes)]
    programs.rings(a, [np.full(6, np.nan) for _ in a], 3, machine=devices(pes), grid=grid, blocks=2)
    np.testing.assert_array_equal(a, want)


def test_refused_leaves_all_as_it_was(rng: np.random.Generator, devices: Devices) -> None:
    arrays, scalars = programs.inputs(programs.nine_points, rng, 3, 18)
    before = [a.copy() for a in arrays]
    with pytest.raises(ProgramError, match="3 layers along axis 0 for 4 PEs"):
        programs.nine_points(*arrays, machine=devices(4), grid=(4, 1), **scalars)
    np.testing.assert_array_equal(arrays, before)
