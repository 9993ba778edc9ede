"""Task flow: memory that contexts share, that functions of the user give, and places that data can be named to."""

from __future__ import annotations

import gc
import signal
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_gpus, on_virtual_devices

DEVICE, GRID = stf.exec_place.device, stf.exec_place.all_devices
BACKENDS = ("stream", "graph", "automatic")


def double(v):
    v *= 2


def double_on(ctx, data, places):
    """By copies at these places in turn, and functions of the host."""
    for place in places:
        ctx.prefetch(data, place)
        ctx.host_launch(double, data.rw())
        ctx.fence()


# ---- resources ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_context_leaves_the_next_one_takes(devices, rng, backend):
    m = devices(2)
    shared = stf.resources(m)
    places = [stf.data_place.device(i % 2) for i in range(4)]
    bytes_before = None
    for n in (300, 17, 300):
        a = rng.random(n)
        expected = a * 16
        with stf.context(resources=shared, backend=backend) as ctx:
            assert ctx.machine.size == 2
            double_on(ctx, ctx.logical_data(a), places)
        np.testing.assert_array_equal(a, expected)
        del ctx
        gc.collect()
        idle = shared.idle()
        assert idle.contexts == 1
        assert bytes_before in (None, idle.bytes)
        bytes_before = idle.bytes
    assert (shared.idle().graphs > 0) == (backend == "graph")
    assert bytes_before
    assert "1 contexts" in repr(shared)
    shared.release()
    assert shared.idle() == stf.IdleResources(0, 0, 0)


def test_a_graph_is_found_again(devices):
    shared = stf.resources(devices(1), graphs_kept=1)
    a = np.ones(5)
    reused = []
    for _ in range(3):
        with stf.context(resources=shared, backend="graph") as ctx:
            ctx.host_launch(double, ctx.logical_data(a).rw())
        reused.append(ctx.statistics().graphs_reused)
        del ctx
        gc.collect()
    assert reused == [0, 1, 1]
    np.testing.assert_array_equal(a, 8)


def test_threads_share_resources(devices, rng):
    shared = stf.resources(devices(2))
    arrays = [rng.random(50 + i) for i in range(3)]
    expected = [8 * 64 * a for a in arrays]
    places = [stf.data_place.device(i % 2) for i in range(3)]

    def work(a):
        for backend in BACKENDS:
            with stf.context(resources=shared, backend=backend) as ctx:
                double_on(ctx, ctx.logical_data(a), places)

    threads = [threading.Thread(target=work, args=(a,)) for a in arrays]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(a, wanted)


def test_resources_may_go_before_contexts(devices):
    a = np.ones(4)
    ctx = stf.context(resources=stf.resources(devices(1)))
    gc.collect()
    ctx.host_launch(double, ctx.logical_data(a).rw())
    ctx.finalize()
    np.testing.assert_array_equal(a, 2)


def test_wrong_resources(devices):
    shared = stf.resources(devices(2))
    with pytest.raises(errors.ArgumentError, match="another machine"):
        stf.context(devices(1), resources=shared)
    for wrong in (devices(2), 3, "shared"):
        with pytest.raises(errors.ElementTypeError, match=r"starling\.stf\.resources"):
            stf.context(devices(2), resources=wrong)
    with pytest.raises(errors.ArgumentError, match="graphs_kept = -1"):
        stf.resources(devices(1), graphs_kept=-1)
    with pytest.raises(errors.ElementTypeError, match=r"graphs_kept = 1\.5"):
        stf.resources(devices(1), graphs_kept=1.5)
    with pytest.raises(errors.ArgumentError, match="devices = 0"):
        stf.resources(0)


# ---- allocators ----


class Heap:
    """Gives arrays full of ones, up to a number of bytes, and remembers what it gave."""

    def __init__(self, most: int = 2**40) -> None:
        self.most = most
        self.asked: list[tuple[int, int | None]] = []
        self.given: list[Any] = []

    def __call__(self, nbytes: int, device: int | None, stream: int) -> Any:
        self.asked.append((nbytes, device))
        if nbytes > self.most:
            return None
        if on_gpus and device is not None:
            import cupy

            with cupy.cuda.Device(device), cupy.cuda.ExternalStream(stream, device):
                array = cupy.full(nbytes + 255, 255, "u1")
        else:
            array = np.full(nbytes + 255, 255, "u1").view(Watched)
        self.given.append(weakref.ref(array))
        return array

    def out(self) -> int:
        """Arrays that are not gone."""
        return sum(given() is not None for given in self.given)


class Watched(np.ndarray):
    """An array that can be watched."""


@computes_in_bodies
@pytest.mark.parametrize("backend", BACKENDS)
def test_memory_of_a_function(devices, rng, backend):
    heap = Heap()
    a = rng.random(100)
    expected = 16 * a
    with stf.context(devices(2), backend=backend, device_allocator=heap) as ctx:
        x = ctx.logical_data(a)
        t = ctx.logical_data(shape=100)
        double_on(ctx, x, [stf.data_place.device(i % 2) for i in range(4)])
        ctx.host_launch(lambda v, w: w.__setitem__(slice(None), v), x.read(), t.write())
        np.testing.assert_array_equal(ctx.wait(t), expected)
        assert heap.out() == 2
    np.testing.assert_array_equal(a, expected)
    assert {device for _, device in heap.asked} == {0, 1}
    assert heap.out() == 0


@on_virtual_devices
def test_memory_of_the_host(devices):
    heap = Heap()
    with stf.context(devices(1), host_allocator=heap) as ctx:
        t = ctx.logical_data(shape=10)
        ctx.host_launch(lambda v: v.fill(3), t.write())
        np.testing.assert_array_equal(ctx.wait(t), 3)
        assert heap.out() == 1
    assert {device for _, device in heap.asked} == {None}
    assert heap.out() == 0


@on_virtual_devices
def test_a_workspace(devices):
    """One array of the user is all that the context has, however much its data is."""
    workspace = np.zeros(4096 + 255, "u1")
    rows = np.ones((20, 128))
    with stf.context(
        devices(1), device_memory=4096, device_allocator=lambda nbytes, device, stream: workspace[: nbytes + 255]
    ) as ctx:
        data = [ctx.logical_data(row) for row in rows]
        for _ in range(3):
            for x in data:
                with ctx.task(x.rw()) as t:
                    (v,) = t.views()
                    assert np.shares_memory(v, workspace)
                    v += 1
        assert ctx.statistics().evictions > 0
    np.testing.assert_array_equal(rows, 4)


@on_virtual_devices
def test_a_view_keeps_the_memory(devices):
    heap = Heap()
    ctx = stf.context(devices(1), device_allocator=heap)
    with ctx.task(ctx.logical_data(np.arange(4.0)).read()) as t:
        (view,) = t.views()
    part = view[1:3]
    ctx.finalize()
    del t, view
    assert heap.out() == 1
    np.testing.assert_array_equal(part, [1, 2])
    del part
    assert heap.out() == 0


@on_virtual_devices
def test_recordings_hold_memory(devices):
    heap = Heap()
    a = np.ones(3)
    with stf.context(devices(1), device_allocator=heap, host_allocator=heap) as ctx:
        x = ctx.logical_data(a)
        step = ctx.record(lambda: ctx.host_launch(double, x.rw()))
        step.launch(3)
        ctx.synchronize()
    del step
    np.testing.assert_array_equal(a, 8)


@on_virtual_devices
def test_a_context_and_its_function_are_collected(devices):
    """The function refers to the context, and the context to the function."""

    class Ring:
        ctx: stf.Context

        def __call__(self, nbytes, device, stream):
            return np.zeros(nbytes + 255, "u1")

    ring = Ring()
    ring.ctx = stf.context(devices(1), device_allocator=ring)
    with ring.ctx.task(ring.ctx.logical_data(np.ones(3)).rw()) as t:
        t.views()
    gone = weakref.ref(ring)
    del ring, t
    gc.collect()
    assert gone() is None


def raises(nbytes, device, stream):
    raise RuntimeError("the pool is closed")


def calls_a_context(nbytes, device, stream):
    with stf.context(1) as other:
        other.token()


@on_virtual_devices
@pytest.mark.parametrize(
    ("allocate", "text"),
    [
        (lambda n, d, s: None, "the allocator of device 0 gave none of"),
        (raises, "RuntimeError: the pool is closed"),
        (lambda: None, "TypeError: .*positional argument"),
        (lambda n, d, s: 4096, "gave a int; give an array with __array_interface__"),
        (lambda n, d, s: bytearray(n), "gave a bytearray"),
        (lambda n, d, s: np.zeros(n - 1, "u1"), "255 bytes at .* where 256 were asked for"),
        (lambda n, d, s: np.zeros((n + 255, 2), "u1")[:, 0], r"strides \(2,\); give one that is C-contiguous"),
        (lambda n, d, s: np.frombuffer(bytes(n + 255), "u1"), "read-only"),
        (calls_a_context, "in a function of host_launch or of an allocator"),
    ],
)
def test_functions_that_give_nothing(devices, allocate, text):
    a = np.ones(4)
    ctx = stf.context(devices(1), device_allocator=allocate)
    x = ctx.logical_data(a)
    with pytest.raises(errors.OutOfMemory, match=text), ctx.task(x.rw()):
        pass
    ctx.host_launch(double, x.rw())  # the context goes on with what it has
    ctx.finalize()
    np.testing.assert_array_equal(a, 2)
    assert gc.isenabled()


@on_virtual_devices
def test_a_function_that_has_more_later(devices):
    heap = Heap(most=0)
    ctx = stf.context(devices(1), device_allocator=heap)
    x = ctx.logical_data(np.ones(4))
    with pytest.raises(errors.OutOfMemory), ctx.task(x.rw()):
        pass
    heap.most = 10_000
    with ctx.task(x.rw()) as t:
        double(t.views()[0])
    np.testing.assert_array_equal(ctx.wait(x), 2)
    ctx.finalize()


@on_virtual_devices
def test_an_interrupt_is_not_lost(devices):
    def interrupted(nbytes, device, stream):
        raise KeyboardInterrupt

    ctx = stf.context(devices(1), device_allocator=interrupted)
    x = ctx.logical_data(np.ones(4))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            with pytest.raises(errors.OutOfMemory), ctx.task(x.rw()):
                pass
            for _ in range(1000):
                pass
    finally:
        signal.signal(signal.SIGINT, before)
    ctx.finalize()


def test_what_is_no_function(devices):
    for name in ("device_allocator", "host_allocator"):
        with pytest.raises(errors.ElementTypeError, match=f"{name} = 3 is no function"):
            stf.context(devices(1), **{name: 3})


# ---- places ----


@computes_in_bodies
@pytest.mark.parametrize("backend", ["stream", "automatic"])
def test_managed_memory(devices, backend):
    a = np.ones(50)
    managed = stf.data_place.managed()
    starts = set()
    with stf.context(devices(2), backend=backend) as ctx:
        x = ctx.logical_data(a)
        for _ in range(3):
            for device in range(2):
                with ctx.task(x.rw(managed), where=DEVICE(device)) as t:
                    (v,) = t.views()
                    v += 1
                    starts.add(v.__array_interface__["data"][0] if not on_gpus else v.data.ptr)
            ctx.host_launch(double, x.rw(managed))
        with ctx.task(x.rw(managed), where=GRID()) as t:
            (v,) = t.views()
            v += 1
    np.testing.assert_array_equal(a, ((1 + 2) * 2 + 2) * 4 + 4 + 1)
    assert len(starts) == 1
    s = ctx.statistics()
    assert s.copies == 2  # there and back
    assert s.places[-1].managed
    assert s.places[-1].most_in_use >= a.nbytes
    assert [p.name for p in s.places] == ["device 0", "device 1", "host", "managed"]
    assert "managed" in ctx._repr_html_()


@computes_in_bodies
def test_managed_memory_outside_of_tasks(devices):
    a = np.arange(6.0)
    managed = stf.data_place.managed()
    with stf.context(devices(2)) as ctx:
        x = ctx.logical_data(a)
        ctx.prefetch(x, managed)
        with ctx.freeze(x.rw(managed)) as f:
            v = f.view()
            v += 1
        with ctx.split(x, 3, place=managed) as parts:
            for i, part in enumerate(parts):
                with ctx.task(part.rw(managed), where=DEVICE(i % 2)) as t:
                    (v,) = t.views()
                    v += 10 * i
    np.testing.assert_array_equal(a, [1, 2, 13, 14, 25, 26])


def test_the_devices_of_a_place(devices):
    with stf.context(devices(2)) as ctx:
        assert ctx.places() == (DEVICE(0), DEVICE(1))
        assert ctx.places(stf.exec_place.grid([1, 0, 1])) == (DEVICE(1), DEVICE(0), DEVICE(1))
        assert ctx.places(DEVICE(1)) == (DEVICE(1),)
        assert ctx.places(stf.exec_place.host()) == (stf.exec_place.host(),)
        with pytest.raises(errors.ArgumentError, match="names no devices"):
            ctx.places(stf.exec_place.automatic())
        with pytest.raises(errors.RangeError, match="device 2"):
            ctx.places(DEVICE(2))
        with pytest.raises(errors.ElementTypeError, match="place = 1 is a int"):
            ctx.places(1)


@computes_in_bodies
def test_a_copy_on_each_device(devices):
    a, sums = np.arange(8.0), np.zeros(2)
    everywhere = stf.data_place.replicated()
    with stf.context(devices(2)) as ctx:
        x, y = ctx.logical_data(a), ctx.logical_data(sums)
        ctx.prefetch(x, everywhere)
        with ctx.task(x.read(everywhere), y.rw(stf.data_place.device(0)), where=GRID()) as t:
            assert t.devices == (0, 1)
            copies = [t.views(i) for i in range(2)]
            for i, (v, s) in enumerate(copies):
                s[i] = v.sum() + i
            assert t.views() is t.views(0)
            if not on_gpus:
                assert not np.shares_memory(copies[0][0], copies[1][0])
                assert np.shares_memory(copies[0][1], copies[1][1])
                assert not copies[1][0].flags.writeable
            with pytest.raises(errors.ArgumentError, match="device = 2"):
                t.views(2)
        assert ctx.statistics().copies >= 2
    np.testing.assert_array_equal(sums, [28, 29])


def test_what_cannot_have_a_copy_on_each_device(devices):
    everywhere = stf.data_place.replicated()
    assert repr(everywhere) != repr(stf.data_place.managed())
    assert everywhere != stf.data_place.managed()
    assert everywhere.is_replicated
    with stf.context(devices(2)) as ctx:
        x = ctx.logical_data(np.ones(3), name="x")
        with pytest.raises(errors.ArgumentError, match="replicated"), ctx.task(x.rw(everywhere), where=GRID()):
            pass
        with pytest.raises(errors.ElementTypeError, match="data_place"):
            x.read("managed")


@on_virtual_devices
def test_the_last_use_goes_first(devices):
    """Two pieces of data fit. The one that is not needed again leaves, though the other was used longer ago."""
    with stf.context(devices(1), device_memory=2048) as ctx:
        x, y, z = (ctx.logical_data(np.full(100, float(i)), name=n) for i, n in enumerate("xyz"))
        for access in (x.read(), y.read().last_use(), z.read()):
            with ctx.task(access) as t:
                t.views()
        before = ctx.statistics()
        with ctx.task(x.read()) as t:
            np.testing.assert_array_equal(t.views()[0], 0)
        assert ctx.statistics().copies == before.copies
        with ctx.task(y.rw().last_use()) as t:
            t.views()[0].fill(9)
        np.testing.assert_array_equal(ctx.wait(y), 9)


@on_virtual_devices
def test_secret_data_is_wiped(devices):
    workspace = np.zeros(4096 + 255, "u1")
    key = np.full(64, 0x5A, "u1")
    ctx = stf.context(
        devices(1), device_memory=4096, device_allocator=lambda nbytes, device, stream: workspace[: nbytes + 255]
    )
    x = ctx.logical_data(key, secret=True, write_back=False)
    t = ctx.logical_data(shape=64, dtype="u1", secret=True)
    with ctx.task(x.read(), t.write()) as task:
        from_, to = task.views()
        to[:] = from_
        assert (workspace == 0x5A).sum() >= 128
    del x, t, from_, to
    ctx.finalize()
    assert not (workspace == 0x5A).any()
