"""Programs whose time loop the host runs: the bits of NumPy, and of the same program with its loop on the devices."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_grid_programs
import dace_programs as programs
from starling import dace as sd
from starling.dace import ProgramError, nvshmem
from starling.dace.build.cache import built
from starling.dace.build.nvcc import nvcc
from starling.errors import Unsupported
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
Devices = Callable[[int], Machine]
CONTROLS = ("stream", "call")
QUICK = (programs.converge, programs.relax)
GRID = dace_grid_programs.GRID if COMPLETE else (dace_grid_programs.jacobi_2d,)


@pytest.fixture(params=CONTROLS)
def control(request: pytest.FixtureRequest) -> str:
    return request.param  # type: ignore[no-any-return]


def run_beside_device(program: Any, m: Machine, rng: np.random.Generator, made: Any, **how: Any) -> None:
    """Bit by bit as with `control="device"`, sums too; and as NumPy."""
    arrays, scalars = made
    want, of_device = ([a.copy() for a in arrays] for _ in range(2))
    blocks = int(rng.integers(1, 4))
    program.function(*want, **scalars)
    device = program(*of_device, machine=m, blocks=blocks, report=True, **scalars, **{**how, "control": "device"})
    report = program(*arrays, machine=m, blocks=blocks, report=True, **scalars, **how)
    assert (device.control, report.control) == ("device", how["control"])
    for have, device_has, wanted in zip(arrays, of_device, want, strict=True):
        np.testing.assert_array_equal(have, device_has)
        np.testing.assert_allclose(have, wanted, rtol=1e-13 if wanted.dtype == "float64" else 1e-6, atol=0)


@pytest.mark.parametrize("program", programs.WHOLE if COMPLETE else QUICK, ids=lambda p: p.__name__)
def test_whole_arrays(program: Any, control: str, rng: np.random.Generator, devices: Devices) -> None:
    for pes in (1, 2, 3, 4):
        made = programs.inputs(program, rng, int(rng.integers(12, 40)))
        run_beside_device(program, devices(pes), rng, made, control=control)


@pytest.mark.parametrize("program", GRID, ids=lambda p: p.__name__)
def test_two_split_axes(program: Any, control: str, rng: np.random.Generator, devices: Devices) -> None:
    for grid in ((2, 2), (1, 3), (1, 1)):
        made = dace_grid_programs.inputs(program, rng, *rng.integers(12, 20, 2).tolist())
        run_beside_device(program, devices(grid[0] * grid[1]), rng, made, control=control, grid=grid)


@pytest.mark.parametrize("pes", [1, 2, 4])
def test_one_part(pes: int, control: str, rng: np.random.Generator, devices: Devices) -> None:
    whole = rng.random(8 * pes + 2)
    parts = [whole[8 * pe : 8 * pe + 10].copy() for pe in range(pes)]
    for _ in range(1, 9):
        whole[1:-1] = (whole[:-2] + whole[1:-1] + whole[2:]) / 3.0
    other = [np.full(10, np.nan) for _ in parts]
    programs.smooth(parts, other, 9, machine=devices(pes), blocks=2, control=control)
    for pe, part in enumerate(parts):
        np.testing.assert_array_equal(part[1:-1], whole[8 * pe + 1 : 8 * pe + 9])


def test_moves_and_reductions(control: str, rng: np.random.Generator, devices: Devices) -> None:
    @sd.program
    def moved(A: sd.float64[programs.N], B: sd.float64[programs.N], r: sd.float64[4]):
        ne = sd.neighbour(1, ring=True)
        for t in range(3):
            nvshmem.Putmem(B[1:4], A[1:4], ne)
            nvshmem.Iput(B[4::2], A[4::2], ne)
            nvshmem.P(B[0], A[5], ne)
            nvshmem.Barrier()
            A[:] = A + B
            nvshmem.Barrier()
        r[0] = np.sum(A)
        nvshmem.SumReduce(r[1], r[0])
        nvshmem.Broadcast(r[2], A[2], 1)
        nvshmem.Getmem(r[3], A[4], ne)
        nvshmem.Barrier()

    a = [rng.random(9) for _ in range(3)]
    b, r = [rng.random(9) for _ in a], [np.full(4, np.nan) for _ in a]
    want, theirs = [x.copy() for x in a], [x.copy() for x in b]
    for _ in range(3):
        for pe in range(3):
            theirs[pe][1:4], theirs[pe][4::2], theirs[pe][0] = want[pe - 1][1:4], want[pe - 1][4::2], want[pe - 1][5]
        want = [x + y for x, y in zip(want, theirs, strict=True)]
    moved(a, b, r, machine=devices(3), control=control)
    np.testing.assert_array_equal(a, want)
    sums = [np.sum(x) for x in want]
    for pe, own in enumerate(r):
        np.testing.assert_allclose(own, [sums[pe], sum(sums), want[1][2], want[(pe + 1) % 3][4]], rtol=1e-14)


@pytest.mark.skipif(not COMPLETE, reason="compiles a program twice: STARLING_TEST_COMPLETE=1 runs it")
def test_a_number_that_only_devices_have(control: str, rng: np.random.Generator, devices: Devices) -> None:
    @sd.program
    def chosen(A: sd.split(sd.float64[programs.N]), w: sd.float64[5], steps: sd.int64):
        for t in range(steps):
            w[:] = w * 2.0 + t
            if w[3] > 20.0:
                A[1:-1] = A[2:] + w[3]
            else:
                A[1:-1] = A[:-2] - w[t]

    made = [rng.random(21), rng.random(5)], {"steps": 5}
    run_beside_device(chosen, devices(3), rng, made, control=control)


def test_arrays_stay_on_the_devices(control: str, rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.relax, rng)
    want = [a.copy() for a in arrays]
    run = programs.relax.on(devices(3), *arrays, blocks=2, control=control)
    for steps in (3, 1, 2):
        run(steps=steps)
        run.store()
        programs.relax.function(*want, steps)
        np.testing.assert_array_equal(arrays, want)


@pytest.mark.parametrize("program", [programs.converge, programs.relax], ids=lambda p: p.__name__)
def test_one_thread_for_all_pes(program: Any, control: str, rng: np.random.Generator, devices: Devices) -> None:
    arrays, scalars = programs.inputs(program, rng)
    want = [a.copy() for a in arrays]
    run = program.on(devices(3), *arrays, blocks=2, control=control)
    run._placed.take_one_thread()
    for _ in range(2):
        run(**scalars)
        program.function(*want, **scalars)
    run.store()
    for have, wanted in zip(arrays, want, strict=True):
        np.testing.assert_array_equal(have, wanted)


def test_one_thread_learns_of_a_pe_that_is_none(control: str, devices: Devices) -> None:
    @sd.program
    def far(A: sd.float64[programs.N]):
        nvshmem.Putmem(A[0:2], A[2:4], 2 * sd.my_pe())
        nvshmem.Barrier()

    run = far.on(devices(3), [np.zeros(6) for _ in range(3)], control=control)
    run._placed.take_one_thread()
    for _ in range(2):
        with pytest.raises(IndexError, match="PE 4"):
            run()


def test_a_pe_that_is_none(control: str, devices: Devices) -> None:
    @sd.program
    def far(A: sd.float64[programs.N]):
        nvshmem.Putmem(A[0:2], A[2:4], sd.my_pe() + 7)
        nvshmem.Barrier()

    parts = [np.zeros(6) for _ in range(2)]
    with pytest.raises(IndexError, match=r"PE 7|PE 8"):
        far(parts, machine=devices(2), control=control)


def test_explained(control: str) -> None:
    e = programs.jacobi_1d.explain(control=control)
    assert (e.control, e.launches, e.barriers) == (control, 2, 0)
    assert e.roles == ("all",)
    assert {q.protocol for q in e.puts} == {"copy"}
    assert "STARLING_HOST_PROGRAM(jacobi_1d_host)" in e.source
    assert str(e).startswith("jacobi_1d: the host runs the time loop")
    assert programs.jacobi_1d.explain().control == "device"


def test_no_such_control(devices: Devices) -> None:
    a, b = np.zeros(9), np.zeros(9)
    program = programs.jacobi_1d
    for attempt in (
        lambda: program(a, b, 3, machine=devices(1), control="host"),
        lambda: program.on(devices(1), a, b, control="host"),
        lambda: program.explain(control="host"),
    ):
        with pytest.raises(ProgramError, match="= 'host'; must be one of device, stream, call") as found:
            attempt()
        assert found.value.node == "control"
        assert found.value.line > 0


@pytest.mark.skipif(not COMPLETE, reason="calls nvcc: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.parametrize("program", [programs.jacobi_1d, programs.converge], ids=lambda p: p.__name__)
def test_phases_compile_for_gpus(program: Any) -> None:
    try:
        how = nvcc(90)
    except Unsupported:
        pytest.skip("no nvcc here")
    assert built(program.compiled().hosted.source, how).stat().st_size > 0
