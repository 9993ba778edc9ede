"""PyTorch and CuPy arrays, on the host and on GPUs; skipped where a library or a GPU is missing."""

from __future__ import annotations

import numpy as np
import pytest

from starling import stencil
from starling.errors import ArgumentError, ElementTypeError


def cupy_or_skip():
    cupy = pytest.importorskip("cupy")
    try:
        if cupy.cuda.runtime.getDeviceCount() == 0:
            pytest.skip("no GPU")
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("no driver")
    return cupy


def torch_on_gpu_or_skip():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch


@pytest.fixture
def u(noise):
    return noise((33, 21))


@pytest.fixture
def expected(u, reference):
    return reference(u, 6, [0, 0.25, 0.25, 0.25, 0.25])


def test_torch_on_the_host(devices, u, expected):
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(u.copy())
    got = stencil.jacobi(t, 6, machine=devices(1))
    assert isinstance(got, torch.Tensor)
    assert np.array_equal(got.numpy(), expected)
    assert np.array_equal(t.numpy(), u)
    with pytest.raises(ArgumentError, match=r"u.detach\(\)"):
        stencil.jacobi(t.requires_grad_(), 6, machine=devices(1))
    with pytest.raises(ElementTypeError, match=r"int64.*torch.float32"):
        stencil.jacobi(torch.ones((4, 4), dtype=torch.int64), 6, machine=devices(1))


@pytest.mark.parametrize("machine", ["host", "under test"])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_torch_on_gpus(devices, u, expected, machine, n):
    torch = torch_on_gpu_or_skip()
    where = {"machine": "host", "devices": n} if machine == "host" else {"machine": devices(n)}
    t = torch.from_numpy(u).cuda()
    got, report = stencil.jacobi(t, 6, report=True, **where)
    assert got.device == t.device
    assert np.array_equal(got.cpu().numpy(), expected)
    assert np.array_equal(t.cpu().numpy(), u)
    assert report.steps == 6
    # Work that torch has only queued is waited for; a transposed tensor is copied.
    torch.cuda._sleep(10_000_000)
    late = torch.from_numpy(u).cuda().mul_(2).mul_(0.5).T.contiguous().T
    assert np.array_equal(stencil.jacobi(late, 6, **where).cpu().numpy(), expected)
    assert stencil.jacobi(t, 6, out=t, **where) is t
    assert np.array_equal(t.cpu().numpy(), expected)


@pytest.mark.parametrize("machine", ["host", "under test"])
def test_cupy(devices, u, expected, machine):
    cupy = cupy_or_skip()
    where = {"machine": "host", "devices": 2} if machine == "host" else {"machine": devices(1)}
    c = cupy.asarray(u)
    got = stencil.jacobi(c, 6, **where)
    assert isinstance(got, cupy.ndarray)
    assert np.array_equal(got.get(), expected)
    assert np.array_equal(c.get(), u)
    assert np.array_equal(stencil.jacobi(cupy.asfortranarray(c), 6, **where).get(), expected)
    out = cupy.zeros_like(c)
    assert stencil.jacobi(u, 6, out=out, **where) is out
    assert np.array_equal(out.get(), expected)


def test_cuda_array_interface(devices, kind, u, expected):
    cupy = cupy_or_skip()
    if kind != "cuda":
        pytest.skip("virtual devices cannot read the memory of GPUs")

    class Wrapped:
        def __init__(self, array):
            self.array, self.shape, self.dtype = array, array.shape, array.dtype
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    given, out = Wrapped(cupy.asarray(u)), Wrapped(cupy.zeros(u.shape, u.dtype))
    cupy.cuda.Device().synchronize()
    assert stencil.jacobi(given, 6, machine=devices(1), out=out) is out
    assert np.array_equal(out.array.get(), expected)
