"""Wrong use of task flow: every mistake is an error that names it, and the context stays usable."""

from __future__ import annotations

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_virtual_devices

HOST = stf.exec_place.host


@pytest.fixture
def ctx(devices):
    with stf.context(devices(2)) as c:
        yield c


@pytest.mark.parametrize(
    ("array", "error", "text"),
    [
        ([1.0, 2.0], errors.ElementTypeError, "array is a list"),
        (3.0, errors.ElementTypeError, "array is a float"),
        (np.array(["a"]), errors.ElementTypeError, "numbers"),
        (np.array([object()]), errors.ElementTypeError, "numbers"),
        (np.zeros(3, dtype=[("a", "f4")]), errors.ElementTypeError, "numbers"),
        (np.zeros(3, dtype=">f8"), errors.ElementTypeError, "byte order"),
        (np.ma.zeros(3), errors.ElementTypeError, "masked"),
        (np.array(1.0), errors.ArgumentError, "0 dimensions"),
        (np.zeros((1, 1, 1, 1, 1)), errors.ArgumentError, "5 dimensions"),
        (np.zeros(10)[::2], errors.ArgumentError, "strides (16,)"),
        (np.zeros(10)[::-1], errors.ArgumentError, "strides (-8,)"),
        (np.zeros((4, 4)).T[:, :2], errors.ArgumentError, "strides (8, 32)"),
        (np.zeros((4, 4))[::-1], errors.ArgumentError, "contiguous rows"),
        (np.zeros((4, 4), order="F"), errors.ArgumentError, "C-contiguous"),
        (np.zeros((3, 4, 5))[:, :2], errors.ArgumentError, "C-contiguous"),
        (np.broadcast_to(np.zeros(4), (3, 4)), errors.ArgumentError, "strides (0, 8)"),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(9), 4), errors.ArgumentError, "strides (8, 8)"),
    ],
)
def test_arrays(ctx, array, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(").replace(")", r"\)")):
        ctx.logical_data(array)


BASE = np.zeros((8, 8))


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (BASE, BASE, True),
        (BASE[:3], BASE[1:], True),
        (BASE[:3], BASE[3:], False),
        (BASE[2:5, 2:5], BASE[4:, 4:], True),
        (BASE[2:5, 2:5], BASE[5:, 5:], False),
        (BASE[:, :4], BASE[:, 4:], False),  # side by side in all rows
        (BASE[:, :5], BASE[:, 4:], True),
        (BASE[::2], BASE[1::2], False),
        (BASE[::2, :4], BASE[1, :4], False),
        (BASE[::3, 2:5], BASE[3, 4:6], True),
        (BASE[:, :3], BASE[5], True),
        (BASE[0], BASE.view("u1")[0, 63:], True),
        (BASE[:0], BASE, False),
    ],
)
def test_arrays_that_overlap(ctx, one, other, overlap):
    assert np.shares_memory(one, other) == overlap
    for first, second in ((one, other), (other, one)):
        x = ctx.logical_data(first, name="x")
        if overlap:
            with pytest.raises(errors.ArgumentError, match=r"the array overlaps that of logical data 'x'.*pass a copy"):
                ctx.logical_data(second)
        else:
            ctx.logical_data(second)
        del x


def test_an_array_may_be_given_again_when_its_data_is_gone(ctx):
    a = np.zeros(4)
    for _ in range(3):
        ctx.host_launch(lambda v: np.add(v, 1, out=v), ctx.logical_data(a).rw())
        ctx.synchronize()
    x = ctx.logical_data(a)
    ctx.host_launch(lambda v: np.add(v, 1, out=v), x.rw())
    ctx.finalize()
    assert a.tolist() == [4] * 4
    with pytest.raises(errors.ArgumentError, match="finalized"):
        ctx.logical_data(a)


@computes_in_bodies
def test_an_array_that_is_given_again_has_its_value(ctx):
    """Its value may still be on a device, or on its way."""
    a = np.zeros(50_000)
    for i in range(20):
        with ctx.task(ctx.logical_data(a).rw(), where=stf.exec_place.device(i % 2)) as t:
            (v,) = t.views()
            v += 1
    with (
        pytest.raises(errors.ArgumentError, match="other logical data has had, within the body of a task"),
        ctx.task(where=HOST()),
    ):
        ctx.logical_data(a[1:])
    x = ctx.logical_data(a[1:])
    assert ctx.wait(x).tolist() == [20] * 49_999


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, errors.ArgumentError, "neither an array nor a shape"),
        ({"shape": ()}, errors.ArgumentError, "0 dimensions"),
        ({"shape": (1,) * 5}, errors.ArgumentError, "5 dimensions"),
        ({"shape": (2, -1)}, errors.ArgumentError, r"shape\[1\] = -1"),
        ({"shape": 2.5}, errors.ElementTypeError, "shape = 2.5"),
        ({"shape": "4"}, errors.ElementTypeError, "shape = '4'"),
        ({"shape": (2, 2.5)}, errors.ElementTypeError, r"shape\[1\] = 2.5"),
        ({"shape": (2**40, 2**40)}, errors.ArgumentError, "too many"),
        ({"shape": 4, "dtype": "no"}, errors.ElementTypeError, "dtype = 'no'"),
        ({"shape": 4, "dtype": "U4"}, errors.ElementTypeError, "numbers"),
        ({"shape": 4, "name": 3}, errors.ElementTypeError, "name = 3"),
        ({"array": np.zeros(3), "shape": 3}, errors.ArgumentError, "leave them out"),
        ({"array": np.zeros(3), "dtype": "f8"}, errors.ArgumentError, "leave them out"),
    ],
)
def test_shapes(ctx, arguments, error, text):
    with pytest.raises(error, match=text):
        ctx.logical_data(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"devices": 0}, errors.ArgumentError, "devices = 0"),
        ({"devices": 2.5}, errors.ElementTypeError, "devices = 2.5"),
        ({"devices": "many"}, errors.ArgumentError, "machine = 'many'"),
        ({"backend": "streams"}, errors.ArgumentError, "backend = 'streams'"),
        ({"device_memory": -1}, errors.ArgumentError, "device_memory = -1"),
        ({"device_memory": "lots"}, errors.ArgumentError, "device_memory"),
        ({"device_memory": 1.5}, errors.ElementTypeError, "device_memory = 1.5"),
    ],
)
def test_contexts(arguments, error, text):
    with pytest.raises(error, match=text):
        stf.context(**arguments)


def test_data_of_another_context(ctx, devices):
    with stf.context(devices(2)) as other:
        x = other.logical_data(np.zeros(3), name="x")
        for use in (ctx.task, lambda a: ctx.host_launch(print, a), lambda a: ctx.wait(x)):
            with pytest.raises(errors.ArgumentError, match="logical data 'x' belongs to another context"):
                use(x.read())


def test_what_is_no_access(ctx):
    x = ctx.logical_data(np.zeros(3))
    for wrong in (x, np.zeros(3), None):
        with pytest.raises(errors.ElementTypeError, match="read\\(\\), write\\(\\) or rw\\(\\)"):
            ctx.task(wrong)
        with pytest.raises(errors.ElementTypeError):
            ctx.host_launch(lambda v: None, wrong)
    with pytest.raises(errors.ElementTypeError, match="data_place"):
        x.read(HOST())
    with pytest.raises(errors.ElementTypeError, match="exec_place"):
        ctx.task(x.read(), where=1)
    with pytest.raises(errors.ElementTypeError, match="name = 3"):
        ctx.task(x.read(), name=3)
    with pytest.raises(errors.ElementTypeError):
        ctx.host_launch(3, x.read())

    async def later(v):
        pass

    with pytest.raises(errors.ElementTypeError, match="no plain function"):
        ctx.host_launch(later, x.read())
    for call in (ctx.wait, ctx.hash, lambda d: ctx.split(d, 2), lambda d: ctx.prefetch(d, stf.data_place.host())):
        for wrong in ("a", np.zeros(3), x.read()):
            with pytest.raises(
                errors.ElementTypeError, match=f"data is a {type(wrong).__name__}; pass logical data it"
            ):
                call(wrong)
    with pytest.raises(errors.ArgumentError, match="token has no value"):
        ctx.wait(ctx.token())


def test_after_the_end(devices):
    ctx = stf.context(devices(1))
    x = ctx.logical_data(np.zeros(3))
    ctx.finalize()
    ctx.finalize()
    assert "finalized" in repr(ctx)
    for use in (
        lambda: ctx.task(x.read(), name="late", where=HOST()).__enter__(),
        lambda: ctx.task(where=HOST()).__enter__(),
        lambda: ctx.host_launch(print, x.read()),
        lambda: ctx.logical_data(np.zeros(3)),
        lambda: ctx.logical_data(shape=3),
        ctx.token,
        ctx.fence,
        lambda: ctx.wait(x),
    ):
        with pytest.raises(errors.ArgumentError, match="finalized"):
            use()


@pytest.mark.parametrize("device", [2, 1000])
def test_unknown_devices(ctx, device):
    x = ctx.logical_data(np.zeros(3))
    for task in (
        ctx.task(x.read(), where=stf.exec_place.device(device)),
        ctx.task(x.read(), where=stf.exec_place.grid([0, device])),
        ctx.task(x.read(stf.data_place.device(device))),
    ):
        with pytest.raises(errors.RangeError, match=str(device)), task:
            pytest.fail("the body runs")
    with pytest.raises(errors.ArgumentError, match="no devices"):
        stf.exec_place.grid([])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: stf.exec_place.device(-1), errors.RangeError, "exec_place.device: device -1.*must be at least 0"),
        (lambda: stf.data_place.device(-5), errors.RangeError, "data_place.device: device -5.*must be at least 0"),
        (lambda: stf.exec_place.grid([0, -1]), errors.RangeError, "exec_place.grid: device -1.*must be at least 0"),
        (lambda: stf.exec_place.device("a"), errors.ElementTypeError, "device = 'a' is a str; pass a whole number"),
        (lambda: stf.exec_place.device(1.0), errors.ElementTypeError, "device = 1.0 is a float; pass a whole number"),
        (lambda: stf.exec_place.device(None), errors.ElementTypeError, "device = None"),
        (lambda: stf.data_place.device("a"), errors.ElementTypeError, "device = 'a' is a str; pass a whole number"),
        (lambda: stf.exec_place.device(2**40), errors.ArgumentError, "device = 1099511627776; must be at most"),
        (lambda: stf.exec_place.grid(3), errors.ElementTypeError, r"numbers = 3 is a int; pass .*\[0, 1\]"),
        (lambda: stf.exec_place.grid([0, "a"]), errors.ElementTypeError, "device = 'a'"),
    ],
)
def test_places_that_make_no_sense(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert stf.exec_place.device(np.int64(1)) == stf.exec_place.device(1)
    assert stf.exec_place.grid(np.arange(2)) == stf.exec_place.grid([0, 1])


def test_the_host_cannot_reach_devices(ctx):
    x = ctx.logical_data(np.zeros(3), name="x")
    on_device = stf.data_place.device(0)
    with pytest.raises(errors.ArgumentError, match="'add' runs on the host, which cannot reach data on device 0"):
        ctx.host_launch(lambda v: None, x.rw(on_device), name="add")
    with (
        pytest.raises(errors.ArgumentError, match="cannot reach data on device 0"),
        ctx.task(x.rw(on_device), where=HOST()),
    ):
        pytest.fail("the body runs")
    with ctx.task(x.rw(), where=HOST()) as t:
        t.views()[0].fill(1)
    assert ctx.wait(x).tolist() == [1, 1, 1]


def test_read_only_arrays(ctx):
    a = np.zeros(3)
    a.flags.writeable = False
    x = ctx.logical_data(a, name="x")
    for mode in (x.write, x.rw):
        with pytest.raises(errors.ArgumentError, match="'x' is a read-only array"):
            mode()


def test_data_without_a_value(ctx):
    x = ctx.logical_data(shape=3, name="x")
    for access in (x.read(), x.rw()):
        with pytest.raises(errors.ArgumentError, match="'x' is read, but nothing has been written"), ctx.task(access):
            pytest.fail("the body runs")


@computes_in_bodies
def test_data_that_does_not_fit(devices):
    with stf.context(devices(1), device_memory=4096) as ctx:
        x, y = ctx.logical_data(np.zeros(10_000)), ctx.logical_data(np.zeros(100))
        with pytest.raises(errors.OutOfMemory, match="4 KiB"), ctx.task(x.read()):
            pytest.fail("the body runs")
        with ctx.task(y.rw()) as t:
            t.views()[0][...] = 1


def test_drawings_that_nobody_asked_for(ctx):
    for draw in (ctx.dot, ctx.mermaid):
        with pytest.raises(errors.ArgumentError, match=r"stf.context\(drawing=True\)"):
            draw()


@on_virtual_devices
def test_virtual_devices_have_no_streams_to_fence(ctx):
    with pytest.raises(errors.Unsupported, match="virtual devices have no streams"):
        ctx.fence(0)
    with pytest.raises(errors.ArgumentError, match="stream = -1"):
        ctx.fence(-1)
    ctx.fence()
