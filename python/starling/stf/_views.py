"""What bodies of tasks get for their data: arrays over the memory of an instance.

An array that outlives its task stays safe to read: it keeps the memory in place, which by then may hold other values.
NumPy's can no longer be written then.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling.stf._access import Access


class Memory:
    """Memory by one of the two protocols that array libraries share. `keep` is what owns it."""

    def __init__(self, protocol: str, interface: dict[str, Any], keep: object) -> None:
        setattr(self, protocol, interface)
        self._keep = keep


def layout(access: Access, address: int, writable: bool) -> dict[str, Any]:
    shape, dtype = access.layout
    return {
        "version": 3,
        "data": (address, not writable),
        "shape": shape,
        "typestr": dtype.str,
        "strides": None,
    }


def on_host(access: Access, address: int, keep: object) -> NDArray[Any]:
    """A NumPy array over the memory at an address; read-only unless the task writes."""
    shape, dtype = access.layout
    if 0 in shape:
        view: NDArray[Any] = np.empty(shape, dtype)
        view.flags.writeable = access.writes
        return view
    memory = Memory("__array_interface__", layout(access, address, access.writes), (keep, access.data._array))
    return np.asarray(memory)


def on_gpu(access: Access, address: int, stream: int, device: int, keep: object) -> Any:
    """A CuPy array; without CuPy, an object with `__cuda_array_interface__`. CuPy knows no read-only arrays."""
    shape, dtype = access.layout
    interface = {**layout(access, address, access.writes), "stream": stream}
    memory = Memory("__cuda_array_interface__", interface, (keep, access.data._array))
    cupy = cupy_or_none()
    if cupy is None:
        return memory
    size = math.prod(shape) * dtype.itemsize
    owned = cupy.cuda.UnownedMemory(address, size, memory, device)
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


def end(views: tuple[Any, ...]) -> None:
    """Views of a task that is over can be read, not written."""
    for view in views:
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
