"""Task flow: what tasks mean, by what NumPy computes in program order."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from starling import _device_arrays, errors, stf
from starling.stf import _views
from stf_marks import computes_in_bodies, on_virtual_devices

DTYPES = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")


@computes_in_bodies
@pytest.mark.parametrize("count", [2, 4])
def test_algorithm_1(devices, rng, count):
    a, b, c = (rng.random(1000) for _ in range(3))
    x, y, z = a.copy(), b.copy(), c.copy()
    x = 2 * x
    y = y + x
    z = z + x
    z = z + y
    ctx = stf.context(devices(count))
    lx, ly, lz = (ctx.logical_data(v, name=n) for v, n in ((a, "x"), (b, "y"), (c, "z")))
    with ctx.task(lx.rw(), name="scale") as t:
        (dx,) = t.views()
        dx *= 2
    with ctx.task(lx.read(), ly.rw()) as t:
        dx, dy = t.views()
        dy += dx
    with ctx.task(lx.read(), lz.rw(), where=stf.exec_place.device(1)) as t:
        assert t.devices == (1,)
        dx, dz = t.views()
        dz += dx
    with ctx.task(ly.read(), lz.rw(stf.data_place.device(1))) as t:
        dy, dz = t.views()
        dz += dy
    ctx.finalize()
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, y)
    np.testing.assert_array_equal(c, z)


@pytest.mark.parametrize("backend", ["stream", "graph"])
def test_algorithm_1_by_functions_of_the_host(devices, rng, backend):
    a, b, c = (rng.random(100) for _ in range(3))
    x, y, z = 2 * a, b + 2 * a, c + 2 * a + (b + 2 * a)
    with stf.context(devices(2), backend=backend) as ctx:
        lx, ly, lz = (ctx.logical_data(v) for v in (a, b, c))

        @ctx.host_launch(lx.rw())
        def scale(v):
            v *= 2

        def add(v, w):
            w += v

        ctx.host_launch(add, lx.read(), ly.rw())
        ctx.fence()
        ctx.host_launch(add, lx.read(), lz.rw())
        ctx.host_launch(add, ly.read(), lz.rw())
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, y)
    np.testing.assert_array_equal(c, z)
    assert ctx.statistics().epochs == (2 if backend == "graph" else 0)


@computes_in_bodies
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 1, 3, 5), (0,), (3, 0), (1, 1)])
def test_dtypes_and_shapes(devices, rng, dtype, shape):
    a = (100 * rng.random(shape)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j
    expected = a.copy()
    expected[...] = a + a
    ctx = stf.context(devices(2))
    x = ctx.logical_data(a)
    y = ctx.logical_data(shape=shape, dtype=dtype)
    assert (y.shape, y.dtype) == (shape, np.dtype(dtype))
    with ctx.task(x.read(), y.write(), where=stf.exec_place.device(1)) as t:
        dx, dy = t.views()
        assert (dx.shape, dx.dtype, dy.shape, dy.dtype) == (shape, a.dtype, shape, a.dtype)
        dy[...] = dx + dx
    with ctx.task(x.write(), y.read()) as t:
        dx, dy = t.views()
        dx[...] = dy
    np.testing.assert_array_equal(ctx.wait(y), expected)
    ctx.finalize()
    np.testing.assert_array_equal(a, expected)


@computes_in_bodies
@pytest.mark.parametrize("part", [np.s_[1:4, 2:6], np.s_[::2, :], np.s_[::3, 1:2], np.s_[2:3, 1:4]])
def test_rows_that_are_apart(devices, part):
    a = np.arange(60.0).reshape(6, 10)
    expected = a.copy()
    expected[part] = -expected[part] - 5
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(a[part])
        with ctx.task(x.rw()) as t:
            (dx,) = t.views()
            dx *= -1
            dx -= 5
        ctx.host_launch(lambda v: np.testing.assert_array_equal(v, expected[part]), x.read())
        np.testing.assert_array_equal(ctx.wait(x), expected[part])
    np.testing.assert_array_equal(a, expected)


@computes_in_bodies
def test_all_devices_share_one_array(devices):
    a = np.arange(4000.0).reshape(40, 100)
    with stf.context(devices(2)) as ctx:
        x = ctx.logical_data(a)
        with ctx.task(x.rw(), where=stf.exec_place.all_devices()) as t:
            assert t.devices == (0, 1)
            assert len(t.streams) == 2
            (dx,) = t.views()
            dx += 1
        with ctx.task(x.rw(), where=stf.exec_place.grid([1, 0])) as t:
            (dx,) = t.views()
            dx *= 2
    np.testing.assert_array_equal(a, 2 * (np.arange(4000.0).reshape(40, 100) + 1))


def test_tasks_of_the_host_see_the_array_itself(devices):
    a = np.zeros(5)
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(a)
        with ctx.task(x.rw(), where=stf.exec_place.host()) as t:
            assert t.devices == ()
            (v,) = t.views()
            assert np.shares_memory(v, a)
            v += 1
    assert ctx.statistics().copies == 0
    np.testing.assert_array_equal(a, 1)


@computes_in_bodies
def test_read_only_arrays_are_read(devices):
    a = np.arange(5.0)
    a.flags.writeable = False
    with stf.context(devices(1)) as ctx:
        x, y = ctx.logical_data(a), ctx.logical_data(shape=5)
        with ctx.task(x.read(), y.write()) as t:
            dx, dy = t.views()
            dy[...] = dx
        np.testing.assert_array_equal(ctx.wait(y), a)


def test_tokens_order_functions(devices):
    steps = []
    with stf.context(devices(2)) as ctx:
        token = ctx.token("turn")
        for i in range(20):
            ctx.host_launch(lambda i=i: (time.sleep(0.001 * (i % 3)), steps.append(i)), token.rw())
        with ctx.task(token.read(), where=stf.exec_place.host()) as t:
            assert t.views() == ()
            assert steps == list(range(20))


def test_functions_run_on_other_threads_in_the_order_of_their_data(devices):
    seen = []
    a = np.zeros(3)
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(a)
        for value in range(1, 6):
            ctx.host_launch(lambda v, value=value: v.__setitem__(slice(None), 10 * v + value), x.rw())
        ctx.host_launch(lambda v: seen.append((threading.get_ident(), v.copy())), x.read())
        np.testing.assert_array_equal(ctx.wait(x), 12345)
    assert seen[0][0] != threading.get_ident()
    np.testing.assert_array_equal(seen[0][1], 12345)
    np.testing.assert_array_equal(a, 12345)


@computes_in_bodies
def test_several_threads_submit(devices):
    rounds, count = 20, 4
    total = np.zeros(50)
    own = [np.full(50, float(i)) for i in range(count)]
    ctx = stf.context(devices(2))
    shared = ctx.logical_data(total)
    problems = []

    def work(number):
        try:
            mine = ctx.logical_data(own[number])
            for i in range(rounds):
                with ctx.task(mine.rw(), where=stf.exec_place.device((number + i) % 2)) as t:
                    (v,) = t.views()
                    v += 1
                with ctx.task(mine.read(), shared.rw(), where=stf.exec_place.device(number % 2)) as t:
                    v, s = t.views()
                    s += v
                ctx.host_launch(lambda a: a.__iadd__(1), shared.rw())
                if i == rounds // 2:
                    ctx.synchronize()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ctx.finalize()
    assert problems == []
    for number, values in enumerate(own):
        np.testing.assert_array_equal(values, number + rounds)
    added = sum(number + i for number in range(count) for i in range(1, rounds + 1))
    np.testing.assert_array_equal(total, added + count * rounds)


@on_virtual_devices
def test_a_body_waits_for_its_data_alone(devices):
    """And lets other threads of Python run while it waits: the function could not end otherwise."""
    a, b = np.zeros(3), np.zeros(3)
    gate = threading.Event()
    with stf.context(devices(1)) as ctx:
        x, y = ctx.logical_data(a), ctx.logical_data(b)
        ctx.host_launch(lambda v: (gate.wait(60), v.__setitem__(0, 1)), x.rw())
        with ctx.task(y.rw()) as t:
            t.views()[0][...] = 2
        opener = threading.Timer(0.05, gate.set)
        opener.start()
        with ctx.task(x.read()) as t:
            assert gate.is_set()
            assert t.views()[0][0] == 1
    np.testing.assert_array_equal(b, 2)


def test_contexts_within_tasks(devices):
    a, b = np.ones(4), np.ones(4)
    with stf.context(devices(1)) as outer:
        x = outer.logical_data(a)
        with outer.task(x.rw(), where=stf.exec_place.host()) as t:
            with stf.context(devices(1)) as inner:
                inner.host_launch(lambda v: v.__imul__(6), inner.logical_data(b).rw())
            t.views()[0][...] *= b
    np.testing.assert_array_equal(a, 6)


@computes_in_bodies
def test_statistics(devices):
    a = np.zeros((100, 100))
    ctx = stf.context(devices(2), device_memory="1M")
    x = ctx.logical_data(a)
    for device in (0, 1, 0):
        with ctx.task(x.rw(), where=stf.exec_place.device(device)) as t:
            (v,) = t.views()
            v += 1
    ctx.finalize()
    s = ctx.statistics()
    assert (s.tasks, s.copies, s.copied_bytes, s.evictions, s.epochs, s.graphs_reused) == (3, 4, 4 * a.nbytes, 0, 0, 0)
    assert [p.device for p in s.places] == [0, 1, None]
    assert s.places[0].cap == s.places[0].reserved == 2**20
    assert s.places[0].most_in_use >= a.nbytes
    assert s.places[0].in_use == 0
    assert s.places[2].cap == 0


@computes_in_bodies
def test_places_that_the_context_chooses(devices):
    arrays = [np.zeros(100) for _ in range(8)]
    ctx = stf.context(devices(4))
    data = [ctx.logical_data(a) for a in arrays]
    seen = set()
    for _ in range(3):
        for d in data:
            with ctx.task(d.rw(), where=stf.exec_place.automatic(), name="add") as t:
                (v,) = t.views()
                v += 1
                seen.update(t.devices)
    assert "task 'add'" in ctx.explain()
    ctx.finalize()
    for a in arrays:
        np.testing.assert_array_equal(a, 3)
    assert seen == {0, 1, 2, 3}
    (tasks,) = ctx.statistics().classes
    assert tasks.name == "add"
    assert tasks.most_bytes == 1023
    assert sum(d.chosen for d in tasks.devices) == 24
    assert [d.device for d in tasks.devices] == [0, 1, 2, 3]
    assert all(d.explored == 2 for d in tasks.devices)
    assert stf.exec_place.automatic().is_automatic
    assert not stf.exec_place.device(1).is_automatic
    assert stf.exec_place.automatic() == stf.exec_place.automatic()
    assert "automatic" in repr(stf.exec_place.automatic())


@computes_in_bodies
def test_streams_or_graphs(devices):
    a = np.zeros(50)
    with stf.context(devices(1), backend="automatic") as ctx:
        x = ctx.logical_data(a)
        for _ in range(12):
            with ctx.task(x.rw()) as t:
                (v,) = t.views()
                v += 1
            ctx.fence()
    np.testing.assert_array_equal(a, 12)
    for epochs in ctx.statistics().epoch_classes:
        assert epochs.chosen in ("stream", "graph")
        assert epochs.on_streams.epochs + epochs.as_graph.epochs > 0


def test_drawings(devices):
    with stf.context(devices(1), drawing=True) as ctx:
        x, y = ctx.logical_data(np.ones(3), name="x"), ctx.logical_data(np.ones(3), name="y")

        @ctx.host_launch(x.rw())
        def first(v):
            pass

        ctx.host_launch(lambda v, w: None, x.read(), y.rw(), name="second")
        with ctx.task(x.rw(), where=stf.exec_place.host(), name="third"):
            pass
    dot = ctx.dot()
    for line in ('t1 [label="first\\nhost"]', 't1 -> t2 [label="x"]', 't2 -> t3 [label="x"]'):
        assert line in dot
    assert "t1 -> t3" not in dot
    assert 't1 -->|"x"| t2' in ctx.mermaid()


def test_views_on_gpus_without_cupy(devices, monkeypatch):
    """Every library that knows the protocol can take them."""
    monkeypatch.setattr(_device_arrays, "cupy_or_none", lambda: None)
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros((3, 4), dtype="c8"))
        for access in (x.read(), x.rw()):
            view = _views.on_gpu(access, 4096, 77, 0, None)
            assert view.__cuda_array_interface__ == {
                "version": 3,
                "data": (4096, access.mode == "read"),
                "shape": (3, 4),
                "typestr": "<c8",
                "strides": None,
                "stream": 77,
            }
        _device_arrays.make_current(0, 77)()


def test_places_are_values():
    place, data = stf.exec_place, stf.data_place
    assert place.device(1) == place.device(1) != place.device(2)
    assert place.grid([0, 1]) == place.grid([0, 1]) != place.grid([1, 0])
    assert data.device(1) == data.device(1) != data.host()
    assert place.host() != data.host()
    assert len({place.host(), place.host(), place.all_devices()}) == 2
    assert place.host().is_host
    assert place.all_devices().is_grid
    assert repr(place.device(3)) == "<starling.stf.exec_place: device 3>"
    assert repr(data.affine()) == "<starling.stf.data_place: affine>"


def test_what_devices_may_be(devices, pes_per_gpu, monkeypatch):
    m = devices(3)
    assert (stf.context(m).machine.size, stf.context(m).machine.choice) == (3, m.choice)
    monkeypatch.setenv("STARLING_PES_PER_GPU", str(pes_per_gpu(3)))
    assert stf.context(3).machine.size == 3
    assert stf.context("host").machine.kind == "host"
    assert stf.context().machine.size >= 1


def test_priorities(devices):
    a, b = np.arange(10.0), np.zeros(10)
    with stf.context(devices(2)) as ctx:
        x, y = ctx.logical_data(a), ctx.logical_data(b)
        for priority in (0, 2, 1):
            with ctx.task(x.read(), y.rw(), where=stf.exec_place.device(1), priority=priority) as t:
                dx, dy = t.views()
                dy += dx
        for wrong in (-1, 3):
            with pytest.raises(errors.RangeError, match=f"with priority {wrong}; must be from 0"):
                ctx.task(y.rw(), priority=wrong).__enter__()
        with pytest.raises(errors.ElementTypeError, match="priority"):
            ctx.task(y.rw(), priority=1.5)
    assert list(b) == [3.0 * i for i in range(10)]
