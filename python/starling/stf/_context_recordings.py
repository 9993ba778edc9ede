"""The calls of a context whose tasks come again."""

from __future__ import annotations

import math
from collections.abc import Callable

from starling._arguments import whole_number
from starling.errors import ArgumentError, ElementTypeError
from starling.stf._access import Access
from starling.stf._context_core import ContextCore, plain_function
from starling.stf._data import LogicalData
from starling.stf._functions import note_writer
from starling.stf._notes import Notes
from starling.stf._recording import Recording

Body = Callable[[], object]


class RecordingCalls(ContextCore):
    """Tasks that are recorded once and done many times."""

    def record(self, body: Body) -> Recording:
        """The tasks that `body` submits, to be done by :meth:`Recording.launch`; a decorator, too.

        The body is called once, on this thread, while others that submit wait. Only its tasks are done at a launch, and
        not the code between them. They are functions of :meth:`host_launch`, and on GPUs tasks, whose work is recorded
        from their streams. What a task reads is brought to it at each launch. Data that was made by the body and is
        still there has its value from each launch.

        When a function raises, the recording's other functions are left out until it has been launched again, which
        needs values for all that it reads: see :meth:`host_launch`.

        Raises:
            ArgumentError: `body` uses the user's memory in a way that cannot come twice, or calls ``wait``,
                ``synchronize``, ``fence``, ``freeze`` or ``finalize``.
            Unsupported: A task on virtual devices or the host, whose body would compute now and not at the launch.

        >>> import numpy as np
        >>> from starling import stf
        >>> a = np.zeros(3)
        >>> with stf.context(2) as ctx:
        ...     x = ctx.logical_data(a)
        ...     @ctx.record
        ...     def step():
        ...         @ctx.host_launch(x.rw())
        ...         def add(x):
        ...             x += 1
        ...     step.launch(10)
        >>> a
        array([10., 10., 10.])
        """
        plain_function("Context.record", body)
        self._outside_of_bodies("Context.record")
        notes = Notes(self._functions.number())
        try:
            bound = self._bound.record(self._noting(notes, body))
        except BaseException:
            self._functions.leave(notes)
            raise
        return Recording(self._whole, bound, notes)

    def repeat(self, n: int, body: Body) -> None:
        """Does the tasks of `body`, which is called once, `n` times.

        As :meth:`record` and :meth:`Recording.launch`, but devices loop on their own where they can. Within the body of
        a recording it calls `body` `n` times instead.

        >>> import numpy as np
        >>> from starling import stf
        >>> a = np.ones(1)
        >>> with stf.context(2) as ctx:
        ...     x = ctx.logical_data(a)
        ...     def double(x):
        ...         x *= 2
        ...     ctx.repeat(10, lambda: ctx.host_launch(double, x.rw()))
        >>> a
        array([1024.])
        """
        plain_function("Context.repeat", body)
        count = whole_number("n", n, least=0, most=2**62)
        if self._records():
            for _ in range(count):
                body()
            return
        self._outside_of_bodies("Context.repeat")
        if count > 0:
            self._loop(lambda noting: self._bound.repeat(count, noting(body)))

    def repeat_while(self, flag: LogicalData, body: Body, most: int) -> None:
        """Does the tasks of `body`, and again while what they have written into `flag` is not 0.

        Within the body of a recording the loop becomes part of it, and decides anew in each launch.

        Args:
            flag: Of one integer or bool; a task of the body writes it.
            body: Submits the tasks; it is called once.
            most: How often they are done at most; the flag tells afterwards whether it would have gone on.

        Raises:
            ArgumentError: The flag has more elements, or no task writes it.
            ElementTypeError: The flag is no data of integers.
        """
        plain_function("Context.repeat_while", body)
        access = self._flag("Context.repeat_while", flag)
        count = whole_number("most", most, least=1, most=2**62)
        if self._records():
            self._bound.repeat_while(access.data._bound, body, count)
            return
        self._outside_of_bodies("Context.repeat_while")
        self._loop(lambda noting: self._bound.repeat_while(access.data._bound, noting(body), count))

    def run_if(self, flag: LogicalData, body: Body, otherwise: Body | None = None) -> None:
        """Does the tasks of `body` if `flag` is not 0 when the tasks so far are over, else those of `otherwise`.

        Waits for the flag. Within the body of a recording the branch becomes part of it, and decides anew in each
        launch.

        Args:
            flag: Of one integer or bool.
            body: Submits the tasks; it is called once, whatever the flag says.
            otherwise: The same, if there is something to do then.

        Raises:
            ArgumentError: The flag has more elements, or no value.
            ElementTypeError: The flag is no data of integers.
            TaskError: The function that should have written the flag has failed.

        >>> import numpy as np
        >>> from starling import stf
        >>> a, f = np.ones(1), np.array([0])
        >>> with stf.context(2) as ctx:
        ...     x, flag = ctx.logical_data(a), ctx.logical_data(f)
        ...     def raise_by(n, x):
        ...         x += n
        ...     ctx.run_if(
        ...         flag,
        ...         lambda: ctx.host_launch(lambda x: raise_by(10, x), x.rw()),
        ...         lambda: ctx.host_launch(lambda x: raise_by(20, x), x.rw()),
        ...     )
        >>> a
        array([21.])
        """
        for one in (body,) if otherwise is None else (body, otherwise):
            plain_function("Context.run_if", one)
        access = self._flag("Context.run_if", flag)
        if self._records():
            self._note((access,), 0)
            self._bound.run_if(access.data._bound, body, otherwise)
            return
        self._outside_of_bodies("Context.run_if")

        def branch(noting: Callable[[Body], Body]) -> None:
            self._functions.check("Context.run_if", (access,))
            self._bound.run_if(access.data._bound, noting(body), None if otherwise is None else noting(otherwise))

        self._loop(branch)

    def _flag(self, call: str, flag: LogicalData) -> Access:
        (access,) = self._own(call, (flag.read() if isinstance(flag, LogicalData) else flag,))
        shape, dtype = access.data.layout
        if dtype.kind not in "biu":
            raise ElementTypeError(f"{call}: the flag is of {dtype}; pass data of an integer or bool")
        if math.prod(shape) != 1:
            raise ArgumentError(f"{call}: the flag has the shape {shape}; pass data of one element")
        return access

    def _loop(self, do: Callable[[Callable[[Body], Body]], None]) -> None:
        """Records and launches in one call, `do`, which gets what makes a body note its tasks."""
        notes = Notes(self._functions.number())
        self._settle(None)

        def noting(body: Body) -> Body:
            def checked_body() -> None:
                self._noting(notes, body)()
                self._functions.check("the loop", notes.reads)
                self._functions.launched(notes)

            return checked_body

        try:
            do(noting)
            self._functions.launched(notes)
            note_writer(notes.writes, notes.number)
        finally:
            self._functions.leave(notes)

    def _noting(self, notes: Notes, body: Body) -> Body:
        """The body, whose tasks are noted. Called by the native context, for one recording at a time."""

        def noted() -> None:
            self._notes = notes
            try:
                body()
            finally:
                self._notes = None

        return noted
