"""Tasks as `with` blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from starling import _device_arrays
from starling._arguments import whole_number
from starling._native import native
from starling.errors import ArgumentError
from starling.stf import _views
from starling.stf._access import Access
from starling.stf._functions import refuse_within_function

if TYPE_CHECKING:
    from starling.stf._context import Context


class Task:
    """A task; made by :meth:`starling.stf.Context.task`. Its body is a ``with`` block, on one thread, or what comes
    between :meth:`begin` and :meth:`end`.

    An exception in the body makes the task fail, and goes on: what the task should have written has no value until
    another task writes it.
    """

    def __init__(
        self,
        context: Context,
        accesses: tuple[Access, ...],
        where: native.exec_place,
        name: str,
        priority: int,
    ) -> None:
        self._context = context
        self._accesses = accesses
        self._where = where
        self._name = name
        self._priority = priority
        self._bound: native.StfTask | None = None
        self._begun = False
        self._thread = 0
        self._views: dict[int, tuple[Any, ...]] = {}  # by device of its place
        self._leave: Callable[[], None] = lambda: None

    def begin(self) -> Task:
        """Begins it by hand, as a ``with`` block does: its body goes on until :meth:`end`, or :meth:`fail`.

        >>> import numpy as np
        >>> from starling import stf
        >>> ctx = stf.context(2)
        >>> rows = [ctx.logical_data(np.full(3, float(i))) for i in range(4)]
        >>> total = ctx.logical_data(np.zeros(3))
        >>> t = ctx.task([r.read() for r in rows], total.rw()).begin()
        >>> *parts, out = t.views()
        >>> out += sum(parts)
        >>> t.end()
        >>> ctx.wait(total)
        array([6., 6., 6.])
        >>> ctx.finalize()
        """
        return self.__enter__()

    def end(self) -> None:
        """Ends what :meth:`begin` began.

        Raises:
            ArgumentError: It was not begun, or is over; it was begun on another thread, and has failed.
        """
        self._in_body("end")
        self.__exit__(None, None, None)

    def fail(self) -> None:
        """Ends it as an exception in its body does: what it should have written has no value.

        Raises:
            ArgumentError: It was not begun, or is over.
        """
        self._in_body("fail")
        self.__exit__(RuntimeError, None, None)

    def __enter__(self) -> Task:
        context = self._context
        if self._begun:
            raise ArgumentError(f"{self._title()} was begun already; make another one with Context.task")
        self._begun = True
        refuse_within_function("Context.task")
        context._functions.sweep()
        in_place = context.machine.kind == "host" or self._where.is_host
        bound = context._begin(self._where, self._accesses, self._name, self._priority)
        try:
            if in_place:
                bound.wait_for_data()
            context._check(self._title(), self._accesses)
            context._note(self._accesses, context._functions.number())
            if not in_place:
                self._leave = _device_arrays.make_current(context._ordinal(bound.devices()[0]), bound.streams()[0])
        except BaseException:
            bound.fail()
            raise
        self._bound = bound
        self._thread = threading.get_ident()
        context._open.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        bound, self._bound = self._bound, None
        if bound is None:
            return
        self._context._open.discard(self)
        elsewhere = threading.get_ident() != self._thread
        try:
            for views in self._views.values():
                _views.end(views)
            self._views.clear()
            if not elsewhere:
                self._leave()
        finally:
            if kind is None and not elsewhere:
                bound.finish()
            else:
                bound.fail()
            self._accesses = ()  # what is over keeps no data
        if elsewhere:
            raise ArgumentError(
                f"{self._title()} ends on another thread than it began, and so has failed; end it where it began"
            )

    def views(self, device: int = 0) -> tuple[Any, ...]:
        """An array over the memory of every access, in their order; tokens have none.

        Of data that a task on several devices reads by ``data_place.replicated()`` each of them has a copy; `device` is
        which of `devices`, from 0. Views of other data are the same for all.

        On virtual devices and the host they are NumPy's, and those of ``read()`` cannot be written. On GPUs they are
        CuPy's, or without CuPy objects with ``__cuda_array_interface__``.

        They are for the body of the task. Later an array can still be read safely, but may show other values, and
        NumPy's can no longer be written; parts that were cut from it before can, and must not be.

        Raises:
            ArgumentError: Outside of the ``with`` block; the task is not on so many devices.
        """
        bound = self._in_body("views")
        which = whole_number("device", device, least=0, most=max(len(bound.devices()) - 1, 0))
        if which not in self._views:
            self._views[which] = tuple(
                self._view(access, bound.address(number, which), which)
                for number, access in enumerate(self._accesses)
                if not access.data.is_token
            )
        return self._views[which]

    @property
    def stream(self) -> int:
        """The ``cudaStream_t`` for its work; 0 on virtual devices. CuPy's current stream within the block."""
        return self._in_body("stream").streams()[0]

    @property
    def streams(self) -> tuple[int, ...]:
        """One for each device of its place."""
        return tuple(self._in_body("streams").streams())

    @property
    def devices(self) -> tuple[int, ...]:
        """The devices of its place; none for the host."""
        return tuple(d for d in self._in_body("devices").devices() if d >= 0)

    def _view(self, access: Access, address: int, which: int) -> Any:
        owner = self._context._owner(address)
        if self._context.machine.kind == "host" or self._where.is_host:
            return _views.on_host(access, address, owner)
        device = self._context._ordinal(self.devices[which])
        return _views.on_gpu(access, address, self.streams[which], device, owner)

    def _in_body(self, what: str) -> native.StfTask:
        if self._bound is None:
            raise ArgumentError(
                f"{what} of {self._title()} outside of its body; "
                "use it within the with block, or between begin() and end()"
            )
        return self._bound

    def _title(self) -> str:
        return f"task '{self._name}'" if self._name else "a task"

    def __repr__(self) -> str:
        state = "in its body" if self._bound is not None else "over" if self._begun else "not begun"
        return f"<starling.stf.Task: {self._title()}, {state}>"
