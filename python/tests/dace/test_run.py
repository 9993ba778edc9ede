"""Programs against NumPy, bit by bit, however many PEs and blocks there are."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_programs as programs
from starling import dace as sd
from starling import faults, machine
from starling.dace import nvshmem
from starling.errors import StallError
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
Devices = Callable[[int], Machine]
QUICK = (programs.jacobi_2d, programs.converge)
SHAPES = [(pes, blocks) for pes in (1, 2, 3, 4) for blocks in (1, 2, 3)]


ALL_PACKETS = 1 << 18


def run_beside_numpy(
    program: Any, m: Machine, blocks: int, rng: np.random.Generator, n: int = 19, packet_bytes: int | None = None
) -> None:
    arrays, scalars = programs.inputs(program, rng, n)
    want = [a.copy() for a in arrays]
    program.function(*want, **scalars)
    program(*arrays, machine=m, blocks=blocks, packet_bytes=packet_bytes, **scalars)
    for have, wanted in zip(arrays, want, strict=True):
        if program in programs.EXACT:
            np.testing.assert_array_equal(have, wanted)
        else:
            np.testing.assert_allclose(have, wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("program", programs.WHOLE if COMPLETE else QUICK, ids=lambda p: p.__name__)
def test_whole_arrays(program: Any, rng: np.random.Generator, devices: Devices) -> None:
    for pes, blocks in SHAPES:
        for n in (12, 19, 37):
            run_beside_numpy(program, devices(pes), blocks, rng, n)


def test_elements_that_are_apart_in_memory(rng: np.random.Generator, devices: Devices) -> None:
    for n in (40, 5000):  # more than a block of a GPU has threads
        run_beside_numpy(programs.apart, devices(2), 2, rng, n)


@pytest.mark.parametrize("packet_bytes", [0, ALL_PACKETS])
@pytest.mark.parametrize("columns", [15, 16, 17, 18, 19])  # from 16 on rows are whole vectors in memory
def test_rows_of_any_length(columns: int, packet_bytes: int, rng: np.random.Generator, devices: Devices) -> None:
    for program, grid in ((programs.jacobi_2d, (3,)), (programs.jacobi_2d_columns, (2,))):
        have = [rng.random((20, columns), dtype="float32") for _ in range(2)]
        want = [a.copy() for a in have]
        program.function(*want, 3)
        m = devices(grid[0])
        run = program.on(m, *have, grid=grid, blocks=2, packet_bytes=packet_bytes)
        run(steps=3)
        run.store()
        for a, b in zip(have, want, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("program", programs.WHOLE if COMPLETE else QUICK, ids=lambda p: p.__name__)
def test_layers_as_packets(program: Any, rng: np.random.Generator, devices: Devices) -> None:
    for pes, blocks in SHAPES:
        for n in (12, 19, 37):
            run_beside_numpy(program, devices(pes), blocks, rng, n, ALL_PACKETS)


def test_layers_are_packets_up_to_a_size(rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    layer = arrays[0][0].nbytes
    for most, protocol in ((0, "put_signal"), (layer - 1, "put_signal"), (layer, "packets")):
        report = programs.jacobi_2d(*arrays, 3, machine=devices(2), packet_bytes=most, report=True)
        assert report is not None
        assert {q.protocol for q in report.explanation.puts} == {protocol}
    report = programs.jacobi_2d(*arrays, 3, machine=devices(1), packet_bytes=ALL_PACKETS, report=True)
    assert report is not None
    assert {q.protocol for q in report.explanation.puts} == {"put_signal"}  # nobody is there


@pytest.mark.parametrize("columns", [2, 5])
def test_a_put_of_no_elements_is_a_signal(columns: int, rng: np.random.Generator, devices: Devices) -> None:
    @sd.program
    def smoothed(A: sd.float64[programs.M, programs.N], steps: sd.int64):
        flags = nvshmem.flags(2)
        nw, ne = sd.neighbour(-1), sd.neighbour(+1)
        for t in range(steps):
            nvshmem.PutmemSignal(A[-1, 1 : programs.N - 1], A[1, 1 : programs.N - 1], flags[0], t, nw)
            nvshmem.PutmemSignal(A[0], A[-2], flags[1], t, ne)
            nvshmem.SignalWait(flags[0], t, ne)
            nvshmem.SignalWait(flags[1], t, nw)
            A[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0

    start = [rng.random((6, columns)) for _ in range(3)]
    want, have = ([part.copy() for part in start] for _ in range(2))
    smoothed(want, 30, machine=devices(3), blocks=2, packet_bytes=0)
    report = smoothed(have, 30, machine=devices(3), blocks=2, packet_bytes=ALL_PACKETS, deadline=5.0, report=True)
    assert report is not None
    assert [q.protocol for q in report.explanation.puts] == ["packets" if columns > 2 else "put_signal", "packets"]
    np.testing.assert_array_equal(have, want)


def test_a_packet_that_is_lost(rng: np.random.Generator) -> None:
    m = machine.host(3, faults=[faults.drop_signal(pe=1, nth=9)])
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    first, *_ = [a.copy() for a in arrays]
    with pytest.raises(StallError, match=r"(?s)drop_signal: PE 1 .*dace_programs\.py:\d+"):
        programs.jacobi_2d(*arrays, 5, machine=m, packet_bytes=ALL_PACKETS, deadline=0.2)
    np.testing.assert_array_equal(arrays[0], first)
    m.inject([])
    run_beside_numpy(programs.jacobi_2d, m, 2, rng, packet_bytes=ALL_PACKETS)


def line_of_parts(pes: int, rng: np.random.Generator, each: int = 8) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """A whole line, and the parts of it that PEs have, with one element of each neighbour."""
    whole = rng.random(each * pes + 2)
    return whole, [whole[each * pe : each * pe + each + 2].copy() for pe in range(pes)]


@pytest.mark.parametrize("packet_bytes", [0, ALL_PACKETS])
@pytest.mark.parametrize(("pes", "blocks"), SHAPES)
def test_smooth(pes: int, blocks: int, packet_bytes: int, rng: np.random.Generator, devices: Devices) -> None:
    whole, parts = line_of_parts(pes, rng)
    for _ in range(1, 9):
        whole[1:-1] = (whole[:-2] + whole[1:-1] + whole[2:]) / 3.0
    other = [np.full(10, np.nan) for _ in parts]
    report = programs.smooth(
        parts, other, 9, machine=devices(pes), blocks=blocks, packet_bytes=packet_bytes, report=True
    )
    assert report is not None
    protocol = "packets" if packet_bytes and pes > 1 else "put_signal"
    assert {q.protocol for q in report.explanation.puts} == {protocol}
    for pe, part in enumerate(parts):
        np.testing.assert_array_equal(part[1:-1], whole[8 * pe + 1 : 8 * pe + 9])


def test_other_sizes_compile_nothing(
    rng: np.random.Generator, devices: Devices, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_beside_numpy(programs.jacobi_2d, devices(2), 2, rng, 12)

    def refuse(*_: Any) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr("starling.dace.build.compiler.Compiler.compile", refuse)
    monkeypatch.setattr("starling.dace.build.nvcc.Nvcc.compile", refuse)
    monkeypatch.setattr("starling.dace.decorator.compile_program", refuse)
    run_beside_numpy(programs.jacobi_2d, devices(4), 3, rng, 41)


@pytest.mark.parametrize("packet_bytes", [0, ALL_PACKETS])
def test_arrays_stay_on_the_devices(packet_bytes: int, rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    want = [a.copy() for a in arrays]
    before = [a.copy() for a in arrays]
    run = programs.jacobi_2d.on(devices(3), *arrays, blocks=2, packet_bytes=packet_bytes)
    run(steps=4)
    run(steps=3)
    np.testing.assert_array_equal(arrays[0], before[0])
    run.store()
    programs.jacobi_2d.function(*want, 7)
    np.testing.assert_array_equal(arrays[0], want[0])
    np.testing.assert_array_equal(arrays[1], want[1])


@pytest.mark.parametrize("packet_bytes", [0, ALL_PACKETS])
def test_the_next_run_reads_what_this_one_wrote_last(
    packet_bytes: int, rng: np.random.Generator, devices: Devices
) -> None:
    @sd.program
    def sweep(A: sd.split(sd.float64[programs.N]), B: sd.split(sd.float64[programs.N])):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1:-1] = B[1:-1]

    A, B = rng.random(23), rng.random(23)
    want, other = A.copy(), B.copy()
    run = sweep.on(devices(3), A, B, blocks=2, packet_bytes=packet_bytes)
    for _ in range(3):
        run()
        sweep.function(want, other)
    run.store()
    np.testing.assert_array_equal(A, want)


@pytest.mark.parametrize("packet_bytes", [0, ALL_PACKETS])
@pytest.mark.parametrize("passes", [(1, 2, 3), (3, 1), (2,)])
def test_generations_stay_on_the_devices(
    passes: tuple[int, ...], packet_bytes: int, rng: np.random.Generator, devices: Devices
) -> None:
    arrays, _ = programs.inputs(programs.relax, rng)
    want = [a.copy() for a in arrays]
    run = programs.relax.on(devices(3), *arrays, blocks=2, packet_bytes=packet_bytes)
    for steps in passes:
        run(steps=steps)
        run.store()
        programs.relax.function(*want, steps)
        np.testing.assert_array_equal(arrays, want)


def test_return_at_the_end(rng: np.random.Generator, devices: Devices) -> None:
    @sd.program
    def grown(A: sd.float64[programs.N]):
        A[:] = A + 1.0
        return

    a = rng.random(9)
    want = a + 1.0
    grown(a, machine=devices(1))
    np.testing.assert_array_equal(a, want)


@pytest.mark.parametrize("control", ["device", "stream"])
def test_results_of_a_machine_that_is_closed(control: str, rng: np.random.Generator) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    want = [a.copy() for a in arrays]
    with machine.host(2) as m:
        run = programs.jacobi_2d.on(m, *arrays, control=control)
        run(steps=3)
    run(steps=2)
    run.store()
    programs.jacobi_2d.function(*want, 5)
    np.testing.assert_array_equal(arrays, want)


def test_machines_by_name(rng: np.random.Generator) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    want = [a.copy() for a in arrays]
    report = programs.jacobi_2d(*arrays, 3, machine="host", devices=3, report=True)
    assert report is not None
    assert report.machine == "3 virtual devices"
    run = programs.jacobi_2d.on(None, *arrays, devices=2)
    run(steps=2)
    run.store()
    programs.jacobi_2d.function(*want, 5)
    np.testing.assert_array_equal(arrays, want)
    parts = [rng.random(8) for _ in range(3)]
    report = programs.smooth(parts, [np.zeros(8) for _ in parts], 3, machine="host", report=True)
    assert report is not None
    assert report.machine == "3 virtual devices"


def test_report(rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng)
    report = programs.jacobi_2d(*arrays, 3, machine=devices(2), blocks=3, report=True)
    assert report is not None
    assert (report.machine, report.blocks) == (devices(2).summary, 3)
    assert 0 < report.seconds < 60
    assert report.explanation.barriers == 2


def test_fewer_blocks_than_asked_where_layers_are_few(rng: np.random.Generator, devices: Devices) -> None:
    arrays, _ = programs.inputs(programs.jacobi_2d, rng, 5)
    report = programs.jacobi_2d(*arrays, 3, machine=devices(2), blocks=3, report=True)
    assert report is not None
    assert report.blocks == 2
