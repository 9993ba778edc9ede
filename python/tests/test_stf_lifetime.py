"""Task flow: what lives how long. Handles, arrays, functions, contexts that nobody ends, and the end of Python."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
import pytest

from starling import stf
from stf_marks import computes_in_bodies
from test_process import python


class Values(np.ndarray):
    """An array that can be watched."""


def watched(n=4):
    a = np.zeros(n).view(Values)
    return a, weakref.ref(a)


def fill(ctx, access, value):
    """On device 0."""
    with ctx.task(access) as t:
        t.views()[0].fill(value)


@computes_in_bodies
def test_data_that_is_dropped_returns_to_its_array(devices):
    a = np.zeros(4)
    ctx = stf.context(devices(1))
    x = ctx.logical_data(a)
    fill(ctx, x.rw(), 2)
    del x
    gc.collect()
    ctx.host_launch(lambda: None)  # with work that comes later the value goes back
    ctx.synchronize()
    np.testing.assert_array_equal(a, 2)
    b = np.zeros(4)
    fill(ctx, ctx.logical_data(b).rw(), 3)
    ctx.finalize()
    np.testing.assert_array_equal(b, 3)
    assert all(p.in_use == 0 for p in ctx.statistics().places)


@computes_in_bodies
def test_memory_of_data_that_is_dropped_is_used_again(devices):
    ctx = stf.context(devices(1), device_memory=20_000)
    for i in range(50):
        x = ctx.logical_data(shape=1000)
        fill(ctx, x.write(), i)
        if i % 10 == 0:
            assert ctx.wait(x)[0] == i
    ctx.finalize()
    assert ctx.statistics().places[0].most_in_use <= 20_000


def test_arrays_live_until_the_end(devices):
    a, there = watched()
    ctx = stf.context(devices(1))
    x = ctx.logical_data(a)
    del a
    ctx.host_launch(lambda v: v.fill(1), x.rw())
    del x
    gc.collect()
    assert there() is not None
    ctx.finalize()
    gc.collect()
    assert there() is None


def test_functions_are_freed_when_they_have_run(devices):
    a, there = watched()
    ctx = stf.context(devices(1))
    ctx.host_launch(a.sum)
    del a
    ctx.synchronize()
    gc.collect()
    assert there() is None
    ctx.finalize()


def test_a_context_that_is_dropped_ends(devices):
    a = np.zeros(4)
    ctx = stf.context(devices(1))
    x = ctx.logical_data(a)
    gate = threading.Event()
    # The function refers to the context, and the context to the function that waits.
    ctx.host_launch(lambda v, ctx=ctx, x=x: (gate.wait(60), v.fill(5)), x.rw())
    gone = weakref.ref(ctx)
    del ctx, x
    gate.set()
    end = time.monotonic() + 60
    while gone() is not None and time.monotonic() < end:
        gc.collect()  # while the function runs, it keeps the context
    assert gone() is None
    np.testing.assert_array_equal(a, 5)


def test_a_context_that_dies_on_a_thread_of_a_stream(devices):
    """The collector may run anywhere: there the context cannot wait, so another thread ends it."""
    a = np.zeros(4)
    other = stf.context(devices(1))

    def lose():
        ctx = stf.context(devices(1))
        ctx.cycle = ctx
        ctx.host_launch(lambda v: v.fill(7), ctx.logical_data(a).rw())
        return weakref.ref(ctx)

    gc.disable()
    try:
        gone = lose()
        other.host_launch(lambda: gc.collect())
        other.synchronize()
    finally:
        gc.enable()
    for thread in threading.enumerate():
        if thread.name.startswith("Thread-"):
            thread.join(60)
    gc.collect()
    assert gone() is None
    np.testing.assert_array_equal(a, 7)
    other.finalize()


def test_handles_that_outlive_their_context(devices):
    ctx = stf.context(devices(1))
    x = ctx.logical_data(np.zeros(4))
    token = ctx.token()
    task = ctx.task(x.rw(), where=stf.exec_place.host())
    ctx.finalize()
    del ctx
    gc.collect()
    assert "LogicalData" in repr(x)
    del x, token, task
    gc.collect()


def test_a_task_that_is_dropped_in_its_body_has_failed(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros(4), name="x")

        def body():
            with ctx.task(x.rw(), where=stf.exec_place.host(), name="half") as t:
                yield t

        steps = body()
        next(steps)
        steps.close()
        with pytest.raises(stf.TaskError, match="half"):
            ctx.wait(x)
        ctx.host_launch(lambda v: v.fill(1), x.write())


START = (
    "import numpy as np, gc; from starling import stf; ctx = stf.context(2); a = np.zeros(4); x = ctx.logical_data(a)\n"
)


@pytest.mark.parametrize(
    "program",
    [
        "",
        "ctx.finalize()",
        "ctx.host_launch(lambda v: v.fill(1), x.rw())",
        "ctx.host_launch(lambda v, x=x: v.fill(1), x.rw())",
        # Work that is under way when Python ends, and refers to what it belongs to.
        "import time\nfor i in range(9): ctx.host_launch(lambda v, c=ctx: (time.sleep(.01), v.fill(i)), x.rw())",
        "t = ctx.task(x.read(), where=stf.exec_place.host())\nwith t: v, = t.views()\ndel ctx, x, t",
        "ctx.cycle = ctx; del ctx, x",
        "ctx = None; gc.collect(); x = None",
        "try:\n  ctx.wait(ctx.token())\nexcept Exception as error: kept = error",
    ],
)
def test_the_end_of_python_is_silent(program, pes_per_gpu):
    result = python("-X", "dev", "-c", START + program, STARLING_PES_PER_GPU=str(pes_per_gpu(2)))
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@computes_in_bodies
def test_the_end_of_python_ends_contexts(pes_per_gpu):
    """Work that is under way is done, values return from devices, and what failed is told."""
    result = python(
        "-c",
        "import atexit, time; atexit.register(lambda: print(a, b))\n"
        + START
        + "b = np.zeros(4); y = ctx.logical_data(b)\n"
        "with ctx.task(y.rw(), where=stf.exec_place.device(1)) as t: t.views()[0].fill(4)\n"
        "ctx.host_launch(lambda v: (time.sleep(.1), v.fill(3)), x.rw())\n"
        "ctx.host_launch(lambda: 1 // 0)\n",
        STARLING_PES_PER_GPU=str(pes_per_gpu(2)),
    )
    assert "ZeroDivisionError" in result.stderr
    assert "leak" not in result.stderr
    assert result.stdout == "[3. 3. 3. 3.] [4. 4. 4. 4.]\n"


def test_exit_in_a_body(pes_per_gpu):
    program = START + "import sys\nwith ctx.task(x.rw(), where=stf.exec_place.host()): sys.exit(3)"
    result = python("-c", program, STARLING_PES_PER_GPU=str(pes_per_gpu(2)))
    assert result.returncode == 3
    assert "has no value" in result.stderr or "was not written back" in result.stderr


@pytest.mark.parametrize("how", ["plain", "fails", "recorded", "left open"])
def test_rings_through_views_and_functions_are_collected(devices, how):
    """NumPy's arrays hide from the garbage collector what they hold on to: that must not lead back to the context."""

    def ring():
        ctx = stf.context(devices(1))
        x = ctx.logical_data(np.zeros(4))
        kept = [ctx]
        if how != "recorded":
            ctx.host_launch(lambda v: kept.append(v), x.rw())

        def function(v):
            kept.append((v, function))
            if how == "fails":
                raise ZeroDivisionError

        if how == "recorded":
            recording = ctx.record(lambda: ctx.host_launch(function, x.rw()))
            recording.launch(2)
            kept.append(recording)
        else:
            ctx.host_launch(function, x.rw())
        if how == "fails":
            with pytest.raises(ZeroDivisionError) as caught:
                ctx.synchronize()
            kept.append(caught.value)
        if how != "left open":
            ctx.finalize()
        return weakref.ref(ctx)

    context = ring()
    gc.collect()
    assert context() is None


def test_views_hold_memory_and_nothing_of_python(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros(4))
        views = []
        ctx.host_launch(views.append, x.rw())
        ctx.synchronize()
        memory, _ = views[0].base._keep
        assert type(memory).__name__ == "StfMemory"
        assert not gc.is_tracked(memory)
    del ctx, x
    gc.collect()
    assert np.array_equal(views[0], np.zeros(4))  # the memory is still there
