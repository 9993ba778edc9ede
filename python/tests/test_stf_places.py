"""Task flow: places that data can be named to, last uses, and data that is wiped."""

from __future__ import annotations

import numpy as np
import pytest

from starling import errors, stf
from stf_marks import computes_in_bodies, on_gpus, on_virtual_devices
from stf_tasks import double

DEVICE, GRID = stf.exec_place.device, stf.exec_place.all_devices


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
