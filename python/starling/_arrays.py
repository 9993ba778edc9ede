"""Arrays as arguments: checked, and seen as a solver wants them; results as new arrays of the same kind.

A CUDA array works with every machine: virtual devices get a copy in the memory of the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from starling._libraries import Foreign, Library, NumPy, library_of
from starling.errors import ArgumentError, ElementTypeError

ELEMENT_TYPES = ("float32", "float64")

CPU_OF_DLPACK = (1, 3)  # plain and pinned memory of the host


@dataclass(frozen=True)
class Array:
    """An array argument: `data` is C-contiguous and in the byte order of this machine."""

    data: Any
    library: Library
    shape: tuple[int, ...]
    dtype: str
    on_gpu: bool

    def for_machine(self, kind: str) -> Any:
        """What a machine of this kind can read, with the work behind it done."""
        self.library.settle(self.data)
        return self.library.to_host(self.data) if self.on_gpu and kind == "host" else self.data


def known(u: Any, name: str) -> tuple[Any, Library]:
    """An array and its library; those of other libraries in the memory of the host become NumPy's, without a copy."""
    library = library_of(u, name)
    if isinstance(library, Foreign) and hasattr(u, "__dlpack_device__") and u.__dlpack_device__()[0] in CPU_OF_DLPACK:
        try:
            return np.from_dlpack(u), NumPy()
        except (BufferError, RuntimeError):  # an element type that NumPy does not know
            return u, library
    return u, library


def adopt(u: Any, name: str = "u") -> Array:
    """Checks an array and takes it without a copy where that is possible."""
    u, library = known(u, name)
    dtype = library.dtype(u)
    if dtype not in ELEMENT_TYPES:
        raise ElementTypeError(
            f"{name} holds {dtype}; stencils compute in float32 or float64: "
            f"{remedy_for(dtype, name, library.cast, 'pass')}"
        )
    shape = tuple(int(n) for n in u.shape)
    if len(shape) not in (2, 3):
        raise ArgumentError(f"{name} has {len(shape)} dimensions, shape {shape}; must have 2 or 3")
    return Array(library.contiguous(u), library, shape, dtype, library.on_gpu(u))


def remedy_for(dtype: str, name: str, cast: str, verb: str) -> str:
    """What to do with an array of an element type that stencils do not compute in, without losing half of it.

    >>> remedy_for("int8", "u", "astype('float32')", "pass")
    "pass u.astype('float32')"
    """
    if dtype.startswith("complex"):
        return f"{verb} {name}.real and {name}.imag one after the other, the steps of one do not need the other"
    return f"{verb} {name}.{cast}"


def new_like(u: Array) -> Any:
    """A new array for a result: same library, shape, type and place."""
    return u.library.empty_like(u.data)


def check_out(out: Any, shape: tuple[int, ...], dtype: str) -> None:
    """Raises unless a result of this shape and type can be written to `out`."""
    out, library = known(out, "out")
    if library.dtype(out) != dtype:
        raise ElementTypeError(f"out holds {library.dtype(out)}, the result {dtype}; pass an out of {dtype}")
    if tuple(out.shape) != shape:
        raise ArgumentError(f"out has the shape {tuple(out.shape)}, the result {shape}; they must be equal")
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ArgumentError("out is read-only; pass an array that can be written, or leave out away")


def write(solver: Any, out: Any, kind: str) -> None:
    """Stores what a solver on a machine of this kind holds into `out`, of any layout."""
    out, library = known(out, "out")
    library.settle(out)
    direct = library.contiguous(out)
    if library.on_gpu(out) and kind == "host":
        staged = np.empty(tuple(out.shape), library.dtype(out))
        solver.store(staged)
        library.assign(out, staged)
    elif direct is out:
        solver.store(out)
    else:
        solver.store(direct)
        out[...] = direct
