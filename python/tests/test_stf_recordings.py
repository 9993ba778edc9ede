"""Tasks that are recorded once and done many times: the values are those of the tasks one after the other."""

from __future__ import annotations

import gc
import random
import threading
import weakref
from functools import partial

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import on_virtual_devices


@pytest.fixture
def ctx(devices):
    with stf.context(devices(2)) as c:
        yield c


def add_one(x):
    x += 1


def raise_by(n, x):
    x += n


def mix(factor, y, x):
    x[:] = np.mod(x * factor + y[0], 1009)


def fail(*views):
    raise ValueError("on purpose")


def test_random_functions_many_times(devices):
    r = random.Random()
    seed = r.randrange(2**32)
    r.seed(seed)
    for _ in range(10):
        arrays = [np.array([float(r.randrange(100))] * r.randrange(1, 50)) for _ in range(3)]
        expected = [a.copy() for a in arrays]
        steps = [(r.randrange(3), r.randrange(3), r.randrange(1, 4)) for _ in range(r.randrange(1, 6))]
        with stf.context(devices(r.randrange(1, 4)), backend=r.choice(["stream", "graph"])) as ctx:
            data = [ctx.logical_data(a) for a in arrays]

            def submit(ctx=ctx, data=data, steps=steps):
                for source, target, factor in steps:
                    if source == target:
                        ctx.host_launch(partial(raise_by, factor), data[target].rw())
                    else:
                        ctx.host_launch(partial(mix, factor), data[source].read(), data[target].rw())

            recorded = ctx.record(submit)
            times = 0
            for _ in range(4):
                n = r.randrange(4)
                if r.random() < 0.5:
                    recorded.launch(n)
                else:
                    ctx.repeat(n, submit)
                times += n
                if r.random() < 0.3:
                    submit()
                    times += 1
        for _ in range(times):
            for source, target, factor in steps:
                if source == target:
                    raise_by(factor, expected[target])
                else:
                    mix(factor, expected[source], expected[target])
        for found, wanted in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=f"seed {seed}")


def test_the_body_is_called_once_and_its_code_is_not_repeated(ctx):
    a = np.zeros(4)
    x = ctx.logical_data(a)
    calls = []

    @ctx.record
    def step():
        calls.append(1)
        ctx.host_launch(add_one, x.rw())

    assert isinstance(step, stf.Recording)
    assert step.operations >= 1
    assert repr(step) == f"<starling.stf.Recording: {step.operations} operations>"
    assert len(calls) == 1
    np.testing.assert_array_equal(ctx.wait(x), 0)
    step.launch()
    step.launch(5)
    step.launch(0)
    ctx.host_launch(lambda x: np.multiply(x, 10, out=x), x.rw())
    step.launch()
    np.testing.assert_array_equal(ctx.wait(x), 61)
    assert len(calls) == 1


def test_repeat_within_a_recording(ctx):
    x = ctx.logical_data(np.zeros(1))
    step = ctx.record(lambda: ctx.repeat(3, lambda: ctx.host_launch(add_one, x.rw())))
    step.launch(2)
    ctx.repeat(0, lambda: pytest.fail("called"))
    assert ctx.wait(x)[0] == 6


@pytest.mark.parametrize("kind", ["i1", "u2", "i4", "u8", "?"])
def test_repeat_while(ctx, kind):
    x, flag = ctx.logical_data(np.zeros(1)), ctx.logical_data(np.zeros(1, dtype=kind))

    def body():
        @ctx.host_launch(x.rw(), flag.write())
        def count(x, flag):
            x += 1
            flag[0] = x[0] % 7 != 0

    ctx.repeat_while(flag, body, 100)
    assert ctx.wait(x)[0] == 7
    ctx.repeat_while(flag, body, 3)
    assert ctx.wait(x)[0] == 10
    assert ctx.wait(flag)[0]


def test_temporaries_and_data_that_stays(ctx):
    x = ctx.logical_data(np.zeros(3))
    made = []

    def body():
        t = ctx.logical_data(shape=3)
        ctx.host_launch(lambda x, t: np.add(x, 1, out=t), x.read(), t.write())
        ctx.host_launch(lambda t, x: np.copyto(x, t), t.read(), x.rw())
        made.append(t)

    ctx.record(body).launch(4)
    np.testing.assert_array_equal(ctx.wait(x), 4)
    np.testing.assert_array_equal(ctx.wait(made[0]), 4)


def test_a_recording_goes(ctx):
    x = ctx.logical_data(np.zeros(1))

    def body():
        ctx.host_launch(add_one, x.rw())

    recorded = ctx.record(body)
    recorded.launch(2)
    gone = weakref.ref(recorded)
    del recorded
    gc.collect()
    assert gone() is None
    assert ctx.wait(x)[0] == 2
    assert not ctx._functions._recorded


def test_functions_of_two_recordings_and_another_thread(ctx):
    x, y = ctx.logical_data(np.zeros(1)), ctx.logical_data(np.zeros(1))
    first = ctx.record(lambda: ctx.host_launch(add_one, x.rw()))
    second = ctx.record(lambda: ctx.host_launch(lambda x, y: np.add(x, y, out=y), x.read(), y.rw()))
    thread = threading.Thread(target=lambda: [ctx.host_launch(add_one, y.rw()) for _ in range(50)])
    thread.start()
    for _ in range(10):
        first.launch()
        second.launch()
    thread.join()
    assert ctx.wait(y)[0] == 50 + sum(range(1, 11))


def test_a_function_fails(ctx):
    x, y = ctx.logical_data(np.zeros(1)), ctx.logical_data(np.zeros(1))
    runs = []

    def body():
        @ctx.host_launch(x.rw())
        def sometimes(x):
            runs.append(1)
            x += 1
            if x[0] == 3:
                raise ValueError("on purpose")

        ctx.host_launch(lambda x, y: np.copyto(y, x), x.read(), y.write())

    recorded = ctx.record(body)
    recorded.launch(5)
    with pytest.raises(ValueError, match="on purpose"):
        ctx.synchronize()
    assert len(runs) == 3  # the other launches were left out
    with pytest.raises(errors.TaskError, match="'sometimes' raised ValueError"):
        ctx.wait(y)
    with pytest.raises(errors.TaskError, match=r"Recording.launch reads .*'sometimes' raised ValueError"):
        recorded.launch()
    ctx.host_launch(lambda x: x.fill(10), x.write())
    recorded.launch(2)
    assert ctx.wait(y)[0] == 12


def test_what_it_reads_has_failed(ctx):
    x = ctx.logical_data(np.zeros(1), name="x")
    recorded = ctx.record(lambda: ctx.host_launch(add_one, x.rw()))
    ctx.host_launch(fail, x.rw())
    with pytest.raises(errors.TaskError, match="'x', which has no value"):
        recorded.launch()
    with pytest.raises(errors.TaskError, match="'x', which has no value"):
        ctx.repeat(2, lambda: ctx.host_launch(add_one, x.rw()))
    with pytest.raises(ValueError, match="on purpose"):
        ctx.synchronize()
    ctx.host_launch(lambda x: x.fill(1), x.write())
    recorded.launch()
    assert ctx.wait(x)[0] == 2


def test_an_exception_of_the_body(ctx):
    x = ctx.logical_data(np.zeros(1))
    ran = []

    def body():
        ctx.host_launch(lambda x: ran.append(1), x.rw())
        raise KeyError("of the body")

    for call in (ctx.record, lambda b: ctx.repeat(3, b), lambda b: ctx.repeat_while(x, b, 3)):
        with pytest.raises((KeyError, errors.ElementTypeError)):
            call(body)
    ctx.host_launch(add_one, x.rw())
    assert ctx.wait(x)[0] == 1
    assert not ran


def test_calls_within_the_body(ctx):
    x = ctx.logical_data(np.zeros(1))
    other = ctx.record(lambda: ctx.host_launch(add_one, x.rw()))
    for name, call in {
        "fence": ctx.fence,
        "synchronize": ctx.synchronize,
        "finalize": ctx.finalize,
        "wait": lambda: ctx.wait(x),
        "record": lambda: ctx.record(lambda: None),
        "launch": other.launch,
        "freeze": lambda: ctx.freeze(x.read()).__enter__(),
    }.items():
        with pytest.raises(errors.ArgumentError, match=rf"{name} within the body of a recording"):
            ctx.record(call)
    other.launch()
    assert ctx.wait(x)[0] == 1


@on_virtual_devices
def test_tasks_cannot_be_recorded_where_their_bodies_compute(ctx):
    x = ctx.logical_data(np.zeros(1))

    def body():
        with ctx.task(x.rw()) as t:
            (v,) = t.views()
            v += 1

    with pytest.raises(errors.Unsupported, match="use host_launch in what is recorded"):
        ctx.record(body)
    assert ctx.wait(x)[0] == 0


@pytest.mark.parametrize("backend", ["stream", "graph"])
def test_loops_and_branches_within_each_other(devices, backend):
    a, counts = np.zeros(1), np.zeros(6)
    with stf.context(devices(2), backend=backend) as ctx:
        x, n = ctx.logical_data(a), ctx.logical_data(counts)
        again, odd, more = (ctx.logical_data(shape=1, dtype="i4") for _ in range(3))
        calls = []

        def compare(x, again, n):
            n[int(x[0]) % 6] += 1
            again[0] = x[0] % 3 != 0

        def inner():
            calls.append("inner")
            ctx.host_launch(add_one, x.rw())
            ctx.host_launch(compare, x.read(), again.write(), n.rw())

        def end(x, more, odd):
            more[0] = x[0] < 9
            odd[0] = x[0] % 2

        def body():
            calls.append("outer")
            ctx.repeat_while(again, inner, 100)
            ctx.host_launch(end, x.read(), more.write(), odd.write())
            ctx.run_if(odd, lambda: ctx.host_launch(partial(raise_by, 6), x.rw()))

        ctx.repeat_while(more, body, 100)
        # By hand: 1, 2, 3, which is odd: 9; there was more: 10, 11, 12, which is even and the end.
        assert ctx.wait(x)[0] == 12
        assert calls == ["outer", "inner"]
        ctx.run_if(odd, lambda: ctx.host_launch(fail, x.rw()), lambda: ctx.host_launch(add_one, x.rw()))
        # A recording decides in each launch: 13 is odd, and with 14 even.
        branch = ctx.record(
            lambda: (
                ctx.host_launch(end, x.read(), more.write(), odd.write()),
                ctx.run_if(odd, lambda: ctx.host_launch(add_one, x.rw())),
            )
        )
        branch.launch(5)
    assert a[0] == 14
    assert list(counts) == [1, 1, 1, 1, 1, 1]


def test_branches_that_cannot_be(ctx):
    x = ctx.logical_data(np.zeros(1))
    flag = ctx.logical_data(np.zeros(1, dtype="i4"))
    unset = ctx.logical_data(shape=1, dtype="i4")
    add = partial(ctx.host_launch, add_one, x.rw())
    with pytest.raises(errors.ElementTypeError, match="no plain function"):
        ctx.run_if(flag, None)
    with pytest.raises(errors.ElementTypeError, match="no plain function"):
        ctx.run_if(flag, add, 3)
    with pytest.raises(errors.ElementTypeError, match="float64"):
        ctx.run_if(x, add)
    with pytest.raises(errors.ArgumentError, match="nothing has been written"):
        ctx.run_if(unset, add)
    with pytest.raises(errors.ArgumentError, match="nothing has been written"):
        ctx.record(lambda: ctx.run_if(unset, add))
    ctx.host_launch(fail, flag.write())
    with pytest.raises(errors.TaskError, match="'fail' raised ValueError"):
        ctx.run_if(flag, add)
    with pytest.raises(ValueError, match="on purpose"):
        ctx.synchronize()
    assert ctx.wait(x)[0] == 0


def test_bad_arguments(ctx):
    x = ctx.logical_data(np.zeros(1))
    two = ctx.logical_data(np.zeros(2, dtype="i4"))
    flag = ctx.logical_data(np.zeros(1, dtype="i4"))
    recorded = ctx.record(lambda: ctx.host_launch(add_one, x.rw()))

    async def coroutine():
        pass

    for wrong in (None, 3, coroutine):
        for call in (ctx.record, lambda b: ctx.repeat(2, b), lambda b: ctx.repeat_while(flag, b, 2)):
            with pytest.raises(errors.ElementTypeError, match="no plain function"):
                call(wrong)
    for wrong in (-1, 2**63):
        with pytest.raises(errors.ArgumentError, match="n = "):
            recorded.launch(wrong)
        with pytest.raises(errors.ArgumentError, match="n = "):
            ctx.repeat(wrong, lambda: None)
    with pytest.raises(errors.ElementTypeError, match=r"n = 1.5"):
        recorded.launch(1.5)
    with pytest.raises(errors.ArgumentError, match="most = 0"):
        ctx.repeat_while(flag, lambda: None, 0)
    with pytest.raises(errors.ElementTypeError, match="float64"):
        ctx.repeat_while(x, lambda: None, 2)
    with pytest.raises(errors.ArgumentError, match=r"shape \(2,\)"):
        ctx.repeat_while(two, lambda: None, 2)
    with pytest.raises(errors.ArgumentError, match="token"):
        ctx.repeat_while(ctx.token(), lambda: None, 2)
    with pytest.raises(errors.ArgumentError, match="no task of the body writes the flag"):
        ctx.repeat_while(flag, lambda: ctx.host_launch(add_one, x.rw()), 2)
    with pytest.raises(errors.ElementTypeError, match="argument 0"):
        ctx.repeat_while(3, lambda: None, 2)
    with stf.context(1) as elsewhere, pytest.raises(errors.ArgumentError, match="another context"):
        elsewhere.repeat_while(flag, lambda: None, 2)


def test_after_the_end(devices):
    ctx = stf.context(devices(1))
    x = ctx.logical_data(np.zeros(1))
    recorded = ctx.record(lambda: ctx.host_launch(add_one, x.rw()))
    ctx.finalize()
    for call in (recorded.launch, lambda: ctx.record(lambda: None), lambda: ctx.repeat(2, lambda: None)):
        with pytest.raises(errors.ArgumentError, match="finalized"):
            call()
