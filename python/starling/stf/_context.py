"""Contexts: where task flow begins and ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar, overload

from numpy.typing import NDArray

from starling._arguments import one_of, whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError, Error, Unsupported
from starling.machine import Machine
from starling.stf._access import Access
from starling.stf._allocator import Allocate
from starling.stf._context_core import Backend, text
from starling.stf._context_data import DataCalls
from starling.stf._context_recordings import RecordingCalls
from starling.stf._data import LogicalData
from starling.stf._functions import refuse_within_function, within_function
from starling.stf._resources import Resources, machine_of
from starling.stf._statistics import Statistics, statistics_html, statistics_of
from starling.stf._task import Task

Function = TypeVar("Function", bound=Callable[..., object])

log = logging.getLogger("starling")


class Context(DataCalls, RecordingCalls):
    """Takes tasks in program order and runs them in any order that gives the same values; made by :func:`context`.

    Several threads may submit tasks: their order is that in which they come. Tasks that use the same data take turns
    with their bodies. A context that is dropped, or left when Python ends, is finalized.

    As the subject of a ``with`` statement it finalizes at the end of the block. When the block is left by an exception
    it ends too, and what fails then is logged.

    Attributes:
        machine: Where tasks run.
        backend: ``"stream"``, ``"graph"`` or ``"automatic"``.
    """

    # ---- tasks ----

    def task(
        self,
        *accesses: Access | Sequence[Access],
        where: native.exec_place | None = None,
        name: str | None = None,
        priority: int = 0,
    ) -> Task:
        """A task, whose body is a ``with`` block, or what comes between ``begin()`` and ``end()`` of it.

        On virtual devices the body computes on the calling thread, which waits for the data of the task first.

        Args:
            accesses: What ``read()``, ``write()`` or ``rw()`` of logical data return, or lists of that, which count as
                their members.
            where: Device 0 if it is left out. ``exec_place.automatic()``: the device on which the context expects it to
                end first, by the times of earlier tasks of the same name; see :meth:`explain`.
            name: For errors and drawings.
            priority: From 0 to 2: of tasks that are ready, GPUs start those of a higher one first. It changes no value.

        Raises:
            ArgumentError: Data of another context, data that nobody has written, or data that a task holds in whose
                body this one begins; the context is finalized. Most are raised when the block begins.
            RangeError: The machine has no such device, or there is no such priority.
            OutOfMemory: The data does not fit.
            TaskError: It reads data whose writer failed.
            Unsupported: The body would have to compute while a graph is recorded: with ``backend="graph"`` on virtual
                devices and the host, with ``backend="automatic"`` on the host beside GPUs. :meth:`host_launch` works
                there.
        """
        refuse_within_function("Context.task")
        place = native.exec_place.device(0) if where is None else where
        if not isinstance(place, native.exec_place):
            raise ElementTypeError(f"where = {place!r} is a {type(place).__name__}; pass a starling.stf.exec_place")
        records = self.backend == "graph" or (self.backend == "automatic" and self.machine.kind != "host")
        if records and (self.machine.kind == "host" or place.is_host):
            raise Unsupported(
                "Context.task: with backend='graph' on virtual devices and the host, or 'automatic' on the host, the "
                "body of a task would compute before the graph of its data runs; use host_launch, or backend='stream'"
            )
        if self._records() and (self.machine.kind == "host" or place.is_host):
            raise Unsupported(
                "Context.task: on virtual devices and the host the body of a task computes once, while its recording "
                "is made; use host_launch in what is recorded"
            )
        level = whole_number("priority", priority, least=-(2**31), most=2**31 - 1)
        return Task(self, self._own("Context.task", accesses), place, text("name", name), level)

    @overload
    def host_launch(
        self, function: Callable[..., object], /, *accesses: Access | Sequence[Access], name: str | None = None
    ) -> None: ...
    @overload
    def host_launch(
        self, *accesses: Access | Sequence[Access], name: str | None = None
    ) -> Callable[[Function], Function]: ...
    def host_launch(
        self, *arguments: Access | Sequence[Access] | Callable[..., object], name: str | None = None
    ) -> Callable[[Function], Function] | None:
        """A function that runs on a thread of the host, in the order of its data, while this thread goes on.

        It gets NumPy arrays over its data, one for each access, also of lists; they are for the function alone. It
        must not use the context. What it raises comes out of the next ``synchronize()``, ``wait()`` or ``finalize()``,
        the first of several; what it should have written has no value then, though an array of the user may have got a
        part of one.

        >>> import numpy as np
        >>> from starling import stf
        >>> total = np.zeros(1)
        >>> with stf.context(2) as ctx:
        ...     x, s = ctx.logical_data(np.arange(5.0)), ctx.logical_data(total)
        ...     @ctx.host_launch(x.read(), s.write())
        ...     def add_up(x, s):
        ...         s[0] = x.sum()
        >>> total
        array([10.])
        """
        refuse_within_function("Context.host_launch")
        if arguments and callable(arguments[0]):
            self._launch(arguments[0], self._own("Context.host_launch", arguments[1:]), name)
            return None
        accesses = self._own("Context.host_launch", arguments)

        def launch(function: Function) -> Function:
            refuse_within_function("Context.host_launch")
            self._launch(function, accesses, name)
            return function

        return launch

    # ---- order ----

    def fence(self, stream: int | None = None) -> None:
        """Ends an epoch, without waiting: the graph back end starts the graph of its tasks.

        Args:
            stream: A ``cudaStream_t`` of yours, as a number, whose later work starts after all tasks so far.

        Raises:
            Unsupported: A stream on virtual devices, which have none.
        """
        self._outside_of_bodies("Context.fence")
        if stream is None:
            self._bound.fence()
        else:
            self._bound.fence_before(whole_number("stream", stream, least=0, most=2**64 - 1))

    def synchronize(self) -> None:
        """Returns when all tasks so far are over; raises what failed in them."""
        self._outside_of_bodies("Context.synchronize")
        running = self._functions.running()
        self._bound.synchronize()
        self._functions.over(running)
        self._functions.sweep()
        self._raise_first()

    def wait(self, data: LogicalData) -> NDArray[Any]:
        """A copy of the value, once it is there; the other tasks so far are over by then, too.

        Raises:
            TaskError: The value's writer failed.
        """
        self._outside_of_bodies("Context.wait")
        access = self._read("Context.wait", data)
        if data.is_token:
            raise ArgumentError("Context.wait: a token has no value; use synchronize()")
        values: list[NDArray[Any]] = []
        self._launch(lambda view: values.append(view.copy()), (access,), "wait")
        self.synchronize()
        return values[0]

    def hash(self, data: LogicalData) -> int:
        """For debugging: a number made of the bytes of the value, by FNV-1a with 64 bits, as ``context::hash`` in C++.

        Equal values have equal numbers in all runs; -0.0 and 0.0 are different bytes. Waits as :meth:`wait` does.

        >>> import numpy as np
        >>> from starling import stf
        >>> with stf.context(2) as ctx:
        ...     hex(ctx.hash(ctx.logical_data(np.zeros(1))))
        '0xa8c7f832281a39c5'
        """
        return native.fnv1a(self.wait(data).tobytes())

    def finalize(self) -> None:
        """Ends the context: all tasks are over, and the user's arrays have their values. Again: nothing.

        Raises what failed.
        """
        if self._ended:
            return
        self._outside_of_bodies("Context.finalize")
        self._ended = True
        running = self._functions.running()
        problem: Error | None = None
        try:
            self._bound.finalize()
        except Error as error:
            problem = error
        self._at_exit.detach()
        self._functions.over(running)
        self._functions.sweep()
        self._arrays.clear()
        self._in_use.clear()
        self._raise_first()
        if problem is not None:
            raise problem

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            return self.finalize()
        try:
            self.finalize()
        except Exception as problem:
            log.warning("context: %s, while it ended for %s", problem, kind.__name__)
        return None

    def __del__(self) -> None:
        if self._ended:
            return
        if within_function():
            # The collector may run on a thread of a stream, which cannot wait for streams.
            threading.Thread(target=self.finalize).start()
        else:
            self.finalize()

    # ---- what it does ----

    def places(self, place: native.exec_place | None = None) -> tuple[native.exec_place, ...]:
        """The devices of a place, each as a place of its own; None: all of the machine. Of the host, the host.

        Raises:
            ArgumentError: ``exec_place.automatic()``, which names none.
            RangeError: The machine has no such device.

        >>> from starling import stf
        >>> with stf.context(2) as ctx:
        ...     ctx.places()
        (<starling.stf.exec_place: device 0>, <starling.stf.exec_place: device 1>)
        """
        of = native.exec_place.all_devices() if place is None else place
        if not isinstance(of, native.exec_place):
            raise ElementTypeError(f"place = {place!r} is a {type(place).__name__}; pass a starling.stf.exec_place")
        return (of,) if of.is_host else tuple(map(native.exec_place.device, of.devices(self.machine.size)))

    def statistics(self) -> Statistics:
        """What it has done so far."""
        return statistics_of(self._bound.statistics())

    def explain(self) -> str:
        """How it chooses devices for ``exec_place.automatic()``, and between streams and graphs: what it measured.

        >>> import numpy as np
        >>> from starling import stf
        >>> with stf.context(2) as ctx:
        ...     for name in ("a", "b"):
        ...         x = ctx.logical_data(np.ones(4), name=name)
        ...         with ctx.task(x.rw(), where=stf.exec_place.automatic(), name="double") as t:
        ...             (dx,) = t.views()
        ...             dx *= 2
        >>> ctx.statistics().classes[0].name, sum(d.chosen for d in ctx.statistics().classes[0].devices)
        ('double', 2)
        >>> ctx.explain().startswith("task 'double', up to 63 B: device 0 had ")
        True
        """
        return self._bound.explain()

    def dot(self) -> str:
        """The tasks so far and their order, in the language of Graphviz.

        Raises:
            ArgumentError: The context was made without ``drawing=True``.
        """
        return self._bound.dot()

    def mermaid(self) -> str:
        """The same in the language of Mermaid."""
        return self._bound.mermaid()

    def _repr_html_(self) -> str:
        return statistics_html(self.statistics(), repr(self).strip("<>"))

    def __repr__(self) -> str:
        return f"<starling.stf.Context: {self.backend} back end, {self.machine!r}{', finalized' * self._ended}>"


def context(
    devices: int | Machine | str | None = None,
    *,
    backend: Backend = "stream",
    device_memory: int | str = 0,
    drawing: bool = False,
    resources: Resources | None = None,
    device_allocator: Allocate | None = None,
    host_allocator: Allocate | None = None,
) -> Context:
    """A context on a machine.

    Args:
        devices: How many, a machine, or the name of its kind: ``"host"``, ``"cuda"`` or ``"auto"``. None: the machine
            of the resources, or else all GPUs, or 4 virtual devices.
        backend: ``"stream"``: tasks go into streams as they come. ``"graph"``: those of an epoch, which ``fence()``
            ends, become one graph, and graphs are updated where that is possible. ``"automatic"``: each kind of epoch
            is measured both ways and then does what was faster; on virtual devices the same as ``"stream"``.
        device_memory: Most memory that the context takes of each device, in bytes or as text such as ``"512M"``; what
            does not fit moves to the host and comes back. 0: all there is.
        drawing: Remember the tasks, for ``dot()`` and ``mermaid()``.
        resources: What it shares with other contexts of the same machine, made by :func:`starling.stf.resources`.
        device_allocator: Where memory of the devices comes from, a function ``allocate(nbytes, device, stream)`` that
            gives an array of at least so many bytes, or None when there is no more: on GPUs one that has
            ``__cuda_array_interface__``, on virtual devices one of NumPy. It is used from its first multiple of 256
            bytes on, so that arrays which start elsewhere need 255 bytes more. What the function puts into `stream`, a
            ``cudaStream_t``, is over before the memory is used. The context drops the array when it does not need it
            any more, by the end of ``finalize()``. The function must not call contexts. What it raises becomes part of
            an OutOfMemory, if no room can be made. None: from the machine.
        host_allocator: The same for the host, with None for the device, and an array of NumPy on any machine; beside
            GPUs over pinned memory.

    Raises:
        ArgumentError: A value is not allowed; the resources are of another machine.
        ElementTypeError: The resources or an allocator are something else.
        Unsupported: The machine is not there.

    >>> from starling import stf
    >>> with stf.context(2, device_memory="1M") as ctx:
    ...     print(ctx)
    <starling.stf.Context: stream back end, <starling.Machine: 2 virtual devices>>
    """
    one_of("backend", backend, ("stream", "graph", "automatic"))
    if isinstance(device_memory, str):
        memory = native.parse_bytes(device_memory, "device_memory")
    else:
        memory = whole_number("device_memory", device_memory, least=0, most=2**50)
    if resources is not None and not isinstance(resources, Resources):
        raise ElementTypeError(
            f"resources = {resources!r} is a {type(resources).__name__}; pass what starling.stf.resources returns"
        )
    on = machine_of(devices) if devices is not None or resources is None else resources.machine
    return Context(on, backend, memory, bool(drawing), resources, device_allocator, host_allocator)
