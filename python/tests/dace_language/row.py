"""A row of the table: its title, what is taken, and what is refused with which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from starling import dace as sd

__all__ = ["A2", "B1", "V1", "W1", "K", "M", "N", "Row", "f64", "i64", "inputs_of", "some"]

K, M, N = sd.symbols("K M N")
f64, i64 = sd.float64, sd.int64
V1 = sd.split(f64[N])
W1 = sd.split(i64[N])
A2 = sd.split(f64[M, N])
B1 = sd.split(f64[M])


@dataclass
class Row:
    """`taken`: programs with their arguments. `refused`: programs, or arguments of one, with words of the error."""

    title: str
    taken: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)
    refused: list[tuple[Any, tuple[Any, ...], str]] = field(default_factory=list)

    def takes(self, *arguments: Any) -> Callable[[Any], Any]:
        """Registers a program with arguments of a call."""

        def keep(function: Any) -> Any:
            self.taken.append((sd.program(function), arguments))
            return function

        return keep

    def refuses(self, words: str, *arguments: Any) -> Callable[[Any], Any]:
        """Registers a program that is refused, by a call if there are arguments."""

        def keep(function: Any) -> Any:
            self.refused.append((sd.program(function), arguments, words))
            return function

        return keep


def some(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers that are all different, and that halves and sums keep exact."""
    n = int(np.prod(shape))
    return (np.arange(n, dtype="float64") * 7 % (n + 3) - n / 2).reshape(shape)


def inputs_of(arguments: tuple[Any, ...]) -> list[Any]:
    """Copies of the arguments of a call."""
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
