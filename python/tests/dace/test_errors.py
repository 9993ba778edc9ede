"""What is refused: each error names the file, the line and the node."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

sd = pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_grid_programs
import dace_programs as programs
import dace_wrong_programs as wrong_programs
from starling import errors, machine
from starling.dace import ProgramError, nvshmem


@pytest.mark.parametrize(("program", "node", "words"), wrong_programs.CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_programs(program: Any, node: str, words: str) -> None:
    with pytest.raises(ProgramError) as found:
        program.explain()
    e = found.value
    assert isinstance(e, errors.ArgumentError)
    assert node in e.node
    assert words in str(e)
    assert e.file == wrong_programs.__file__
    first = program.function.__code__.co_firstlineno
    assert first <= e.line <= first + 8


def refused(node: str, words: str, *arguments: Any, program: Any = programs.jacobi_2d, **named: Any) -> None:
    before = [a.copy() for a in arguments if isinstance(a, np.ndarray)]
    with pytest.raises(ProgramError, match=words) as found:
        program(*arguments, **{"machine": machine.host(2), **named})
    assert found.value.node == node
    after = [a for a in arguments if isinstance(a, np.ndarray)]
    for a, b in zip(after, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_arguments(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    frozen = a.copy()
    frozen.flags.writeable = False
    refused("A", "holds float64, not float32", a.astype("float64"), b, 3)
    refused("A", "has 1 axes, not 2", a[0].copy(), b, 3)
    refused("B", "not C-contiguous", a, np.asfortranarray(b), 3)
    refused("B", "length 5 along axis 0, where M is 8", a, b[:5], 3)
    refused("A", "is a list; pass the whole array", [a, a], b, 3)
    refused("A", "is a memoryview", memoryview(a), b, 3)
    refused("A", "read-only", frozen, b, 3)
    refused("B", "overlaps A", a, a, 3)
    refused("steps", "is a float", a, b, 3.5)
    refused("steps", "is missing", a, b)
    refused("jacobi_2d", "has 3 arguments, not 4", a, b, 3, 4)
    refused("speed", "is no argument", a, b, 3, speed=1)
    refused(
        "grid",
        r"= \(2,\) is for other than 1 PEs; pass one whose product is 1",
        a,
        b,
        3,
        machine=machine.host(1),
        grid=(2,),
    )
    refused("grid", r"has 2 axes and the program's PEs lie along 1; pass one such as \(2,\)", a, b, 3, grid=(2, 1))
    refused("grid", "pass whole numbers", a, b, 3, grid=2)
    refused("grid", "at least 1", a, b, 3, grid=(-2,))
    refused("control", "must be one of device, stream, call", a, b, 3, control="host")
    refused("A", "8 layers along axis 0 for 9 PEs", a, b, 3, machine=machine.host(9))
    refused("A", "pass arrays with elements", a[:0], b[:0], 3)


def test_threads(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    with pytest.raises(errors.ArgumentError, match="threads = 2000"):
        programs.jacobi_2d(a, b, 3, threads=2000)
    compiled = programs.jacobi_2d.compiled()
    for threads, most in ((32, 512), (512, 512), (513, 1024), (1024, 1024)):
        assert f"max_threads = {most};" in compiled.source_for(threads)
        assert f"max_threads = {most};" in compiled.hosted_for(threads).source


def test_halo_thicker_than_a_part(rng: np.random.Generator) -> None:
    a, b = rng.random((7, 9)), np.zeros((7, 9))

    @sd.program
    def wide(A: sd.split(sd.float64[programs.M, programs.N]), B: sd.split(sd.float64[programs.M, programs.N])):
        for _ in range(2):
            B[3:-3, :] = A[6:, :] + A[:-6, :]
            A[:] = B

    refused("A", "has 2 layers along axis 0 on a PE and 3 are exchanged", a, b, program=wide, machine=machine.host(3))


def test_grids(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 3), dtype="float32") for _ in range(2))
    grid = dace_grid_programs.jacobi_2d
    four = machine.host(4)
    refused(
        "grid",
        r"= \(3, 1\) is for other than 4 PEs; pass .* such as \(2, 2\)",
        a,
        b,
        3,
        program=grid,
        machine=four,
        grid=(3, 1),
    )
    refused("grid", r"has 1 axes and the program's PEs lie along 2", a, b, 3, program=grid, machine=four, grid=(4,))
    refused("grid", r"= \(-2, -2\); each number must be at least 1", a, b, 3, program=grid, machine=four, grid=(-2, -2))
    refused(
        "A",
        r"3 layers along axis 1 for 4 PEs; use .*another grid than \(1, 4\)",
        a,
        b,
        3,
        program=grid,
        machine=four,
        grid=(1, 4),
    )
    parts = [rng.random((9, 7)), rng.random((9, 7))]
    with pytest.raises(ProgramError, match=r"1 layers along axis 1 on a PE and 2 are exchanged.*another grid than"):
        dace_grid_programs.far_corners(*parts, 3, machine=four, grid=(4, 1))
    with pytest.raises(ProgramError, match="has 4 layers along axis 0 for 5 PEs"):
        dace_grid_programs.one_corner(rng.random((4, 7)), rng.random((4, 7)), 3, machine=machine.host(5))


def test_parts(rng: np.random.Generator) -> None:
    parts = [rng.random(8) for _ in range(2)]
    other = [np.zeros(8) for _ in range(2)]
    refused("A", "has 2 parts for 3 PEs", parts, other, 3, program=programs.smooth, machine=machine.host(3))
    refused("A", "is one array for 2 PEs", parts[0], other[0], 3, program=programs.smooth)
    refused("A", "length 7", [parts[0], parts[1][:7]], other, 3, program=programs.smooth)
    refused("A", "overlaps A", [parts[0], parts[0]], other, 3, program=programs.smooth)


def test_runs_on_devices(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    with pytest.raises(ProgramError, match="is missing; give every array"):
        programs.jacobi_2d.on(machine.host(2), a)
    run = programs.jacobi_2d.on(machine.host(2), a, b)
    with pytest.raises(ProgramError, match="is missing; give every scalar"):
        run()
    with pytest.raises(ProgramError, match="is no scalar of the program"):
        run(steps=1, speed=2)


def test_calls_outside_of_programs() -> None:
    calls = [lambda: nvshmem.Quiet(), lambda: nvshmem.flags(2), lambda: sd.my_pe(), lambda: sd.neighbour(1)]
    for call in calls:
        with pytest.raises(
            ProgramError, match=r"can be called only in a function that starling\.dace\.program compiles"
        ):
            call()
    with pytest.raises(ProgramError, match="is no function"):
        sd.program(3)
    for axis, words in (
        (1, "must be from 0 to 0"),
        ((0, 1), r"axis = 1 of an array of 1 axes"),
        (-1, "must be from 0"),
        ((), "one axis or two"),
        ((0, 1, 2), "one axis or two"),
        ("0", "one axis or two"),
        ((0, 0), "two different axes"),
    ):
        with pytest.raises(ProgramError, match=words):
            sd.split(sd.float64[programs.N], axis)
    with pytest.raises(ProgramError, match="is no array type"):
        sd.split(sd.float64, 0)


def test_symbols_that_are_no_names() -> None:
    for names, words in ((3, "names = 3 is a int; pass text"), (["M"], "is a list; pass text")):
        with pytest.raises(errors.ElementTypeError, match=words):
            sd.symbols(names)
    for names, words in (("", "it is no name"), ("M 3N", "3N is no name"), ("M, for", "for is no name")):
        with pytest.raises(errors.ArgumentError, match=words):
            sd.symbols(names)


def test_machines(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    with pytest.raises(errors.ArgumentError, match="devices = 3, but the machine has 2"):
        programs.jacobi_2d(a, b, 3, machine=machine.host(2), devices=3)
    with pytest.raises(errors.ArgumentError, match="machine = 'many'; must be 'host'"):
        programs.jacobi_2d(a, b, 3, machine="many")
    with pytest.raises(errors.ElementTypeError, match="machine is a int; pass 'host'"):
        programs.jacobi_2d.on(4, a, b)
    with pytest.raises(errors.ArgumentError, match="devices = 0"):
        programs.jacobi_2d(a, b, 3, machine="host", devices=0)
    closed = machine.host(2)
    closed.close()
    with pytest.raises(errors.ArgumentError, match="closed"):
        programs.jacobi_2d(a, b, 3, machine=closed)


def test_error_is_pickled_whole() -> None:
    e = pickle.loads(pickle.dumps(ProgramError("words", "file.py", 3, "A")))
    assert (str(e), e.file, e.line, e.node) == ("words", "file.py", 3, "A")


def test_no_compiler(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    with pytest.raises(errors.Unsupported, match="there is no C\\+\\+ compiler"):
        programs.jacobi_2d(a, b, 1, machine=machine.host(2))


def test_indices_beyond_the_array(rng: np.random.Generator) -> None:
    n, m, k = programs.N, programs.M, sd.symbols("K")

    @sd.program
    def cut_off(A: sd.float64[n], B: sd.float64[m]):
        B[0:6] = A[0:6]

    @sd.program
    def by_loop(A: sd.float64[n], h: sd.float64[k], steps: sd.int64):
        for t in range(steps):
            A[:] = A + h[t]

    for n, m, less in ((5, 9, "-1"), (9, 4, "2")):
        words = rf"whose lengths .* differ by {less} in this call"
        refused("B[0:6] = A[0:6]", words, rng.random(n), rng.random(m), program=cut_off)
    a, b = rng.random(5), rng.random(4)
    with pytest.raises(ValueError, match="could not broadcast"):
        cut_off.function(a, b)
    refused(
        "h",
        "elements 0 to 3 along axis 0, which has the length 3, are used in this call by the index t",
        rng.random(9),
        rng.random(3),
        4,
        program=by_loop,
    )


def test_several_processes_and_hosts(rng: np.random.Generator) -> None:
    a, b = (rng.random((8, 6), dtype="float32") for _ in range(2))
    want, other = a.copy(), b.copy()
    programs.jacobi_2d.function(want, other, 3)
    programs.jacobi_2d(a, b, 3, machine=machine.host(4, hosts=[0, 0, 1, 1]))
    np.testing.assert_array_equal(a, want)
