"""What a directed program is: a program, the arguments it is called with, and what is expected of it."""

from __future__ import annotations

import hashlib
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from starling import dace as sd

K, M, N = sd.symbols("K M N")
f32, f64, i32, i64, split = sd.float32, sd.float64, sd.int32, sd.int64, sd.split

Maker = Callable[[np.random.Generator, int], list[Any]]


@dataclass(frozen=True)
class Directed:
    """A program and how it is called.

    Attributes:
        name: Its file and its function.
        program: What is compiled; its function is what it means.
        make: Makes the arguments from a generator and a size, mostly the length of the axis that is split.
        sizes: Each with a seed of its own, which is its index.
        rounded: Whether it adds floating point numbers or takes exp and the like, whose last bits may differ.
        refused: Part of what the error says; empty: the program runs, or raises what Python raises.
        known: What is wrong with it today; empty: nothing.
    """

    name: str
    program: Any
    make: Maker
    sizes: tuple[int, ...]
    rounded: bool
    refused: str
    known: str

    def arguments(self, case: int) -> list[Any]:
        """The arguments of a case, the same whenever it is asked."""
        return self.make(np.random.default_rng([case, self.sizes[case]]), self.sizes[case])

    def plain(self, arguments: list[Any]) -> Callable[..., None]:
        """As Python has it: symbols are the sizes of its arguments, programs that it calls are functions."""
        function = self.program.function
        outside = function.__globals__.items()
        names = {name: value.function if isinstance(value, sd.Program) else value for name, value in outside}
        for annotation, value in zip(function.__annotations__.values(), arguments, strict=False):
            lengths = getattr(getattr(annotation, "array", annotation), "shape", ())
            sizes = zip(map(str, lengths), np.shape(value), strict=False)
            names |= {symbol: length for symbol, length in sizes if symbol in names}
        return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)

    def under_numpy(self, case: int) -> tuple[list[np.ndarray[Any, Any]], BaseException | None]:
        """The arrays after the plain function, and what it raised."""
        arguments = self.arguments(case)
        function = self.plain(arguments)
        raised = None
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                function(*arguments)
            except Exception as error:
                raised = error
        return arrays_of(arguments), raised

    def record(self, case: int) -> dict[str, Any]:
        """What is kept of a case: the exception, or the arrays' checksum, or where bits may differ weighted sums."""
        arrays, raised = self.under_numpy(case)
        kept: dict[str, Any] = {"program": self.name, "size": self.sizes[case], "seed": case}
        if raised is not None:
            return kept | {"raises": type(raised).__name__, "text": str(raised)}
        if self.rounded:
            return kept | {"sums": [float(np.cos(np.arange(a.size)) @ np.ravel(a).astype("f8")) for a in arrays]}
        return kept | {"sha256": hashlib.sha256(b"".join(map(bits, arrays))).hexdigest()}


PROGRAMS: list[Directed] = []


def directed(
    make: Maker,
    *,
    sizes: tuple[int, ...] = (13, 16, 24),
    rounded: bool = False,
    refused: str = "",
    known: str = "",
) -> Callable[[Any], Any]:
    """Registers a program; written above ``@sd.program``."""

    def registered(program: Any) -> Any:
        function = program.function
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        PROGRAMS.append(Directed(name, program, make, sizes, rounded, refused, known))
        return program

    return registered


def arrays_of(arguments: list[Any]) -> list[np.ndarray[Any, Any]]:
    return [value for value in arguments if isinstance(value, np.ndarray)]


def bits(array: np.ndarray[Any, Any]) -> bytes:
    """Of its elements, with one kind of NaN alone, and of its type and shape."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return f"{array.dtype.str}{array.shape}".encode() + array.tobytes()
