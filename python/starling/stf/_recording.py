"""Tasks that were recorded and can be done any number of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starling._arguments import whole_number
from starling._native import native
from starling.stf._functions import note_writer
from starling.stf._notes import Notes

if TYPE_CHECKING:
    from starling.stf._context import Context


class Recording:
    """Tasks that were recorded; made by :meth:`starling.stf.Context.record`.

    Their memory is theirs until the last reference to the recording has gone.

    Attributes:
        context: Where it belongs.
    """

    def __init__(self, context: Context, bound: native.StfRecording, notes: Notes) -> None:
        self.context = context
        self._bound = bound
        self._notes = notes

    def launch(self, n: int = 1) -> None:
        """Does the tasks `n` times, one time after the other, as if they were submitted again.

        Returns at once, but waits for functions of ``host_launch`` that are not in the recording first.

        Raises:
            ArgumentError: Data that they read has no value, or the context is finalized.
            TaskError: A function that should have written what they read has failed, perhaps one of their own.
        """
        context, notes = self.context, self._notes
        context._outside_of_bodies("Recording.launch")
        count = whole_number("n", n, least=0, most=2**62)
        if count == 0:
            return
        if notes.failure is not None:
            context._settle(None)
            notes.failure, notes.number = None, context._functions.number()
        context._settle(notes)
        context._functions.check("Recording.launch", notes.reads)
        context._functions.launched(notes)
        self._bound.launch(count)
        context._functions.launched(notes)
        note_writer(notes.writes, notes.number)

    @property
    def operations(self) -> int:
        """How many launches, copies, fills and calls there are in it, as the devices count them."""
        return self._bound.operations()

    def __del__(self) -> None:
        if hasattr(self, "_notes"):
            self.context._functions.leave(self._notes, self._bound)

    def __repr__(self) -> str:
        return f"<starling.stf.Recording: {self.operations} operations>"
