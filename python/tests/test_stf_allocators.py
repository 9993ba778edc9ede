"""Task flow: memory that functions of the user give."""

from __future__ import annotations

import gc
import signal
import weakref
from typing import Any

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_gpus, on_virtual_devices
from stf_tasks import BACKENDS, double, double_on


class Heap:
    """Gives arrays full of ones, up to a number of bytes, and remembers what it gave. `gpus`: what CUDA calls each
    device, several of which may share one; CuPy does not stand a number that there is not."""

    def __init__(self, most: int = 2**40, gpus: list[int] | None = None) -> None:
        self.most = most
        self.gpus = gpus
        self.asked: list[tuple[int, int | None]] = []
        self.given: list[Any] = []

    def __call__(self, nbytes: int, device: int | None, stream: int) -> Any:
        self.asked.append((nbytes, device))
        if nbytes > self.most:
            return None
        if on_gpus and device is not None:
            import cupy

            assert self.gpus is not None
            gpu = self.gpus[device]
            with cupy.cuda.Device(gpu), cupy.cuda.ExternalStream(stream, gpu):
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
    m = devices(2)
    heap = Heap(gpus=[d.id for d in m.devices])
    a = rng.random(100)
    expected = 16 * a
    with stf.context(m, backend=backend, device_allocator=heap) as ctx:
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
