"""The choices of a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["Draw"]

T = TypeVar("T")


class Draw:
    """Choices of a seed: the same on every machine, whatever the versions of Python and NumPy.

    They are made of `random.Random.random` alone, whose numbers Python promises not to change.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return int(self._random.random() * n)

    def chance(self, p: float) -> bool:
        return self._random.random() < p

    def of(self, found: Sequence[T]) -> T:
        return found[self.pick(len(found))]

    def weighted(self, found: Sequence[tuple[T, float]]) -> T:
        """One of several things, each with a weight."""
        left = self._random.random() * sum(w for _, w in found)
        for thing, weight in found:
            left -= weight
            if left < 0:
                return thing
        return found[-1][0]

    def some(self, found: Sequence[T], n: int) -> list[T]:
        """Up to n different ones, in any order."""
        rest = list(found)
        taken: list[T] = []
        while rest and len(taken) < n:
            taken.append(rest.pop(self.pick(len(rest))))
        return taken
