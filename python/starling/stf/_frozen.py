"""Data that is used outside of tasks for a while, as `with` blocks."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from starling import _device_arrays
from starling._native import native
from starling.errors import ArgumentError
from starling.stf import _views
from starling.stf._access import Access
from starling.stf._functions import note_writer

if TYPE_CHECKING:
    from starling.stf._context import Context


class Frozen:
    """Data outside of tasks; made by :meth:`starling.stf.Context.freeze`. It stays where it is within a ``with`` block.

    Tasks may read it meanwhile, if it is frozen for reading; all other use is an ArgumentError.
    """

    def __init__(self, context: Context, access: Access) -> None:
        self._context = context
        self._access = access
        self._bound: native.StfFrozen | None = None
        self._view: Any = None
        self._leave: Callable[[], None] = lambda: None

    def __enter__(self) -> Frozen:
        context = self._context
        if self._bound is not None:
            raise ArgumentError(f"{self._access.data.describe()} is frozen by this already; leave its block first")
        context._outside_of_bodies("Context.freeze")
        access = self._access
        context._functions.check("freeze", (access,))
        bound = context._bound.freeze(access.bound)
        address = bound.get()
        owner = context._owner(address)
        on_host = context.machine.kind == "host" or bound.device < 0
        if on_host:
            bound.synchronize()
            context._functions.check("freeze", (access,))
            self._view = _views.on_host(access, address, owner)
        else:
            device = context._ordinal(bound.device)
            self._view = _views.on_gpu(access, address, bound.stream, device, owner)
            self._leave = _device_arrays.make_current(device, bound.stream)
        note_writer((access,), context._functions.number())
        self._bound = bound
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        bound, self._bound = self._bound, None
        if bound is None:
            return
        _views.end((self._view,))
        self._view = None
        try:
            self._leave()
        finally:
            self._leave = lambda: None
            bound.unfreeze()

    def view(self) -> Any:
        """The data: on virtual devices and the host a NumPy array, on GPUs a CuPy array or an object with
        ``__cuda_array_interface__``. For the block alone.

        Raises:
            ArgumentError: Outside of the ``with`` block.
        """
        if self._bound is None:
            raise ArgumentError(f"view of {self._access.data.describe()} outside of the with block of freeze")
        return self._view

    @property
    def stream(self) -> int:
        """The ``cudaStream_t`` for work on it, which later tasks wait for; 0 on virtual devices and the host."""
        if self._bound is None:
            raise ArgumentError(f"stream of {self._access.data.describe()} outside of the with block of freeze")
        return self._bound.stream

    def __repr__(self) -> str:
        state = "frozen" if self._bound is not None else "not frozen"
        return f"<starling.stf.Frozen: {self._access.data.describe()}, {state}>"
