"""starling.region: a recurrence in which one stale read shows at the end, by one thread and by a thread for each
device; arrays, and what is refused."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from starling import machine, region
from starling.errors import ArgumentError, ElementTypeError, RangeError, RegionError

SIZES = [1, 17, 1001]


def next_epoch(old: Any, begin: int, end: int, epoch: int, xp: Any = np) -> Any:
    """Elements begin to end of an epoch, from all of the one before, by NumPy or CuPy."""
    i = xp.arange(begin, end, dtype=np.uint64)
    far = (xp.arange(begin, end) * 7919 + 104729) % len(old)
    scattered = old[far]
    return old[begin:end] * np.uint64(6364136223846793005) + (scattered ^ (i << np.uint64(7))) + np.uint64(epoch)


def by_loop(start: np.ndarray, epochs: int) -> np.ndarray:
    x = start
    for epoch in range(1, epochs + 1):
        x = next_epoch(x, 0, len(x), epoch)
    return x


def pieces(begin: int, end: int, random: np.random.Generator) -> list[tuple[int, int]]:
    cuts = np.unique(np.concatenate([[begin, end], random.integers(begin, end + 1, 6)]))
    all_of_it = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)) or [(begin, end)]
    random.shuffle(all_of_it)
    return all_of_it


def write_epoch(x: region.Region, pe: int, epoch: int, random: np.random.Generator, xp: Any = np) -> None:
    with x.on(pe):
        old = x.wait(pe, epoch - 1)
        begin, end = x.part(pe)
        new = x.view(pe)
        new[...] = 0xDEAD
        for a, b in pieces(begin, end, random):
            new[a - begin : b - begin] = next_epoch(old, a, b, epoch, xp)
            x.commit(pe, a, b)


@pytest.fixture(params=[1, 2, 3, 4])
def m(request, devices):
    return devices(request.param)


@pytest.fixture
def xp(kind):
    """The library of the producers."""
    return pytest.importorskip("cupy") if kind == "cuda" else np


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("buffers", [2, 3])
def test_recurrence_by_one_thread(m, xp, n, buffers):
    random = np.random.default_rng(n + buffers)
    start = random.integers(0, 2**63, n, dtype=np.uint64)
    with region.Region(m, n, np.uint64, buffers=buffers, chunk=int(random.choice([128, 1024, 65536]))) as x:
        x.load(start)
        for epoch in range(1, 9):
            for pe in random.permutation(m.size):
                write_epoch(x, int(pe), epoch, random, xp)
        for pe in range(m.size):
            np.testing.assert_array_equal(x.read(pe=pe), by_loop(start, 8))
            with x.on(pe):
                np.testing.assert_array_equal(xp.asarray(x.wait(pe)).tolist(), by_loop(start, 8).tolist())
            np.testing.assert_array_equal(x.read(8 - buffers + 1, pe=pe), by_loop(start, 8 - buffers + 1))
        sent = x.report().bytes_sent
        assert sum(map(sum, sent)) == 8 * (m.size - 1) * n * 8
        assert all(sent[pe][pe] == 0 for pe in range(m.size))
        assert x.report().epoch == 8


def test_recurrence_by_a_thread_for_each_device(m, xp):
    n, epochs = 3000, 25
    start = np.random.default_rng(5).integers(0, 2**63, n, dtype=np.uint64)
    x = region.Region(m, n, np.uint64, chunk=512)
    x.load(start)
    problems = []

    def drive(pe: int) -> None:
        random = np.random.default_rng(pe)
        try:
            for epoch in range(1, epochs + 1):
                write_epoch(x, pe, epoch, random, xp)
        except Exception as problem:  # shown by the test's own thread
            problems.append(problem)

    threads = [threading.Thread(target=drive, args=(pe,)) for pe in range(m.size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    for pe in range(m.size):
        np.testing.assert_array_equal(x.read(pe=pe), by_loop(start, epochs))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex128", "bool", "datetime64[s]"])
def test_element_types(dtype):
    m = machine.host(2)
    values = np.arange(300).astype("int64").astype(dtype)
    x = region.Region(m, 300, dtype, chunk=128)
    x.load(values)
    for pe in range(2):
        begin, end = x.part(pe)
        x.view(pe)[...] = x.wait(pe, 0)[begin:end][::-1]
        x.commit(pe)
    begin, _ = x.part(1)
    expected = np.concatenate([values[:begin][::-1], values[begin:][::-1]])
    assert x.read(pe=0).dtype == np.dtype(dtype)
    np.testing.assert_array_equal(x.read(pe=0), expected)
    np.testing.assert_array_equal(x.read(pe=1), expected)


def test_views_outlive_the_region_and_readers_cannot_write():
    x = region.Region(machine.host(2), 100)
    x.load(np.arange(100.0))
    old = x.wait(1, 0)
    with pytest.raises(ValueError, match="read-only"):
        old[0] = 1
    views = x.views()
    assert [len(v) for v in views] == [x.part(0)[1], 100 - x.part(1)[0]]
    x.close()
    x.close()
    np.testing.assert_array_equal(old, np.arange(100.0))
    views[0][...] = 1
    with pytest.raises(ArgumentError, match="was closed"):
        x.wait(0)
    assert "closed" in repr(x)


def test_a_region_outlives_its_machine():
    with machine.host(2) as m:
        x = region.Region(m, 10)
    assert repr(x) == "<starling Region: 10 elements of float64 on 2 devices, epoch 0>"
    x.load(np.arange(10.0))
    np.testing.assert_array_equal(x.wait(1, 0), np.arange(10.0))
    assert x.machine.size == 2
    x.close()
    assert repr(x) == "<starling Region: 10 elements of float64 on 2 devices, closed>"
    with pytest.raises(ArgumentError, match="this region was closed"):
        _ = x.machine


def test_an_epoch_that_was_not_loaded():
    x = region.Region(machine.host(2), 10)
    for use in (lambda: x.wait(0), lambda: x.wait(1, 0), x.read, lambda: x.read(0, pe=1)):
        with pytest.raises(ArgumentError, match=r"epoch 0 has no values yet; call load\(\) first"):
            use()
    for view in x.views():
        view[...] = 7
    for pe in range(2):
        x.commit(pe)  # the first epoch needs none before it
    np.testing.assert_array_equal(x.read(pe=1), np.full(10, 7.0))


@pytest.mark.parametrize("bounds", [[16, 16], np.array([16, 16])])
def test_bounds_and_loading_again(bounds):
    x = region.Region(machine.host(3), 96, np.float64, bounds=bounds)
    assert [x.part(pe) for pe in range(3)] == [(0, 16), (16, 16), (16, 96)]
    for start in (1.0, 2.0):
        x.load(np.full(96, start))
        for pe in range(3):
            x.view(pe)[...] = 3 * x.wait(pe, 0)[slice(*x.part(pe))]
            x.commit(pe)  # the device without elements, too
        np.testing.assert_array_equal(x.read(pe=1), np.full(96, 3 * start))


def test_refused():
    m = machine.host(2)
    with pytest.raises(ElementTypeError, match="pass a machine"):
        region.Region(4, 100)
    with pytest.raises(ArgumentError, match="n = 0"):
        region.Region(m, 0)
    with pytest.raises(ElementTypeError, match="dtype = object"):
        region.Region(m, 10, object)
    with pytest.raises(ElementTypeError, match="dtype = "):
        region.Region(m, 10, "S3")
    with pytest.raises(ElementTypeError, match="dtype = 'foo' is none that NumPy knows; pass for example 'float64'"):
        region.Region(m, 10, "foo")
    with pytest.raises(ArgumentError, match=r"up to 64 devices, the machine has 65; use devices=64 or fewer"):
        region.Region(machine.host(65), 10)
    for bounds in (16, np.array(16), "16"):
        with pytest.raises(ElementTypeError, match=r"bounds = .*16.*; pass a list of where the parts"):
            region.Region(m, 10, bounds=bounds)
    with pytest.raises(ElementTypeError, match=r"bounds\[0\] = 1\.5"):
        region.Region(m, 10, bounds=[1.5])
    with pytest.raises(ArgumentError, match="buffers = 1"):
        region.Region(m, 10, buffers=1)
    with pytest.raises(ArgumentError, match=r"^chunk = 100"):
        region.Region(m, 10, chunk=100)
    with pytest.raises(ArgumentError, match="deadline = 0"):
        region.Region(m, 10, deadline=0)
    with pytest.raises(ArgumentError, match="128 bytes"):
        region.Region(m, 100, bounds=[3])
    x = region.Region(m, 100, deadline=0.05)
    with pytest.raises(ArgumentError, match="has 100 elements"):
        x.load(np.zeros(99))
    with pytest.raises(ElementTypeError, match="astype"):
        x.load(np.zeros(100, complex))
    x.load(range(100))
    with pytest.raises(ArgumentError, match="pe = 2"):
        x.wait(2)
    with pytest.raises(ArgumentError, match="no streams of CUDA"):
        x.wait(0, stream=7)
    with pytest.raises(RangeError, match=r"^Region\.commit: .* its part is"):
        x.commit(0, 90, 100)
    x.wait(0)
    x.commit(0, 0, 8)
    with pytest.raises(RegionError, match="element 4 of PE 0 was committed twice"):
        x.commit(0, 4, 12)
    with pytest.raises(RegionError, match="PE 0 waits for epoch 1, and PE 0 has not committed element 8"):
        x.wait(0, 1)
    x.commit(0, 8)
    with pytest.raises(RegionError, match=r"has waited 0\.05 s for epoch 1, and PE 1 has not committed element"):
        x.wait(0, 1)
    with pytest.raises(RegionError, match="has not waited for epoch 1"):
        x.commit(0)
    with pytest.raises(ArgumentError, match="epoch 1"):
        x.read(1)
