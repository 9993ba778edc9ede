"""What the tests share: the machine under test, the NumPy reference, input arrays.

STARLING_TEST_MACHINE=cuda runs them on GPUs; otherwise virtual devices are used. STARLING_TEST_SEED repeats random
inputs; a test that fails shows the seed it had.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from starling import machine
from starling.machine import Machine

KIND = os.environ.get("STARLING_TEST_MACHINE", "host")
SEED = os.environ.get("STARLING_TEST_SEED")


@pytest.fixture(scope="session")
def kind() -> str:
    return KIND


@pytest.fixture(scope="session")
def devices() -> Callable[[int], Machine]:
    """devices(n): a machine of n devices; skips where GPUs have fewer."""
    made: dict[int, Machine] = {}

    def get(n: int) -> Machine:
        if n not in made:
            if KIND == "cuda" and machine.cuda().size < n:
                pytest.skip(f"the GPUs have fewer than {n} PEs")
            made[n] = machine.named(KIND, n)
        return made[n]

    return get


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
    """Defaults of the person who runs the tests do not matter."""
    for name in [name for name in os.environ if name.startswith("STARLING_") and name != "STARLING_TEST_MACHINE"]:
        monkeypatch.delenv(name)
    if KIND == "cuda":
        monkeypatch.setenv("STARLING_MACHINE", "cuda")
    else:
        monkeypatch.setenv("STARLING_MACHINE", "host")
