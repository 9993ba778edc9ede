"""What bodies of tasks get for their data: arrays over the memory of an instance.

An array that outlives its task stays safe to read: it keeps the memory in place, which by then may hold other values.
NumPy's can no longer be written then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling import _device_arrays
from starling.stf._access import Access


def on_host(access: Access, address: int, keep: object) -> NDArray[Any]:
    """A NumPy array over the memory at an address; read-only unless the task writes."""
    shape, dtype = access.layout
    return _device_arrays.on_host(address, shape, dtype, writable=access.writes, keep=(keep, access.data._array))


def on_gpu(access: Access, address: int, stream: int, device: int, keep: object) -> Any:
    """A CuPy array; without CuPy, an object with `__cuda_array_interface__`. CuPy knows no read-only arrays."""
    shape, dtype = access.layout
    return _device_arrays.on_gpu(
        address,
        shape,
        dtype,
        writable=access.writes,
        stream=stream,
        device=device,
        keep=(keep, access.data._array),
    )


def end(views: tuple[Any, ...]) -> None:
    """Views of a task that is over can be read, not written."""
    for view in views:
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
