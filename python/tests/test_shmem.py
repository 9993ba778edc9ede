"""starling.shmem: random puts and gets of parts against NumPy arrays, signals, arrays in place, and what is refused."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from starling import machine, shmem
from starling.errors import ArgumentError, ElementTypeError, OutOfMemory, RangeError

TYPES = ["uint8", "int32", "float64", "complex128", "bool"]
SHAPES: list[tuple[int, ...]] = [(), (7,), (5, 6), (3, 4, 5), (4, 0)]


@pytest.fixture(params=[1, 3])
def w(request, devices):
    return shmem.World(devices(request.param))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A part: numbers and slices of some of the axes."""
    key: list[Any] = []
    for n in shape[: rng.integers(0, len(shape) + 1)]:
        if n > 0 and rng.random() < 0.4:
            key.append(int(rng.integers(-n, n)))
        else:
            a, b = sorted(rng.integers(0, n + 2, 2).tolist())
            key.append(slice(a, b, int(rng.integers(1, 4))))
    return tuple(key)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_against_numpy(w, rng, dtype, shape):
    a = w.zeros(shape, dtype)
    assert (a.shape, a.dtype, a.size) == (shape, np.dtype(dtype), int(np.prod(shape)))
    model = np.zeros((w.n_pes, *shape), dtype)
    for _ in range(40):
        pe = int(rng.integers(w.n_pes))
        key = random_key(rng, shape)
        part = a[key]
        assert part.shape == model[pe][key].shape
        if rng.random() < 0.6:
            x = numbers(rng, part.shape, dtype)
            w.put(part, x, pe=pe)
            model[(pe, *key)] = x
        else:
            got = w.get(part, pe=pe)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, model[pe][key])
    for pe in range(w.n_pes):
        np.testing.assert_array_equal(w.get(a, pe=pe), model[pe])


def test_parts_of_parts_and_single_elements(w, rng):
    a = w.zeros((6, 8), "int64")
    x = numbers(rng, (6, 8), "int64")
    pe = w.n_pes - 1
    w.put(a, x, pe=pe)
    np.testing.assert_array_equal(w.get(a[1:, ::2][::3, 1], pe=pe), x[1:, ::2][::3, 1])
    np.testing.assert_array_equal(w.get(a[..., 3], pe=pe), x[..., 3])
    np.testing.assert_array_equal(w.get(a[None, 2], pe=pe), x[None, 2])
    w.p(a[2, -1], -5, pe=pe)
    assert w.g(a[2, 7], pe=pe) == -5
    w.put(a[0, 0], 12, pe=pe)
    assert w.g(a[0, 0], pe=pe) == 12
    assert len(a) == 6
    assert len(a[0]) == 8
    if w.n_pes > 1:
        assert not w.get(a, pe=0).any()


def test_signals(w, rng):
    box = w.zeros(5, "float32")
    s = w.signals(3)
    x = rng.random(5, "float32")
    pe = w.n_pes - 1
    value = int(rng.integers(1, 2**63))
    w.put_signal(box, x, s[1], value, pe=pe)
    np.testing.assert_array_equal(w.get(box, pe=pe), x)
    assert w.signal_fetch(s[1], pe=pe) == value
    w.put_signal(box[2:], x[:3], s[1], 9, pe=pe, add=True)
    np.testing.assert_array_equal(w.get(box, pe=pe), np.concatenate([x[:2], x[:3]]))
    assert w.signal_fetch(s[1], pe=pe) == value + 9
    w.signal_set(s[0], 2**64 - 1, pe=pe)
    w.signal_add(s[0], 3, pe=pe)
    assert [w.signal_fetch(s[i], pe=pe) for i in range(3)] == [2, value + 9, 0]
    w.barrier_all()


def test_in_place(w, kind, rng):
    a = w.zeros((4, 5))
    x = rng.random((4, 5))
    w.put(a, x, pe=0)
    there = w.ptr(a[1:3], pe=0)
    if kind == "cuda" and not hasattr(there, "get"):
        pytest.skip("needs CuPy")
    np.testing.assert_array_equal(there if kind == "host" else there.get(), x[1:3])
    there[1, 2] = 4.5
    if kind == "cuda":
        import cupy  # writes on a stream of its own

        cupy.cuda.get_current_stream().synchronize()
    assert w.g(a[2, 2], pe=0) == 4.5


def test_memory_comes_back(devices):
    m = devices(2)
    before = m.memory.in_use
    with shmem.World(m) as w:
        a = w.zeros(1000)
        b = w.zeros((10, 10), "uint8")
        assert m.memory.in_use > before
        w.free(a)
        w.free(a)
        del b
    assert m.memory.in_use == before
    w.close()


def test_an_array_in_place_keeps_the_memory(devices, kind):
    m = devices(1)
    if kind == "cuda":
        pytest.skip("an array of CuPy may be cached")
    before = m.memory.in_use
    w = shmem.World(m)
    a = w.zeros(1000)
    there = w.ptr(a, pe=0)
    w.close()
    there[:] = 3
    assert m.memory.in_use > before
    del there
    gc.collect()
    assert m.memory.in_use == before


def test_refused(w, devices):
    a = w.zeros((3, 4))
    s = w.signals()
    n = w.n_pes
    with pytest.raises(ElementTypeError, match="pass a machine"):
        shmem.World(4)
    for pe in (-1, n):
        with pytest.raises(RangeError, match=f"pe = {pe} of a machine with {n}; PEs are numbered from 0"):
            w.get(a, pe=pe)
        with pytest.raises(RangeError, match="PEs are numbered"):
            w.ptr(a, pe=pe)
    with pytest.raises(ElementTypeError, match="pe = 'one'"):
        w.put(a, np.zeros((3, 4)), pe="one")
    with pytest.raises(ArgumentError, match=r"x has shape \(4,\), a has \(3, 4\)"):
        w.put(a, np.zeros(4), pe=0)
    with pytest.raises(ElementTypeError, match=r"astype\('float64'\)"):
        w.put(a, np.zeros((3, 4), complex), pe=0)
    with pytest.raises(ElementTypeError, match="is no uint64"):
        w.p(s[0], 2.5, pe=0)
    with pytest.raises((ArgumentError, ElementTypeError), match="value = -1"):
        w.signal_set(s[0], -1, pe=0)
    with pytest.raises(ArgumentError, match="must be one element"):
        w.g(a, pe=0)
    with pytest.raises(ElementTypeError, match="signals are uint64"):
        w.signal_fetch(a[0, 0], pe=0)
    with pytest.raises(ElementTypeError, match="pass a symmetric array"):
        w.get(np.zeros(3), pe=0)
    with pytest.raises(RangeError, match=r"the array has shape \(3, 4\)"):
        a[3]
    with pytest.raises(RangeError, match="too many indices"):
        a[0, 0, 0]
    with pytest.raises(ArgumentError, match="step = -1 of a slice"):
        a[::-1]
    with pytest.raises(ElementTypeError, match="index = "):
        a[[0, 1]]
    with pytest.raises(ArgumentError, match="part with gaps"):
        w.ptr(a[:, 1], pe=0)
    assert not w.get(a, pe=0).any()
    assert w.signal_fetch(s[0], pe=0) == 0


def test_refused_shapes(w):
    with pytest.raises(ArgumentError, match="shape = -1; must be at least 0"):
        w.zeros(-1)
    with pytest.raises(ElementTypeError, match="plain types"):
        w.zeros(3, object)
    with pytest.raises(ElementTypeError, match="dtype = 'foo' is none that NumPy knows"):
        w.zeros(3, "foo")
    with pytest.raises(ArgumentError, match="no memory has as many"):
        w.zeros((2**40, 2**40))
    with pytest.raises(OutOfMemory):
        w.zeros(2**55)


def test_after_the_end():
    w = shmem.World(machine.host(2))
    a = w.zeros(4)
    part = a[1:]
    w.free(a)
    for refused in (a, part):
        with pytest.raises(ArgumentError, match="was freed; make another one"):
            w.put(refused, np.zeros(refused.shape), pe=0)
    assert "freed" in repr(a)
    b = w.zeros(4)
    w.close()
    with pytest.raises(ArgumentError, match="this world was closed"):
        w.get(b, pe=0)
    with pytest.raises(ArgumentError, match="this world was closed"):
        w.zeros(4)
    assert "closed" in repr(w)
