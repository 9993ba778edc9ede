"""Arrays of the user as logical data: what may be taken in place, and why not otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np

from starling._arguments import whole_number
from starling._element_types import known_type
from starling._libraries import CuPy, library_of
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.machine import Machine

MOST_DIMENSIONS = 4
MOST_BYTES = 2**62


@dataclass(frozen=True)
class Adopted:
    """Memory that a context works on in place. `pitch`: bytes from row to row; 0: all in one piece."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pitch: int
    place: native.data_place
    writable: bool


def element_type(dtype: object) -> np.dtype[Any]:
    """A dtype of numbers in the byte order of this machine.

    >>> element_type("f8")
    dtype('float64')
    """
    found = known_type(dtype)
    if found.kind not in "biufc":
        raise ElementTypeError(f"dtype = {found}; logical data holds numbers: bool, int, uint, float or complex")
    if not found.isnative:
        raise ElementTypeError(
            f"dtype = {found.str!r} is in another byte order; convert with .astype({found.newbyteorder('=').name!r})"
        )
    return found


def extents(shape: SupportsIndex | Sequence[SupportsIndex], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """A shape as a tuple of 1 to 4 numbers.

    >>> extents(5, np.dtype("f8"))
    (5,)
    """
    if isinstance(shape, (str, bytes)) or not (hasattr(shape, "__iter__") or hasattr(shape, "__index__")):
        raise ElementTypeError(f"shape = {shape!r} is a {type(shape).__name__}; pass a number or a tuple of numbers")
    parts = [shape] if not isinstance(shape, Sequence) and hasattr(shape, "__index__") else list(shape)  # type: ignore[arg-type]
    found = tuple(whole_number(f"shape[{d}]", n, least=0, most=MOST_BYTES) for d, n in enumerate(parts))
    check_dimensions("shape", found)
    if math.prod(found) * dtype.itemsize > MOST_BYTES:
        raise ArgumentError(f"shape = {found} of {dtype} has {math.prod(found) * dtype.itemsize} bytes; too many")
    return found


def check_dimensions(name: str, shape: tuple[int, ...]) -> None:
    if not 1 <= len(shape) <= MOST_DIMENSIONS:
        raise ArgumentError(
            f"{name} has {len(shape)} dimensions, shape {shape}; must have 1 to {MOST_DIMENSIONS}: use reshape"
        )


def row_pitch(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """0 for an array in one piece, else the bytes from one row to the next.

    >>> row_pitch((3, 4), (80, 8), 8)
    80
    """
    expected = itemsize
    in_one_piece = True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        in_one_piece = in_one_piece and (extent == 1 or stride == expected)
        expected *= extent
    if in_one_piece or 0 in shape:
        return 0
    rows = len(shape) == 2 and (shape[1] == 1 or strides[1] == itemsize) and strides[0] >= shape[1] * itemsize
    if not rows:
        raise ArgumentError(
            f"the array has shape {shape} and strides {strides}; it must be C-contiguous, or two-dimensional with "
            "contiguous rows in ascending order: pass numpy.ascontiguousarray(...), whose value you copy back"
        )
    return strides[0]


def adopt(array: Any, machine: Machine) -> Adopted:
    """Checks an array of NumPy or CuPy that a context is to work on."""
    library = library_of(array, "array")
    if isinstance(array, np.ma.MaskedArray):
        raise ElementTypeError("the array is masked, and tasks know no masks; pass array.filled(value)")
    if isinstance(library, CuPy):
        return on_gpu(array, machine)
    if not isinstance(array, np.ndarray):
        raise ElementTypeError(f"array is a {type(array).__name__}; pass an array of NumPy or CuPy")
    dtype = element_type(array.dtype)
    check_dimensions("array", array.shape)
    return Adopted(
        address=array.__array_interface__["data"][0],
        shape=array.shape,
        dtype=dtype,
        pitch=row_pitch(array.shape, array.strides, dtype.itemsize),
        place=native.data_place.host(),
        writable=array.flags.writeable,
    )


def on_gpu(array: Any, machine: Machine) -> Adopted:
    """An array of CuPy stays on its GPU."""
    ordinals = [d.id for d in machine.devices] if machine.kind == "cuda" else []
    if array.device.id not in ordinals:
        raise ArgumentError(
            f"the array is on GPU {array.device.id}, which is not a device of {machine!r}; "
            "copy it to the host, or use a machine that has it"
        )
    CuPy().settle(array)
    dtype = element_type(array.dtype)
    shape = tuple(int(n) for n in array.shape)
    check_dimensions("array", shape)
    return Adopted(
        address=int(array.data.ptr),
        shape=shape,
        dtype=dtype,
        pitch=row_pitch(shape, tuple(array.strides), dtype.itemsize),
        place=native.data_place.device(ordinals.index(array.device.id)),
        writable=True,
    )
