"""Data that is not written back, and numbers that tell values apart."""

from __future__ import annotations

import numpy as np
import pytest

from starling import errors, stf


@pytest.mark.parametrize("backend", ["stream", "graph"])
def test_without_write_back(devices, backend):
    a, b = np.ones(10), np.ones(10)
    with stf.context(devices(1), backend=backend) as ctx:
        device = stf.data_place.device(0)
        x, y = ctx.logical_data(a, write_back=False), ctx.logical_data(b)
        # The host does not have the value that is on the device.
        for d in (x, y):
            ctx.prefetch(d, device)
        ctx.synchronize()
        value = ctx.wait(x)
    np.testing.assert_array_equal(value, 1)
    np.testing.assert_array_equal(b, 1)


def test_a_shape_has_nothing_to_write_back(devices):
    with (
        stf.context(devices(1)) as ctx,
        pytest.raises(errors.ArgumentError, match="write_back=False of a shape"),
    ):
        ctx.logical_data(shape=3, write_back=False)


def test_hash(devices):
    numbers = []
    for backend in ("stream", "graph"):
        with stf.context(devices(2), backend=backend) as ctx:
            x, y = ctx.logical_data(np.arange(12.0)), ctx.logical_data(np.arange(12.0).reshape(3, 4) + 1)
            assert ctx.hash(x) != ctx.hash(y)
            ctx.host_launch(lambda v: np.add(v, 1, out=v), x.rw())
            assert ctx.hash(x) == ctx.hash(y)  # bytes, not shapes
            numbers.append(ctx.hash(x))
            with pytest.raises(errors.ArgumentError, match="token has no value"):
                ctx.hash(ctx.token())
            with pytest.raises(errors.ElementTypeError):
                ctx.hash(np.zeros(3))
    assert numbers[0] == numbers[1]
