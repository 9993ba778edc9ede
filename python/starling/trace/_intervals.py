"""Sets of times: unions and overlaps of intervals, in whole nanoseconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]


def union(start: Times, end: Times) -> tuple[Times, Times]:
    """The same times as intervals that neither overlap nor touch, in order.

    >>> a, b = union(np.array([5, 0, 2]), np.array([6, 3, 4]))
    >>> a.tolist(), b.tolist()
    ([0, 5], [4, 6])
    """
    some = end > start
    start, end = start[some], end[some]
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order]) if len(order) else end
    first = np.ones(len(start), dtype=bool)
    first[1:] = start[1:] > end[:-1]
    last = np.append(first[1:], True)[: len(first)]
    return start[first], end[last]


def total(start: Times, end: Times) -> int:
    """The time in a union."""
    return int((end - start).sum())


def overlap(a: tuple[Times, Times], b: tuple[Times, Times]) -> int:
    """The time that lies in both of two unions.

    >>> overlap((np.array([0, 10]), np.array([4, 20])), (np.array([2]), np.array([15])))
    7
    """
    both = total(*a) + total(*b)
    return both - total(*union(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])))
