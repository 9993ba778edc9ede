"""A program that was made, and what it is called with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["GRIDS", "HEADER", "Argument", "Grid", "RandomProgram"]

HEADER = """\
import numpy as np

import dace
from starling import dace as sd

K, M, N, P, Q = sd.symbols("K M N P Q")
"""
DECORATOR = "@sd.program\n"
Grid = tuple[int, ...]
GRIDS: dict[int, tuple[tuple[Grid, int], ...]] = {  # with blocks of each PE, for one split axis and for two
    1: (((1,), 2), ((2,), 3), ((3,), 1), ((4,), 2)),
    2: (((1, 1), 2), ((2, 1), 3), ((2, 2), 1), ((2, 2), 2), ((1, 3), 2), ((4, 1), 2), ((1, 4), 3)),
}
SHORTEST, LONGEST = 16, 27  # lengths that are shared: every PE of four has as many layers as a halo is thick


@dataclass(frozen=True)
class Argument:
    """An array of a call.

    `sums`: what of it is added in another order than NumPy's: "all", "first" (the first element alone) or "" (nothing).
    """

    name: str
    dtype: str
    sizes: tuple[str, ...]  # names, or numbers as text
    split: tuple[int, ...] = ()
    sums: str = ""
    zeros: bool = False

    @property
    def hint(self) -> str:
        kind = f"sd.{self.dtype}[{', '.join(self.sizes)}]"
        if not self.split:
            return kind
        return f"sd.split({kind}, {self.split if len(self.split) > 1 else self.split[0]})"


@dataclass(frozen=True)
class RandomProgram:
    """A program and what it is called with."""

    text: str
    arguments: tuple[Argument, ...]
    number: str  # the argument that is no array
    lengths: dict[str, int]  # of sizes; 0: drawn for each call
    axes: int  # that PEs share
    summed: bool  # it has sums of numbers with a point
    sums_used: bool  # and computes with them
    messages: tuple[str, ...]  # of exceptions that it may raise
    features: tuple[str, ...]  # what it was made of

    @property
    def grids(self) -> tuple[tuple[Grid, int], ...]:
        """Grids of PEs and numbers of blocks that it is to run on."""
        return GRIDS[max(self.axes, 1)]

    def plain(self) -> Callable[..., None]:
        """The program, and all that it calls, as plain Python."""
        names: dict[str, Any] = {}
        exec(compile(self.text.replace(DECORATOR, ""), "made.py", "exec"), names)
        function: Callable[..., None] = names["made"]
        return function

    def inputs(self, rng: np.random.Generator) -> tuple[list[Any], int]:
        """Its arrays, and its number. Split axes have a remainder on most grids."""
        lengths = {n: length or int(rng.integers(SHORTEST, LONGEST + 1)) for n, length in self.lengths.items()}
        arrays = []
        for a in self.arguments:
            shape = [lengths[n] if n in lengths else int(n) for n in a.sizes]
            if a.zeros:
                arrays.append(np.zeros(shape, a.dtype))
            elif a.dtype.startswith("int"):
                arrays.append(rng.integers(-50, 50, shape, dtype=a.dtype))
            else:
                arrays.append((2 * rng.random(shape) - 1).astype(a.dtype))
        return arrays, int(rng.integers(6))

    def compare(self, have: list[Any], want: list[Any]) -> None:
        """Checks arrays after a call against NumPy's: all bits, but where sums are.

        Raises:
            AssertionError: They differ.
        """
        floats = [np.finfo(a.dtype) for a in self.arguments if a.dtype.startswith("float")]
        epsilon = max([float(f.eps) for f in floats], default=0.0)
        scale = max([1.0, *(float(np.abs(x).max()) for x in want)])
        terms = math.prod(max((x.shape for x in want), key=math.prod))
        for a, x, y in zip(self.arguments, have, want, strict=True):
            if self.sums_used and not a.dtype.startswith("int"):
                np.testing.assert_allclose(x, y, rtol=1e6 * epsilon, atol=1e5 * epsilon * scale, err_msg=a.name)
                continue
            added = {"": 0, "first": 1, "all": len(x)}[a.sums]
            np.testing.assert_array_equal(x[added:], y[added:], err_msg=a.name)
            np.testing.assert_allclose(x[:added], y[:added], rtol=0, atol=terms * epsilon * scale**2, err_msg=a.name)
