"""Random programs of tasks against NumPy in program order."""

from __future__ import annotations

import numpy as np
import pytest

from starling import stf
from stf_marks import computes_in_bodies

SHAPES = [(64,), (12, 10), (5, 4, 6), (2, 3, 4, 5)]
MOST_BYTES = 8 * 120


def combine(values, written, factor):
    """Every array that is written becomes a sum of all that are read, as far as they go."""
    flat = [v.reshape(-1) for v in values]
    for w in written:
        out = flat[w]
        out *= factor
        for i, v in enumerate(flat):
            if i != w:
                n = min(v.size, out.size)
                out[:n] += v[:n]


@computes_in_bodies
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("memory", [0, 4096])
def test_programs(devices, rng, count, memory):
    m = devices(count)
    for _ in range(4):
        shapes = [SHAPES[i] for i in rng.integers(len(SHAPES), size=8)]
        arrays = [rng.integers(-9, 9, size=s).astype("f8") for s in shapes]
        expected = [a.copy() for a in arrays]
        ctx = stf.context(m, device_memory=memory)
        data = [ctx.logical_data(a) for a in arrays]
        for _ in range(60):
            used = [int(i) for i in rng.choice(len(data), size=rng.integers(1, 4), replace=False)]
            modes = [str(rng.choice(["read", "rw"])) for _ in used]
            written = [i for i, mode in enumerate(modes) if mode == "rw"]
            factor = float(rng.integers(-1, 2))
            combine([expected[i] for i in used], written, factor)
            accesses = [getattr(data[i], mode)() for i, mode in zip(used, modes, strict=True)]
            kind = rng.integers(8)
            if kind == 0:
                ctx.host_launch(lambda *v, w=written, f=factor: combine(v, w, f), *accesses)
                continue
            where = stf.exec_place.host() if kind == 1 else stf.exec_place.device(int(rng.integers(count)))
            with ctx.task(*accesses, where=where) as t:
                combine(t.views(), written, factor)
            if kind == 2:
                i = used[0]
                np.testing.assert_array_equal(ctx.wait(data[i]), expected[i])
            if kind == 3:
                # The last handle goes; the array gets another one when it has its value.
                i = used[0]
                data[i] = None
                del accesses, t
                ctx.synchronize()
                ctx.fence()
                ctx.host_launch(lambda: None)
                ctx.synchronize()
                data[i] = ctx.logical_data(arrays[i])
        ctx.finalize()
        for a, e in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(a, e)


@computes_in_bodies
def test_more_data_than_the_device_holds(devices):
    """Every array is used in turn, so that each has to give way and come back."""
    arrays = [np.full(1000, float(i)) for i in range(10)]
    ctx = stf.context(devices(1), device_memory=3 * 8192)
    data = [ctx.logical_data(a) for a in arrays[:5]] + [ctx.logical_data(shape=1000) for _ in arrays[5:]]
    for _ in range(3):
        for x, y in zip(data[:5], data[5:], strict=True):
            with ctx.task(x.rw(), y.write()) as t:
                dx, dy = t.views()
                dx += 1
                dy[...] = 2 * dx
    for i, y in enumerate(data[5:]):
        np.testing.assert_array_equal(ctx.wait(y), 2 * (i + 3))
    ctx.finalize()
    assert ctx.statistics().evictions > 0
    assert ctx.statistics().places[0].most_in_use <= 3 * 8192
    for i, a in enumerate(arrays[:5]):
        np.testing.assert_array_equal(a, i + 3)
