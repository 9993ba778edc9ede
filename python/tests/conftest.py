"""What the tests share: the machine under test, the NumPy reference, input arrays.

STARLING_TEST_MACHINE=cuda runs them on GPUs; otherwise virtual devices are used. Where GPUs are fewer than the devices
that a test asks for, several devices share each. STARLING_PES_PER_GPU and STARLING_GPU_SHARING are for tests that take
the machine there is. STARLING_TEST_SEED repeats random inputs; a test that fails shows the seed it had.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from starling import machine
from starling._native import native
from starling.machine import Machine

KIND = os.environ.get("STARLING_TEST_MACHINE", "host")
SEED = os.environ.get("STARLING_TEST_SEED")
PES_PER_GPU = int(os.environ.get("STARLING_PES_PER_GPU") or 1)
OF_THE_MACHINE = ("STARLING_TEST_MACHINE", "STARLING_PES_PER_GPU", "STARLING_GPU_SHARING")

if KIND == "cuda":
    # What a machine of GPUs that are shared sets before CUDA is used; here machines of whole GPUs may come before it.
    os.environ.setdefault("CUDA_DEVICE_MAX_CONNECTIONS", "32")
    os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")


@pytest.fixture(scope="session")
def kind() -> str:
    return KIND


@pytest.fixture(scope="session")
def devices() -> Callable[[int], Machine]:
    """devices(n): a machine of n devices; they share GPUs where these are fewer."""
    made: dict[int, Machine] = {}

    def get(n: int) -> Machine:
        if n not in made:
            each = gpus_shared_by(n)
            made[n] = machine.host(n) if KIND == "host" else machine.cuda([pe // each for pe in range(n)])
        return made[n]

    return get


@pytest.fixture(scope="session")
def pes_per_gpu() -> Callable[[int], int]:
    """pes_per_gpu(n): --pes-per-gpu or STARLING_PES_PER_GPU that a program needs to have n devices."""
    return lambda n: max(PES_PER_GPU, gpus_shared_by(n))


def gpus_shared_by(n: int) -> int:
    """How many of n devices share a GPU: 1 where there are as many GPUs, and on virtual devices."""
    return -(-n // max(native.probe_cuda().devices, 1)) if KIND == "cuda" else 1


@pytest.fixture(scope="session")
def reference() -> Callable[..., Any]:
    """The steps as plain NumPy: every axis in turn, low neighbour, then high, in the element type of the array."""

    def solve(u: Any, steps: int, coefficients: Any, periodic: Any = None) -> Any:
        c = np.asarray(coefficients, dtype=u.dtype)
        periodic = periodic or [False] * u.ndim
        held = np.zeros(u.shape, dtype=bool)
        for axis, wraps in enumerate(periodic):
            if not wraps:
                layers = np.moveaxis(held, axis, 0)
                layers[0] = layers[-1] = True
        for _ in range(steps):
            new = c[0] * u
            for axis in range(u.ndim):
                new = new + c[1 + 2 * axis] * np.roll(u, 1, axis)
                new = new + c[2 + 2 * axis] * np.roll(u, -1, axis)
            u = np.where(held, u, new)
        return u

    return solve


@pytest.fixture(scope="session")
def noise() -> Callable[..., Any]:
    """noise(shape, dtype): the same numbers from -1 to 1 every time."""

    def make(shape: tuple[int, ...], dtype: str = "float32") -> Any:
        return (2 * np.random.default_rng(7).random(shape) - 1).astype(dtype)

    return make


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, others in each run."""
    seed = int(SEED) if SEED else secrets.randbits(32)
    print(f"STARLING_TEST_SEED={seed}")  # shown where the test fails
    return np.random.default_rng(seed)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults of the person who runs the tests do not matter, but for those that say what the machine is."""
    for name in [name for name in os.environ if name.startswith("STARLING_") and name not in OF_THE_MACHINE]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STARLING_MACHINE", KIND)
    monkeypatch.setenv("STARLING_PES_PER_GPU", str(PES_PER_GPU))  # so that what commands set ends with the test
