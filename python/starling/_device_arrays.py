"""Arrays over memory of a machine: NumPy's where the host can read it, CuPy's on GPUs."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Memory:
    """Memory by one of the two protocols that array libraries share. `keep` is what owns it."""

    def __init__(self, protocol: str, interface: dict[str, Any], keep: object) -> None:
        setattr(self, protocol, interface)
        self._keep = keep


def layout(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], writable: bool) -> dict[str, Any]:
    return {
        "version": 3,
        "data": (address, not writable),
        "shape": shape,
        "typestr": dtype.str,
        "strides": None,
    }


def on_host(
    address: int, shape: tuple[int, ...], dtype: np.dtype[Any], *, writable: bool, keep: object
) -> NDArray[Any]:
    """A NumPy array over the memory at an address."""
    if 0 in shape:
        view: NDArray[Any] = np.empty(shape, dtype)
        view.flags.writeable = writable
        return view
    memory = Memory("__array_interface__", layout(address, shape, dtype, writable), keep)
    return np.asarray(memory)


def on_gpu(
    address: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    *,
    writable: bool,
    stream: int,
    device: int,
    keep: object,
) -> Any:
    """A CuPy array; without CuPy, an object with `__cuda_array_interface__`. CuPy knows no read-only arrays."""
    interface = {**layout(address, shape, dtype, writable), "stream": stream}
    memory = Memory("__cuda_array_interface__", interface, keep)
    cupy = cupy_or_none()
    if cupy is None:
        return memory
    owned = cupy.cuda.UnownedMemory(address, math.prod(shape) * dtype.itemsize, memory, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(owned, 0))


def cupy_or_none() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError:
        return None


def make_current(device: int, stream: int) -> Callable[[], None]:
    """Makes a device, by its CUDA ordinal, and a stream current for CuPy, if that is here; returns what ends it."""
    cupy = cupy_or_none()
    if cupy is None:
        return lambda: None
    wanted = cupy.cuda.ExternalStream(stream, device)
    stack = ExitStack()
    stack.enter_context(cupy.cuda.Device(device))
    stack.enter_context(wanted)
    return stack.close
