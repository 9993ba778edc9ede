"""Functions of host_launch: where they wait, and what came of them.

Work in streams knows a function by its number alone. The function itself, which may refer to the context, stays here,
where Python's garbage collector sees it, and goes on a thread of the user: what it refers to may wait when it dies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

from starling._native import native
from starling.errors import ArgumentError, TaskError
from starling.stf import _views
from starling.stf._access import Access
from starling.stf._notes import Notes

# A call of a context in a function that a stream runs has no other way to know.
_running = threading.local()


def within_function() -> bool:
    """Whether this thread runs a function for which a context waits."""
    return getattr(_running, "yes", False)


def refuse_within_function(call: str) -> None:
    """What waits for streams, or may, cannot be called by what they wait for."""
    if within_function():
        raise ArgumentError(
            f"{call} in a function of host_launch or of an allocator, for which the context waits; "
            "call it after the function has ended"
        )


@contextmanager
def running_for_context() -> Iterator[None]:
    """Of this thread, meanwhile: a context waits for what it does."""
    before = within_function()
    _running.yes = True
    try:
        yield
    finally:
        _running.yes = before


@dataclass(frozen=True)
class Failure:
    name: str
    exception: BaseException


@dataclass(frozen=True)
class Pending:
    name: str
    body: Callable[..., object]
    accesses: tuple[Access, ...]
    addresses: tuple[int, ...]
    writers: tuple[int, ...]
    keep: tuple[object, ...]  # what owns the memory at each address
    notes: Notes | None = None  # of the recording that it belongs to


@dataclass(frozen=True)
class Running:
    """Recordings at one moment: how often each that may run was launched, and those that nobody launches any more."""

    launched: dict[Notes, int]
    left: set[Notes]


class Functions:
    """Of one context. Tasks are numbered in the order in which they begin; a number tells who wrote a piece of data."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._pending: dict[int, Pending] = {}
        self._done: list[Pending] = []
        self._failures: dict[int, Failure] = {}  # by number; of those that did not run for it, too
        self._unseen: dict[int, BaseException] = {}
        self._recorded: dict[int, Pending] = {}
        self._launched: dict[Notes, int] = {}  # recordings that may run
        self._left: set[Notes] = set()  # recordings that nobody launches any more
        self._left_bound: list[native.StfRecording | None] = []

    def number(self) -> int:
        """For the next task."""
        return next(self._numbers)

    def submit(self, number: int, what: Pending, task: native.StfTask) -> None:
        """`what` is the work of `task`."""
        kept = self._pending if what.notes is None else self._recorded
        kept[number] = what
        try:
            task.call(number)
        except BaseException:
            del kept[number]
            raise
        if what.notes is not None:
            what.notes.functions.append(number)

    def run(self, number: int) -> None:
        """On a thread of a stream. A function whose data has no value is left out."""
        with running_for_context():
            recorded = self._recorded.get(number)
            if recorded is not None and recorded.notes is not None:
                self._run_recorded(number, recorded, recorded.notes)
                return
            what = self._pending.pop(number)
            self._done.append(what)
            failure = self._failure_of(what.writers) or self._call(number, what)
            if failure is not None:
                self._failures[number] = failure

    def _run_recorded(self, number: int, what: Pending, notes: Notes) -> None:
        if notes.failure is not None:
            return
        failure = self._call(number, what)
        if failure is not None:
            notes.failure = self._failures[notes.number] = failure

    def _call(self, number: int, what: Pending) -> Failure | None:
        views: tuple[Any, ...] = ()
        try:
            views = tuple(
                _views.on_host(access, address, keep)
                for access, address, keep in zip(what.accesses, what.addresses, what.keep, strict=True)
                if not access.data.is_token
            )
            what.body(*views)
        except BaseException as problem:  # whatever it is, the user gets it
            self._unseen[number] = problem
            return Failure(what.name, problem)
        finally:
            _views.end(views)
        return None

    def check(self, name: str, accesses: Sequence[Access]) -> None:
        """Raises TaskError when what these read should have been written by a function that has failed."""
        for access in accesses:
            failure = self._failure_of(writers_of([access]))
            if failure is not None:
                raise TaskError(
                    f"{name} reads {access.data.describe()}, which has no value: host function '{failure.name}' "
                    f"raised {type(failure.exception).__name__} instead of writing it"
                ) from failure.exception

    def sweep(self) -> None:
        """Lets go of functions that have run. On threads of the user alone."""
        self._done.clear()
        self._left_bound.clear()

    # ---- recordings ----

    def launched(self, notes: Notes) -> None:
        """The functions of a recording may run. Called before the launch and after it, so that no `over` of another
        thread misses it."""
        if notes.functions:
            self._launched[notes] = self._launched.get(notes, 0) + 1

    def leave(self, notes: Notes, bound: native.StfRecording | None = None) -> None:
        """A recording will not be launched again. On any thread."""
        self._left.add(notes)
        self._left_bound.append(bound)

    def busy(self, but_for: Notes | None) -> bool:
        """Whether functions may still run, those of one recording apart."""
        return bool(self._pending) or any(notes is not but_for for notes in tuple(self._launched))

    def running(self) -> Running:
        """What may run now, for `over`."""
        return Running(dict(self._launched), set(self._left))

    def over(self, what: Running) -> None:
        """All that has ended, so that functions that nobody launches again go."""
        for notes, launches in what.launched.items():
            if self._launched.get(notes) == launches:
                del self._launched[notes]
        self._left -= what.left
        for number in [number for notes in what.left for number in notes.functions]:
            self._recorded.pop(number, None)

    def first_failure(self) -> BaseException | None:
        """What the first function that failed has raised, once."""
        if not self._unseen:
            return None
        first = self._unseen[min(self._unseen)]
        self._unseen.clear()
        return first

    def _failure_of(self, writers: Sequence[int]) -> Failure | None:
        return next((self._failures[w] for w in writers if w in self._failures), None)


def writers_of(accesses: Sequence[Access]) -> tuple[int, ...]:
    """Who wrote what these read. The task that has the accesses has begun, so that nobody else changes it."""
    read = [data for access in accesses if access.reads for data in (access.data, *access.near)]
    return tuple(writer for data in read for writer in data._writers)


def note_writer(accesses: Sequence[Access], number: int) -> None:
    """The same of what comes after."""
    for access in accesses:
        if access.writes:
            access.data._writers = (number,)
