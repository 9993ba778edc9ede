"""Arrays in, arrays out: nothing is changed that should not be, layouts and libraries do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from starling import stencil
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError


@pytest.fixture(scope="module")
def solve(devices):
    return lambda u, **options: stencil.jacobi(u, 5, machine=devices(2), **options)


def test_input_is_unchanged(solve, noise):
    u = noise((10, 12))
    before = u.copy()
    result = solve(u)
    assert np.array_equal(u, before)
    assert not np.shares_memory(u, result)
    assert isinstance(result, np.ndarray)


@pytest.mark.parametrize(
    "layout",
    [
        lambda u: np.asfortranarray(u),
        lambda u: np.repeat(u, 2, axis=1)[:, ::2],
        lambda u: u[::-1][::-1],
        lambda u: np.pad(u, 3)[3:-3, 3:-3],
        lambda u: u.astype(">f4"),
        lambda u: u.view(np.matrix),
    ],
    ids=["fortran", "strided", "reversed", "window", "big-endian", "subclass"],
)
def test_layouts(solve, noise, layout):
    u = noise((10, 12))
    assert np.array_equal(solve(layout(u)), solve(u))


def test_read_only_input(solve, noise):
    u = noise((10, 12))
    expected = solve(u)
    u.flags.writeable = False
    assert np.array_equal(solve(u), expected)


def test_memory_mapped_input(solve, noise, tmp_path):
    u = noise((10, 12))
    np.save(tmp_path / "u.npy", u)
    assert np.array_equal(solve(np.load(tmp_path / "u.npy", mmap_mode="r")), solve(u))


def test_out(solve, noise):
    u = noise((10, 12))
    expected = solve(u)
    out = np.full_like(u, 9)
    assert solve(u, out=out) is out
    assert np.array_equal(out, expected)
    wide = np.full((10, 24), 9, dtype="float32")
    assert solve(u, out=wide[:, ::2]) is not None
    assert np.array_equal(wide[:, ::2], expected)
    assert (wide[:, 1::2] == 9).all()
    assert solve(u, out=u) is u
    assert np.array_equal(u, expected)


def test_out_is_unchanged_when_the_run_fails(devices, noise):
    u = noise((10, 12))
    out = np.full_like(u, 9)

    def stop(_):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        stencil.jacobi(u, 5, machine=devices(1), out=out, progress=stop)
    assert (out == 9).all()


class OtherLibrary:
    """An array of the host that only speaks DLPack."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_other_libraries_by_dlpack(solve, noise):
    u = noise((10, 12))
    result = solve(OtherLibrary(u))
    assert isinstance(result, np.ndarray)
    assert np.array_equal(result, solve(u))
    out = OtherLibrary(np.zeros_like(u))
    assert solve(u, out=out) is out
    assert np.array_equal(out.values, result)


class OnGpu:
    """Says that it is a GPU array; its memory must never be touched."""

    def __init__(self, typestr="<f4", shape=(10, 12), strides=None):
        self.__cuda_array_interface__ = {
            "data": (16, False),
            "shape": shape,
            "typestr": typestr,
            "strides": strides,
            "version": 3,
        }
        self.shape = shape

    def __repr__(self):
        return "OnGpu({typestr}, {shape}, {strides})".format_map(self.__cuda_array_interface__)


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        (OnGpu(), ArgumentError, "on a GPU"),
        (OnGpu("<i4"), ElementTypeError, "holds <i4"),
        (OnGpu("<f8"), ElementTypeError, "float64"),
        (OnGpu(shape=(10,)), ArgumentError, r"\(10,\)"),
        (OnGpu(strides=(4, 40)), ArgumentError, "C-contiguous"),
        (np.zeros((10, 12)), ElementTypeError, "float64"),
        (np.zeros((12, 10), "f4"), ArgumentError, r"\(12, 10\)"),
        (np.zeros((12, 10), "f4").T, ArgumentError, "C-contiguous"),
        (np.zeros((10, 12), "bool"), ElementTypeError, "bool8"),
        ([1.0, 2.0], ElementTypeError, "list"),
        (None, ElementTypeError, "NoneType"),
    ],
    ids=str,
)
def test_native_solver_checks_for_itself(array, error, text):
    from starling import machine

    solver = native.StencilF32(machine.host(1), [10, 12], [0.0, 0.25, 0.25, 0.25, 0.25], [False, False], [])
    with pytest.raises(error, match=text):
        solver.load(array)
    with pytest.raises(error, match=text):
        solver.store(array)


def test_native_solver_does_not_write_to_read_only_arrays():
    from starling import machine

    solver = native.StencilF32(machine.host(1), [2, 2], [0.0, 0.25, 0.25, 0.25, 0.25], [False, False], [])
    u = np.zeros((2, 2), "f4")
    solver.load(u)
    u.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        solver.store(u)


def test_gpu_arrays_of_other_libraries_need_out():
    with pytest.raises(ArgumentError, match="out="):
        stencil.jacobi(OnGpu(), 5, machine="host", devices=1)
    with pytest.raises(ArgumentError, match=r"on a GPU.*machine='cuda'"):
        stencil.jacobi(OnGpu(), 5, machine="host", devices=1, out=np.zeros((10, 12), "f4"))
