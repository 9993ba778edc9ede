"""Wrong use of bodies of tasks, and bodies that fail: every mistake is an error, and the context stays usable."""

from __future__ import annotations

import contextlib
import gc
import threading

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_virtual_devices

HOST = stf.exec_place.host


@pytest.fixture
def ctx(devices):
    with stf.context(devices(2)) as c:
        yield c


@on_virtual_devices
def test_views_of_what_is_read(ctx):
    a = np.arange(4.0)
    x = ctx.logical_data(a)
    for where in (None, HOST()):
        with ctx.task(x.read(), where=where) as t:
            (v,) = t.views()
            with pytest.raises(ValueError, match="read-only"):
                v[0] = 5
            with pytest.raises(ValueError, match="WRITEABLE"):
                v.flags.writeable = True
    ctx.host_launch(lambda v: v.__setitem__(0, 5), x.read())
    with pytest.raises(ValueError, match="read-only"):
        ctx.synchronize()
    np.testing.assert_array_equal(a, np.arange(4.0))


@on_virtual_devices
def test_views_after_their_task(devices):
    """They stay safe to look at, and arrays that were views cannot be written."""
    a = np.arange(1000.0)
    ctx = stf.context(devices(1), device_memory=3 * 8192)
    x = ctx.logical_data(a)
    kept = []
    with ctx.task(x.rw()) as t:
        (v,) = t.views()
        assert t.views()[0] is v
        v += 1
        kept += [v, v[10:20], v.reshape(10, 100)]
    with pytest.raises(ValueError, match="read-only"):
        v += 1
    for use in (t.views, lambda t=t: t.stream, lambda t=t: t.devices):
        with pytest.raises(errors.ArgumentError, match="outside of its body"):
            use()
    ctx.host_launch(lambda view: kept.append(view), x.rw())
    # Other data where x was.
    for _ in range(5):
        other = ctx.logical_data(np.full(1000, np.nan))
        with ctx.task(other.read()):
            pass
    np.testing.assert_array_equal(ctx.wait(x), np.arange(1000) + 1)
    with pytest.raises(ValueError, match="read-only"):
        kept[-1][0] = 0
    ctx.finalize()
    del ctx, x, other, t
    gc.collect()
    for view in kept:
        assert float(view.reshape(-1)[0]) == view.reshape(-1)[0] or np.isnan(view.reshape(-1)[0])
    np.testing.assert_array_equal(a, np.arange(1000) + 1)


def test_views_before_their_task(ctx):
    t = ctx.task(ctx.logical_data(np.zeros(3)).read(), where=HOST())
    with pytest.raises(errors.ArgumentError, match="outside of its body"):
        t.views()
    with t:
        pass
    with pytest.raises(errors.ArgumentError, match="begun already"), t:
        pytest.fail("the body runs")


@computes_in_bodies
def test_an_exception_in_a_body(devices):
    a, b = np.zeros(3), np.zeros(3)
    ctx = stf.context(devices(1))
    x, y = ctx.logical_data(a, name="x"), ctx.logical_data(b)
    with pytest.raises(ZeroDivisionError), ctx.task(x.rw(), name="bad"):
        raise ZeroDivisionError
    for use in (
        lambda: ctx.task(x.read(), y.rw(), where=HOST()).__enter__(),
        lambda: ctx.host_launch(print, x.read()),
        lambda: ctx.wait(x),
    ):
        with pytest.raises(stf.TaskError, match="'x', which has no value: task 'bad' threw"):
            use()
    assert issubclass(stf.TaskError, errors.Error)
    assert issubclass(stf.TaskError, RuntimeError)
    # Whoever would have written y has failed with it, until somebody does.
    with ctx.task(y.write()) as t:
        t.views()[0][...] = 3
    with pytest.raises(stf.TaskError, match="'x' was not written back"):
        ctx.finalize()
    np.testing.assert_array_equal(b, 3)
    # And with a new value all is well.
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(a)
        with pytest.raises(KeyboardInterrupt), ctx.task(x.rw()):
            raise KeyboardInterrupt
        with ctx.task(x.write()) as t:
            t.views()[0][...] = 7
    np.testing.assert_array_equal(a, 7)


@pytest.mark.parametrize("backend", ["stream", "graph"])
def test_an_exception_in_a_function(devices, backend):
    class Mine(BaseException):
        pass

    ran = []
    submitted = threading.Event()
    problem = Mine("as it was thrown")
    ctx = stf.context(devices(1), backend=backend)
    x, y = ctx.logical_data(np.zeros(3), name="x"), ctx.logical_data(np.zeros(3))

    @ctx.host_launch(x.rw())
    def wrong(v):
        # The others are submitted by then: one that comes later is refused at once.
        submitted.wait(10)
        raise problem

    ctx.host_launch(lambda v, w: ran.append("after x"), x.read(), y.rw())
    ctx.host_launch(lambda w: ran.append("after y"), y.read())
    ctx.host_launch(lambda: ran.append("alone"))
    submitted.set()
    with pytest.raises(Mine) as raised:
        ctx.synchronize()
    assert raised.value is problem
    ctx.synchronize()
    assert ran == ["alone"]
    with pytest.raises(stf.TaskError, match="'x', which has no value: host function 'wrong' raised Mine") as told:
        ctx.wait(x)
    assert told.value.__cause__ is problem
    ctx.host_launch(lambda v: v.fill(1), x.write())
    np.testing.assert_array_equal(ctx.wait(x), 1)
    ctx.host_launch(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        ctx.finalize()
    ctx.finalize()


@on_virtual_devices
def test_a_body_after_a_function_that_failed(devices):
    ctx = stf.context(devices(1))
    x = ctx.logical_data(np.zeros(3), name="x")
    ctx.host_launch(lambda v: 1 // 0, x.rw())
    with pytest.raises(stf.TaskError, match=r"<lambda>.* raised ZeroDivisionError"), ctx.task(x.rw()):
        pytest.fail("the body runs")
    with ctx.task(x.write()) as t:
        t.views()[0][...] = 1
    with ctx.task(x.read()) as t:
        assert t.views()[0][0] == 1
    with pytest.raises(ZeroDivisionError):
        ctx.finalize()


def test_calls_within_a_body(ctx):
    a = np.zeros(3)
    x, y = ctx.logical_data(a, name="x"), ctx.logical_data(np.zeros(3))
    for accesses in ((x.rw(),), ()):
        with ctx.task(*accesses, where=HOST()):
            for call in (ctx.fence, ctx.synchronize, ctx.finalize, lambda: ctx.wait(x), lambda: ctx.wait(y)):
                with pytest.raises(errors.ArgumentError, match="within the body of a task"):
                    call()
    with ctx.task(x.rw(), where=HOST()) as t:
        with pytest.raises(errors.ArgumentError, match="'x' was submitted from within the body"):
            ctx.host_launch(print, x.read())
        with pytest.raises(errors.ArgumentError, match="'x' was submitted"), ctx.task(x.read(), where=HOST()):
            pytest.fail("the body runs")
        # Other data is no problem.
        with ctx.task(y.rw(), where=HOST()) as inner:
            inner.views()[0][...] = 1
        t.views()[0][...] = 2
    np.testing.assert_array_equal(ctx.wait(y), 1)
    np.testing.assert_array_equal(ctx.wait(x), 2)


def test_bodies_on_two_threads_that_want_the_data_of_each_other(ctx):
    x, y = ctx.logical_data(np.zeros(3)), ctx.logical_data(np.zeros(3))
    both = threading.Barrier(2)
    refused = []

    def cross(mine, other):
        with ctx.task(mine.rw(), where=HOST()):
            both.wait(60)
            try:
                with ctx.task(other.rw(), where=HOST()) as t:
                    t.views()[0][...] += 1
            except errors.ArgumentError as problem:
                refused.append(str(problem))

    second = threading.Thread(target=cross, args=(y, x))
    second.start()
    cross(x, y)
    second.join()
    assert ["one after the other" in text for text in refused] == [True]
    assert sorted([ctx.wait(x)[0], ctx.wait(y)[0]]) == [0, 1]


def test_calls_within_a_function(ctx):
    x, y = ctx.logical_data(np.zeros(3)), ctx.logical_data(np.zeros(3))
    calls = [
        ctx.fence,
        ctx.synchronize,
        ctx.finalize,
        ctx.token,
        lambda: ctx.wait(x),
        lambda: ctx.task(y.read()),
        lambda: ctx.host_launch(print, y.read()),
        lambda: ctx.logical_data(np.zeros(3)),
    ]
    refused = []

    @ctx.host_launch(x.read())
    def curious(v):
        for call in calls:
            try:
                call()
            except errors.ArgumentError as error:
                refused.append("in a function of host_launch" in str(error))

    ctx.synchronize()
    assert refused == [True] * len(calls)


def test_the_same_data_twice_in_a_task(ctx):
    x = ctx.logical_data(np.zeros(3), name="x")
    with ctx.task(x.read(), x.rw(), where=HOST()) as t:
        a, b = t.views()
        b += 1
        np.testing.assert_array_equal(a, 1)
    both = ctx.task(x.read(stf.data_place.device(0)), x.rw(stf.data_place.device(1)))
    with pytest.raises(errors.ArgumentError, match="used twice"), both:
        pytest.fail("the body runs")


def test_a_task_that_ends_on_another_thread(ctx):
    a = np.zeros(3)
    x = ctx.logical_data(a, name="x")

    def body():
        with ctx.task(x.rw(), where=HOST(), name="wanders") as t:
            yield t

    steps = body()
    next(steps)
    problems = []

    def go_on():
        try:
            next(steps)
        except errors.ArgumentError as problem:
            problems.append(str(problem))

    thread = threading.Thread(target=go_on)
    thread.start()
    thread.join()
    assert ["another thread" in p for p in problems] == [True]
    with pytest.raises(stf.TaskError, match="wanders"):
        ctx.wait(x)
    with ctx.task(x.write(), where=HOST()):
        pass


@on_virtual_devices
def test_graphs_and_bodies(devices):
    with stf.context(devices(1), backend="graph") as ctx:
        x = ctx.logical_data(np.zeros(3))
        with pytest.raises(errors.Unsupported, match="host_launch"):
            ctx.task(x.rw())


def test_a_block_that_is_left_by_an_exception(devices, caplog):
    a = np.zeros(3)
    ctx = stf.context(devices(1))
    ctx.host_launch(lambda v: v.fill(1), ctx.logical_data(a).rw())
    ctx.host_launch(lambda: 1 // 0)
    with pytest.raises(LookupError), ctx:
        raise LookupError
    np.testing.assert_array_equal(a, 1)
    assert "while it ended for LookupError" in caplog.text
    with contextlib.suppress(errors.ArgumentError):
        ctx.fence()
        pytest.fail("the context goes on")
