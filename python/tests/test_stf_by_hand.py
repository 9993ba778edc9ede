"""Tasks of any number of data, and tasks that are begun and ended by hand."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies


@computes_in_bodies
@pytest.mark.parametrize("terms", [0, 1, 5])
def test_lists_of_accesses(devices, terms):
    parts = [np.full(4, float(i)) for i in range(terms)]
    total = np.ones(4)
    with stf.context(devices(2)) as ctx:
        data = [ctx.logical_data(p) for p in parts]
        out = ctx.logical_data(total)
        with ctx.task([d.read() for d in data], out.rw()) as t:
            *found, o = t.views()
            assert len(found) == terms
            for v in found:
                o += v
        # Tuples are lists too, and functions of the host get all of them one after the other.
        ctx.host_launch(lambda o, *vs: np.add(o, len(vs), out=o), out.rw(), tuple(d.read() for d in data))
    np.testing.assert_array_equal(total, 1 + sum(range(terms)) + terms)


def test_lists_of_what_is_no_access(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros(3))
        for wrong in ([x], [x.read(), 3], [[x.read()]]):
            with pytest.raises(errors.ElementTypeError, match="a member of argument 1 is a"):
                ctx.task(x.read(), wrong)
            with pytest.raises(errors.ElementTypeError, match="a member of argument 0 is a"):
                ctx.host_launch(print, wrong)
        with pytest.raises(errors.ElementTypeError, match="argument 0 is a dict"):
            ctx.task({})


@computes_in_bodies
def test_by_hand(devices):
    a, b = np.arange(5.0), np.zeros(5)
    with stf.context(devices(2)) as ctx:
        x, y = ctx.logical_data(a), ctx.logical_data(b)
        for device in (0, 1):
            t = ctx.task(x.read(), y.rw(), where=stf.exec_place.device(device))
            assert t.begin() is t
            assert t.devices == (device,)
            dx, dy = t.views()
            dy += dx
            t.end()
    np.testing.assert_array_equal(b, 2 * a)


def test_by_hand_out_of_order(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros(3), name="x")
        t = ctx.task(x.rw(), name="t")
        for call in (t.end, t.fail, t.views):
            with pytest.raises(errors.ArgumentError, match=r"of task 't' outside of its body.*begin\(\) and end\(\)"):
                call()
        t.begin()
        with pytest.raises(errors.ArgumentError, match="begun already"):
            t.begin()
        with pytest.raises(errors.ArgumentError, match="within the body of a task"):
            ctx.synchronize()
        t.end()
        with pytest.raises(errors.ArgumentError, match="outside of its body"):
            t.end()


def test_by_hand_failed_or_ended_elsewhere(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(shape=3, dtype=float, name="x")
        ctx.host_launch(lambda v: v.fill(0), x.write())
        ctx.task(x.rw(), name="failed").begin().fail()
        with pytest.raises(stf.TaskError, match="'x', which has no value: task 'failed'"):
            ctx.wait(x)
        ctx.host_launch(lambda v: v.fill(0), x.write())
        t = ctx.task(x.rw(), name="elsewhere").begin()
        said = []

        def end():
            try:
                t.end()
            except errors.ArgumentError as error:
                said.append(str(error))

        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        assert "another thread" in said[0]
        with pytest.raises(stf.TaskError, match="task 'elsewhere'"):
            ctx.wait(x)
        ctx.host_launch(lambda v: v.fill(2), x.write())
        np.testing.assert_array_equal(ctx.wait(x), 2)
