"""What is remembered of tasks that are recorded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starling.stf._access import Access

if TYPE_CHECKING:
    from starling.stf._data import LogicalData
    from starling.stf._functions import Failure


class Notes:
    """Of one recording, which its functions share.

    After one of them has failed the others are left out, in this launch and those that follow, until the failure was
    dealt with: what they would read has no value.

    Attributes:
        number: Of the writer of all that the recording writes.
        reads: What its tasks read from before.
        writes: What they write.
        failure: Of the function that failed.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.reads: list[Access] = []
        self.writes: list[Access] = []
        self.functions: list[int] = []  # by number
        self.failure: Failure | None = None
        self._thread = threading.get_ident()
        self._written: set[LogicalData] = set()

    @property
    def of_this_thread(self) -> bool:
        """Whether this thread records."""
        return self._thread == threading.get_ident()

    def add(self, accesses: Sequence[Access]) -> None:
        """A task that is recorded has these."""
        for access in accesses:
            if access.reads and not self._written.issuperset((access.data, *access.near)):
                self.reads.append(access)
        for access in accesses:
            if access.writes:
                self.writes.append(access)
                self._written.add(access.data)
