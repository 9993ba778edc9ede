"""Task flow: memory and graphs that contexts share."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from starling import errors, stf
from stf_tasks import BACKENDS, double, double_on


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
