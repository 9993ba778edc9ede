"""What all calls of a context share: its fields, its checks, and how a task begins."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.machine import Machine
from starling.stf._access import Access, checked
from starling.stf._allocator import Allocate, pieces_of
from starling.stf._data import LogicalData
from starling.stf._functions import Functions, Pending, note_writer, refuse_within_function, writers_of
from starling.stf._memory import ArraysInUse

if TYPE_CHECKING:
    from starling.stf._context import Context
    from starling.stf._notes import Notes
    from starling.stf._resources import Resources
    from starling.stf._task import Task

Backend = Literal["stream", "graph", "automatic"]


class ContextCore:
    """The part of a context that its calls are made of."""

    def __init__(
        self,
        machine: Machine,
        backend: Backend,
        device_memory: int,
        drawing: bool,
        resources: Resources | None,
        device_allocator: Allocate | None,
        host_allocator: Allocate | None,
    ) -> None:
        self._ended = True
        self.machine = machine
        self.backend = backend
        self._of_devices = pieces_of("device_allocator", device_allocator, on_gpus=machine.kind == "cuda")
        self._of_host = pieces_of("host_allocator", host_allocator, on_gpus=False)
        self._functions = Functions()
        self._open: set[Task] = set()
        self._notes: Notes | None = None  # of the recording under way
        self._arrays: list[Any] = []  # of the user; the context works on them until it ends
        self._in_use = ArraysInUse()
        self._adopting = threading.RLock()  # of those in use; what the collector ends meanwhile may make others
        # Bodies on virtual devices compute themselves, which cannot be recorded.
        native_backend = "stream" if backend == "automatic" and machine.kind == "host" else backend
        self._bound = native.StfContext(
            machine,
            backend=native_backend,
            device_memory=device_memory,
            drawing=drawing,
            runner=self._functions.run,
            resources=None if resources is None else resources._bound,
            device_allocator=self._of_devices,
            host_allocator=self._of_host,
        )
        self._memory = self._bound.memory()
        self._at_exit = weakref.finalize(self, _finalize, weakref.ref(self._whole))
        self._ended = False

    @property
    def _whole(self) -> Context:
        """This context, as what it makes knows it."""
        return cast("Context", self)

    def _ordinal(self, device: int) -> int:
        return self.machine.devices[device].id

    def _owner(self, address: int) -> object:
        """What views of the memory at an address hold on to."""
        pieces = [p.owner(address) for p in (self._of_devices, self._of_host) if p is not None]
        return (self._memory, *pieces) if pieces else self._memory

    def _begin(
        self, where: native.exec_place, accesses: tuple[Access, ...], name: str, priority: int = 0
    ) -> native.StfTask:
        return self._bound.begin(where, [a.bound for a in accesses], name, priority)

    def _launch(self, function: Callable[..., object], accesses: tuple[Access, ...], name: str | None) -> None:
        plain_function("Context.host_launch", function)
        title = text("name", name) or getattr(function, "__name__", type(function).__name__)
        self._functions.sweep()
        bound = self._begin(native.exec_place.host(), accesses, title)
        try:
            self._check(f"host function '{title}'", accesses)
            addresses = tuple(bound.address(i, 0) for i in range(len(accesses)))
            owners = tuple(self._owner(address) for address in addresses)
            number = self._functions.number()
            notes = self._notes if self._records() else None
            what = Pending(title, function, accesses, addresses, writers_of(accesses), owners, notes)
            self._functions.submit(number, what, bound)
            self._note(accesses, number)
        except BaseException:
            bound.fail()
            raise
        bound.finish()

    def _own(self, call: str, accesses: tuple[object, ...]) -> tuple[Access, ...]:
        found = checked(call, accesses)
        for access in found:
            if access.data.context is not self:
                raise ArgumentError(
                    f"{call}: {access.data.describe()} belongs to another context; contexts share no data"
                )
        return found

    def _read(self, call: str, data: object, place: native.data_place | None = None) -> Access:
        """Of a call that takes logical data itself."""
        if not isinstance(data, LogicalData):
            raise ElementTypeError(
                f"{call}: data is a {type(data).__name__}; pass logical data itself, as Context.logical_data returns it"
            )
        return self._own(call, (data.read(place),))[0]

    def _outside_of_bodies(self, call: str) -> None:
        refuse_within_function(call)
        if any(task._thread == threading.get_ident() for task in tuple(self._open)):
            raise ArgumentError(f"{call} within the body of a task; call it after the with block")
        if self._records():
            raise ArgumentError(f"{call} within the body of a recording; call it after record or repeat")

    # ---- recordings ----

    def _records(self) -> bool:
        """Whether tasks of this thread are recorded."""
        notes = self._notes
        return notes is not None and notes.of_this_thread

    def _check(self, name: str, accesses: tuple[Access, ...]) -> None:
        """That functions have written what a task reads; of a recording its launches say it."""
        if not self._records():
            self._functions.check(name, accesses)

    def _note(self, accesses: tuple[Access, ...], number: int) -> None:
        """Who writes what the task has, for those that come after."""
        if self._notes is not None and self._notes.of_this_thread:
            self._notes.add(accesses)
        else:
            note_writer(accesses, number)

    def _settle(self, but_for: Notes | None) -> None:
        """What functions so far have written, or failed to write, is known; those of one recording may still run."""
        if not self._functions.busy(but_for):
            return
        running = self._functions.running()
        self._bound.synchronize()
        self._functions.over(running)

    def _raise_first(self) -> None:
        failure = self._functions.first_failure()
        if failure is not None:
            raise failure


def _finalize(reference: weakref.ref[Context]) -> None:
    """At the end of Python, of a context that is still there."""
    left = reference()
    if left is not None:
        left.finalize()


def plain_function(call: str, function: object) -> None:
    """Raises ElementTypeError for what is no function, or one that would only make a coroutine."""
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise ElementTypeError(f"{call}: {function!r} is no plain function; pass one")


def text(name: str, value: object) -> str:
    """An optional text; nothing becomes an empty one."""
    if value is not None and not isinstance(value, str):
        raise ElementTypeError(f"{name} = {value!r} is a {type(value).__name__}; pass a text")
    return value or ""
