"""Task flow: data that is split, frozen and fetched ahead."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_virtual_devices

HOST = stf.exec_place.host()
BACKENDS = ("stream", "graph")


@computes_in_bodies
@pytest.mark.parametrize("shape", [(10,), (7, 5), (3, 4, 5), (2, 0)])
@pytest.mark.parametrize("parts", [1, 3, "each"])
def test_parts_of_arrays(devices, rng, shape, parts):
    a = rng.random(shape)
    expected = a.copy()
    counts = parts if parts != "each" else tuple(range(2, 2 + len(shape)))
    with stf.context(devices(2)) as ctx:
        split = ctx.split(ctx.logical_data(a, name="a"), counts)
        seen = np.zeros(shape, dtype=int)
        for i, part in enumerate(split):
            where = split.index_of(i)
            assert part.shape == expected[where].shape
            assert part.name == f"a[{i}]"
            seen[where] += 1
            expected[where] = 2 * expected[where] + i
            with ctx.task(part.rw(), where=stf.exec_place.device(i % 2)) as t:
                (v,) = t.views()
                v *= 2
                v += i
        assert (seen == 1).all()
        assert len(split) == len(list(split))
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_stencil_with_a_halo(devices, backend):
    a = np.arange(23.0) ** 2 % 7
    b = np.zeros_like(a)
    expected = a.copy()
    ctx = stf.context(devices(2), backend=backend)
    u = ctx.split(ctx.logical_data(a), 3, halo=2)
    v = ctx.split(ctx.logical_data(b), 3, halo=2)
    for _ in range(4):
        for i in range(3):
            wide, mine = u.index_with_halo(i)[0], u.index_of(i)[0]

            def step(old, new, wide=wide, mine=mine):
                for k in range(mine.start, mine.stop):
                    new[k - mine.start] = old[max(0, k - 2 - wide.start) : k + 3 - wide.start].sum() % 11

            ctx.host_launch(step, u.with_halo(i), v[i].write())
        u, v = v, u
        ctx.fence()
        expected = np.array([expected[max(0, k - 2) : k + 3].sum() % 11 for k in range(a.size)])
    u.join()
    u.join()
    ctx.finalize()
    np.testing.assert_array_equal(a, expected)


@on_virtual_devices
def test_only_parts_move(devices):
    a = np.ones((8, 100))
    with stf.context(devices(2)) as ctx:
        rows = ctx.split(ctx.logical_data(a), 4)
        with ctx.task(rows[2].rw(), where=stf.exec_place.device(1)) as t:
            (v,) = t.views()
            v += 1
        assert ctx.statistics().copied_bytes == 1600
        rows.join()
        assert ctx.statistics().copied_bytes == 3200
    assert a.sum() == 1000


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_end_of_the_last_reference_joins(devices, backend):
    a = np.zeros(6)
    with stf.context(devices(1), backend=backend) as ctx:
        x = ctx.logical_data(a)
        parts = ctx.split(x, 2)

        def one(v):
            v += 1

        ctx.host_launch(one, parts[1].rw())
        del parts
        gc.collect()
        ctx.host_launch(one, x.rw())
        finer = ctx.split(x, 3)
        ctx.host_launch(one, finer[0].rw())
        # finalize joins these
    np.testing.assert_array_equal(a, [2, 2, 1, 2, 2, 2])
    del finer


@pytest.mark.parametrize("backend", BACKENDS)
def test_frozen_data(devices, backend):
    if backend == "graph" and devices(1).kind != "host":
        pytest.skip("its view is on a GPU")
    a = np.zeros(5)
    with stf.context(devices(1), backend=backend) as ctx:
        x = ctx.logical_data(a, name="x")

        def one(v):
            v += 1

        ctx.host_launch(one, x.rw())
        with ctx.freeze(x.rw(stf.data_place.host())) as f:
            v = f.view()
            np.testing.assert_array_equal(v, 1)
            v *= 10
            assert f.stream is not None
            with pytest.raises(errors.ArgumentError, match=r"'x', which is frozen"):
                ctx.host_launch(one, x.rw())
        assert not v.flags.writeable
        ctx.host_launch(one, x.rw())
        with ctx.freeze(x.read(stf.data_place.host())) as f:
            assert not f.view().flags.writeable
            ctx.host_launch(lambda v: None, x.read())
            np.testing.assert_array_equal(f.view(), 11)
    np.testing.assert_array_equal(a, 11)


@on_virtual_devices
def test_fetched_ahead(devices):
    with stf.context(devices(2)) as ctx:
        x = ctx.logical_data(np.ones(10))
        ctx.prefetch(x, stf.data_place.device(1))
        assert ctx.statistics().copies == 1
        with ctx.task(x.read(), where=stf.exec_place.device(1)) as t:
            (v,) = t.views()
            assert v.sum() == 10
        assert ctx.statistics().copies == 1


def blur(old, new):
    new[:] = sum(old[k : k + len(new)] for k in range(5)) / 5


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_a_stencil_round_the_ends(devices, rng, parts):
    a = rng.random((11, 2))
    b = np.zeros_like(a)
    expected = a.copy()
    ctx = stf.context(devices(2))
    u = ctx.split(ctx.logical_data(a), parts, halo=2, periodic=True)
    v = ctx.split(ctx.logical_data(b), parts, halo=2, periodic=True)
    for i in range(parts):
        mine = u.index_of(i)[0]
        np.testing.assert_array_equal(
            np.arange(11)[u.index_with_halo(i)[0]], np.arange(mine.start - 2, mine.stop + 2) % 11
        )

    def two_steps():
        for old, new in ((u, v), (v, u)):
            for i in range(parts):
                ctx.host_launch(blur, old.with_halo(i), new[i].write())

    two_steps()
    ctx.repeat(2, two_steps)
    u.join()
    v.join()
    ctx.finalize()
    for _ in range(6):
        expected = sum(np.roll(expected, shift, axis=0) for shift in (2, 1, 0, -1, -2)) / 5
    np.testing.assert_array_equal(a, expected)


def test_misuse(devices):
    with stf.context(devices(2)) as ctx, stf.context(devices(1)) as other:
        x = ctx.logical_data(np.zeros((4, 4)), name="x")
        for parts, error in (
            (0, errors.ArgumentError),
            ((2, 0), errors.ArgumentError),
            ((2,), errors.ArgumentError),
            ("22", errors.ElementTypeError),
            (1.5, errors.ElementTypeError),
            ((2, None), errors.ElementTypeError),
        ):
            with pytest.raises(error, match="parts"):
                ctx.split(x, parts)
        with pytest.raises(errors.ArgumentError, match="halo = -1"):
            ctx.split(x, 2, halo=-1)
        with pytest.raises(errors.ArgumentError, match="periodic halo of 5 rows round 4"):
            ctx.split(x, 2, halo=5, periodic=True)
        with pytest.raises(errors.ElementTypeError, match="periodic = 1 "):
            ctx.split(x, 2, halo=1, periodic=1)
        with pytest.raises(errors.ArgumentError, match="halo = 1 for parts"):
            ctx.split(x, (2, 2), halo=1)
        with pytest.raises(errors.ElementTypeError, match="place"):
            ctx.split(x, 2, place=HOST)
        with pytest.raises(errors.ElementTypeError):
            ctx.split(3, 2)
        with pytest.raises(errors.ArgumentError, match="token"):
            ctx.split(ctx.token("t"), 2)
        with pytest.raises(errors.ArgumentError, match="another context"):
            other.split(x, 2)
        with pytest.raises(errors.ArgumentError, match="another context"):
            other.freeze(x.read())
        with pytest.raises(errors.ElementTypeError):
            ctx.freeze(x)
        with pytest.raises(errors.ElementTypeError, match="place"):
            ctx.prefetch(x, HOST)
        with pytest.raises(errors.ArgumentError, match="token"):
            ctx.freeze(ctx.token().read())
        f = ctx.freeze(x.read())
        with pytest.raises(errors.ArgumentError, match="outside of the with block"):
            f.view()
        parts = ctx.split(x, 2)
        with pytest.raises(errors.ArgumentError, match=r"'x', which is split"):
            ctx.host_launch(print, x.read())
        with pytest.raises(errors.ArgumentError, match="without one"):
            ctx.host_launch(print, parts.with_halo(0))
        with pytest.raises(IndexError):
            parts[2]
        part = parts[0]
        parts.join()
        with pytest.raises(errors.ArgumentError, match=r"'x\[0\]', which is a part that was joined"):
            ctx.host_launch(print, part.read())


def test_parts_that_are_left_by_an_exception(devices, rng, caplog):
    a = rng.random(6)
    expected = a.copy()
    ctx = stf.context(devices(1))
    x = ctx.logical_data(a, name="x")
    parts = ctx.split(x, 2)
    with ctx.freeze(parts[0].read()), pytest.raises(LookupError), parts:  # which cannot be joined
        raise LookupError
    assert "which is frozen" in caplog.text
    assert "while the parts were left for LookupError" in caplog.text
    parts.join()
    parts = ctx.split(x, 2)
    ctx.host_launch(lambda v: np.negative(v, out=v), parts[1].rw())
    with pytest.raises(LookupError), parts:
        raise LookupError
    ctx.host_launch(lambda v: np.multiply(v, 2, out=v), x.rw())
    ctx.finalize()
    expected[3:] *= -1
    np.testing.assert_array_equal(a, 2 * expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_that_fails_in_a_part(devices, backend):
    ctx = stf.context(devices(1), backend=backend)
    x = ctx.logical_data(np.zeros(6), name="x")
    parts = ctx.split(x, 2, halo=1)

    def bad(v):
        raise ValueError("no")

    ctx.host_launch(bad, parts[1].rw())
    with pytest.raises(ValueError, match="no"):
        ctx.synchronize()
    with pytest.raises(errors.TaskError, match="'bad' raised ValueError"):
        ctx.host_launch(print, parts.with_halo(0))
    parts.join()
    with pytest.raises(errors.TaskError, match="'bad' raised ValueError"):
        ctx.host_launch(print, x.read())
    ctx.finalize()
