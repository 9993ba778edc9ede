"""What differs between array libraries. None is imported for this: an array shows by its type where it comes from, and
then its library is there. Arrays are Any, since they have no common base class."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from starling.errors import ArgumentError, ElementTypeError


class Library(Protocol):
    cast: str  # how a user converts the element type

    def dtype(self, u: Any) -> str:
        """The element type as NumPy names it."""

    def on_gpu(self, u: Any) -> bool: ...

    def contiguous(self, u: Any) -> Any:
        """u itself if it is C-contiguous and in the byte order of this machine, else a copy that is."""

    def empty_like(self, u: Any) -> Any:
        """A new C-contiguous array of the same shape, type and place."""

    def settle(self, u: Any) -> None:
        """Returns when the GPU work that u waits for is done: the solver works in streams of its own."""

    def to_host(self, u: Any) -> NDArray[Any]: ...

    def assign(self, u: Any, values: NDArray[Any]) -> None:
        """u[...] = values."""


class NumPy:
    cast = "astype('float32')"

    def dtype(self, u: Any) -> str:
        if isinstance(u, np.ma.MaskedArray):
            raise ElementTypeError("u is a masked array, and a stencil knows no masks; pass u.filled(value)")
        return str(u.dtype.newbyteorder("="))

    def on_gpu(self, u: Any) -> bool:
        return False

    def contiguous(self, u: Any) -> Any:
        return np.ascontiguousarray(u, dtype=u.dtype.newbyteorder("="))

    def empty_like(self, u: Any) -> Any:
        return np.empty(u.shape, u.dtype.newbyteorder("="))

    def settle(self, u: Any) -> None:
        pass

    def to_host(self, u: Any) -> NDArray[Any]:
        return np.asarray(u)

    def assign(self, u: Any, values: NDArray[Any]) -> None:
        u[...] = values


class CuPy:
    cast = "astype('float32')"

    def dtype(self, u: Any) -> str:
        return str(u.dtype)

    def on_gpu(self, u: Any) -> bool:
        return True

    def contiguous(self, u: Any) -> Any:
        with u.device:
            return sys.modules["cupy"].ascontiguousarray(u)

    def empty_like(self, u: Any) -> Any:
        with u.device:
            return sys.modules["cupy"].empty(u.shape, u.dtype)

    def settle(self, u: Any) -> None:
        with u.device:
            sys.modules["cupy"].cuda.get_current_stream().synchronize()

    def to_host(self, u: Any) -> NDArray[Any]:
        return np.asarray(u.get())

    def assign(self, u: Any, values: NDArray[Any]) -> None:
        with u.device:
            u[...] = sys.modules["cupy"].asarray(values)


class Torch:
    cast = "to(torch.float32)"

    def dtype(self, u: Any) -> str:
        if u.requires_grad:
            raise ArgumentError("u requires a gradient, and a stencil run has none; pass u.detach()")
        if u.layout is not sys.modules["torch"].strided:
            raise ArgumentError(f"u has the layout {u.layout}; pass u.to_dense()")
        return str(u.dtype).removeprefix("torch.")

    def on_gpu(self, u: Any) -> bool:
        if u.device.type not in ("cpu", "cuda"):
            raise ArgumentError(f"u is on the device {u.device}; pass u.cpu(), or a tensor on a CUDA device")
        return bool(u.device.type == "cuda")

    def contiguous(self, u: Any) -> Any:
        return u.contiguous()

    def empty_like(self, u: Any) -> Any:
        return sys.modules["torch"].empty(tuple(u.shape), dtype=u.dtype, device=u.device)

    def settle(self, u: Any) -> None:
        if self.on_gpu(u):
            sys.modules["torch"].cuda.current_stream(u.device).synchronize()

    def to_host(self, u: Any) -> NDArray[Any]:
        return np.asarray(u.cpu().numpy())

    def assign(self, u: Any, values: NDArray[Any]) -> None:
        u.copy_(sys.modules["torch"].from_numpy(values))


class Foreign:
    """GPU arrays of other libraries, by DLPack or __cuda_array_interface__. They must be ready when they are passed."""

    cast = "astype('float32')"

    def dtype(self, u: Any) -> str:
        return str(np.dtype(u.dtype)) if hasattr(u, "dtype") else str(np.dtype(u.__cuda_array_interface__["typestr"]))

    def on_gpu(self, u: Any) -> bool:
        return True

    def contiguous(self, u: Any) -> Any:
        return u

    def empty_like(self, u: Any) -> Any:
        raise ArgumentError(
            f"no new array of the type {type(u).__name__} can be made; pass the array for the result as out="
        )

    def settle(self, u: Any) -> None:
        if hasattr(u, "block_until_ready"):
            u.block_until_ready()

    def to_host(self, u: Any) -> NDArray[Any]:
        if hasattr(u, "copy_to_host"):  # Numba
            return np.asarray(u.copy_to_host())
        if hasattr(u, "__array__"):
            return np.asarray(u)
        raise ArgumentError(
            f"u is a {type(u).__name__} on a GPU, the machine has virtual devices only; "
            "pass an array of NumPy, or use machine='cuda'"
        )

    def assign(self, u: Any, values: NDArray[Any]) -> None:
        raise ArgumentError(
            f"out is a {type(u).__name__} on a GPU, the machine has virtual devices only; "
            "pass an array of NumPy, or use machine='cuda'"
        )


def library_of(u: Any, name: str = "u") -> Library:
    """The library that an array belongs to.

    >>> type(library_of(np.zeros(3))).__name__
    'NumPy'
    """
    if isinstance(u, np.ndarray):
        return NumPy()
    families = {kind.__module__.partition(".")[0] for kind in type(u).__mro__}
    if "torch" in families and isinstance(u, sys.modules["torch"].Tensor):
        return Torch()
    if "cupy" in families and isinstance(u, sys.modules["cupy"].ndarray):
        return CuPy()
    if hasattr(u, "__cuda_array_interface__") or hasattr(u, "__dlpack_device__"):
        return Foreign()
    raise ElementTypeError(
        f"{name} is a {type(u).__name__}, not an array; pass an array of NumPy, CuPy or PyTorch, "
        f"for example numpy.asarray({name}, dtype='float32')"
    )
