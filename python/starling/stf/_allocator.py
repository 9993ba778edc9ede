"""Memory of the user's own for contexts: what functions in Python give, and who holds it.

The native module asks for memory, and gives it back, while it holds locks that handles of Starling need when they die.
So Python's collector of cycles stands still meanwhile, and contexts refuse calls.
"""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from starling.errors import ArgumentError, ElementTypeError
from starling.stf._functions import running_for_context

# Bytes, the number of the device or None for the host, and a cudaStream_t; an array, or None.
Allocate = Callable[[int, "int | None", int], Any]

ALIGNMENT = 256

_one_at_a_time = threading.Lock()


@contextmanager
def _called_by_the_context() -> Iterator[None]:
    with _one_at_a_time, running_for_context():
        collects = gc.isenabled()
        gc.disable()
        try:
            yield
        finally:
            if collects:
                gc.enable()


class Pieces:
    """What one function has given to one context and has not got back."""

    def __init__(self, allocate: Allocate, protocol: str) -> None:
        self._allocate = allocate
        self._protocol = protocol
        self._given: dict[int, tuple[int, object]] = {}  # by the start: the end, and the array

    def allocate(self, nbytes: int, device: int, stream: int) -> int:
        """The start of so many bytes; 0: there are no more. Device -1 is the host."""
        with _called_by_the_context():
            array = self._allocate(nbytes, None if device < 0 else device, stream)
            if array is None:
                return 0
            start = start_in(array, nbytes, self._protocol)
            self._given[start] = start + nbytes, array
            return start

    def deallocate(self, start: int) -> None:
        """Nothing uses what `allocate` has given; the array goes, unless a view holds it."""
        with _called_by_the_context():
            del self._given[start]

    def owner(self, address: int) -> object:
        """The array that an address is in, or None."""
        return next((array for start, (end, array) in tuple(self._given.items()) if start <= address < end), None)


def pieces_of(name: str, allocate: Allocate | None, *, on_gpus: bool) -> Pieces | None:
    """An allocator for the native module; None: it has its own."""
    if allocate is None:
        return None
    if not callable(allocate):
        raise ElementTypeError(f"{name} = {allocate!r} is no function; pass one that takes (nbytes, device, stream)")
    return Pieces(allocate, "__cuda_array_interface__" if on_gpus else "__array_interface__")


def start_in(array: Any, nbytes: int, protocol: str) -> int:
    """The first multiple of 256 in an array, which has to have so many bytes from there.

    >>> a = np.zeros(1000, dtype="u1")
    >>> start_in(a, 700, "__array_interface__") % ALIGNMENT
    0
    """
    interface = getattr(array, protocol, None)
    if not isinstance(interface, dict):
        raise ElementTypeError(f"the allocator gave a {type(array).__name__}; give an array with {protocol}")
    address, read_only = interface["data"]
    if read_only:
        raise ArgumentError("the allocator gave an array that is read-only; give one that can be written")
    itemsize = np.dtype(interface["typestr"]).itemsize
    if not in_one_piece(interface["shape"], interface.get("strides"), itemsize):
        raise ArgumentError(
            f"the allocator gave an array of strides {interface['strides']}; give one that is C-contiguous"
        )
    size = math.prod(interface["shape"]) * itemsize
    start = -(-address // ALIGNMENT) * ALIGNMENT
    if start + nbytes > address + size:
        raise ArgumentError(
            f"the allocator gave {size} bytes at {address:#x}, where {nbytes} were asked for that start at a multiple "
            f"of {ALIGNMENT}; give them from there, or {ALIGNMENT - 1} more"
        )
    return int(start)


def in_one_piece(shape: tuple[int, ...], strides: tuple[int, ...] | None, itemsize: int) -> bool:
    """Whether an array is C-contiguous, which no strides mean."""
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides or ()), strict=False):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True
