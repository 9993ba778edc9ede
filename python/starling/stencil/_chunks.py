"""How a run is cut into calls of the native library, so that Ctrl-C works, progress shows, and frames can be taken.

The cuts do not show in the result: the same steps are checked for their change wherever the cuts are.
"""

from __future__ import annotations

from typing import NamedTuple


class Chunk(NamedTuple):
    steps: int
    check_every: int  # counted from the start of the chunk; 0: not at all


def next_chunk(done: int, steps: int, most: int, check_every: int = 0, stop_every: int = 0) -> Chunk:
    """The next steps of a run.

    Args:
        done: Steps of the run that are over.
        steps: Steps of the run in all.
        most: Steps that the chunk may have.
        check_every: Every so many steps of the run the change is checked; 0: never.
        stop_every: A chunk ends at every multiple of this; 0: anywhere.

    >>> next_chunk(0, 1000, 64, check_every=10)
    Chunk(steps=60, check_every=10)
    >>> next_chunk(960, 1000, 64, check_every=100)  # ends with the check of step 1000
    Chunk(steps=40, check_every=40)
    >>> next_chunk(0, 1000, 64, check_every=100)
    Chunk(steps=64, check_every=0)
    """
    limit = min(steps - done, most)
    if stop_every:
        limit = min(limit, stop_every - done % stop_every)
    if not check_every:
        return Chunk(limit, 0)
    to_check = check_every - done % check_every
    if limit < to_check:
        return Chunk(limit, 0)
    if to_check < check_every:
        return Chunk(to_check, to_check)
    return Chunk(limit // check_every * check_every, check_every)


class Pace:
    """How many steps last about a quarter of a second: a cautious guess first, then by what was seen."""

    TARGET = 0.25  # seconds
    GROWTH = 8  # at most, from one chunk to the next

    def __init__(self, cells: int, on_gpus: bool) -> None:
        cells_at_once, steps_at_once = (10**9, 20_000) if on_gpus else (10**7, 500)
        self.steps = max(1, min(cells_at_once // cells, steps_at_once))

    def saw(self, steps: int, seconds: float) -> None:
        """Takes note of how long a chunk took."""
        wanted = int(steps * self.TARGET / max(seconds, 1e-6))
        self.steps = max(1, min(wanted, self.GROWTH * self.steps))
