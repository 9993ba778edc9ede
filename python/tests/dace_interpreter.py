"""What a program means: its statements carried out one after the other, element by element, by NumPy's numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy

from starling.dace.ir import (
    Apply,
    Assign,
    Body,
    Break,
    Cast,
    Compute,
    Continue,
    Expression,
    Fold,
    For,
    If,
    Index,
    Number,
    Param,
    Program,
    Read,
    Reduce,
    Require,
    Stop,
    Value,
    While,
    symbol,
)

BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: (np.atleast_1d(a) ** b)[0] if isinstance(a, np.generic) else a**b,  # as of an array
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": np.left_shift,
    ">>": np.right_shift,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "atan2": np.arctan2,
}
UNARY = {
    "negative": lambda a: -a,
    "positive": lambda a: +a,
    "~": lambda a: ~a,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "floor": np.floor,
    "ceil": np.ceil,
    "isnan": np.isnan,
    "not": lambda a: not a,
}
FOLDS = {"sum": np.sum, "dot": np.sum, "max": np.max, "min": np.min}


class Left(Exception):
    """A Break, a Continue or a Stop."""

    def __init__(self, by: Any) -> None:
        self.by = by


class Interpreter:
    """Carries out a program on arrays that it writes. `number`: of the reason for which it has ended."""

    def __init__(self, p: Program, given: dict[str, Any]) -> None:
        self.p = p
        self.arrays = {n: given[n] for n, a in p.arrays.items() if a.argument}
        self.names = {n: v for n, v in given.items() if n in p.scalars}
        for n, a in p.arrays.items():
            for length, have in zip(a.shape, np.shape(given[n]) if n in given else (), strict=False):
                if length.is_Symbol:
                    self.names[str(length)] = have
        for n, a in p.arrays.items():
            if not a.argument:
                self.arrays[n] = np.zeros([self.index(x) for x in a.shape], a.dtype)
        self.number = 0
        with np.errstate(all="ignore"):
            try:
                self.list(p.body)
            except Left as end:
                self.number = end.by.number

    def index(self, e: Any) -> int:
        e = sympy.sympify(e)
        return int(e.xreplace({n: sympy.Integer(int(self.names[str(n)])) for n in e.free_symbols}))

    def list(self, body: Body) -> None:
        for s in body:
            self.statement(s)

    def statement(self, s: Any) -> None:
        if isinstance(s, Compute):
            made = [(tuple(map(self.index, s.index)), self.value(s.value)) for _ in self.values_of(s.params)]
            for at, value in made:
                assert min(at, default=0) >= 0
                self.arrays[s.target][at] = value
        elif isinstance(s, Assign):
            self.names[s.name] = self.value(s.value)
        elif isinstance(s, Reduce):
            self.names[s.name] = FOLDS[s.op]([self.value(s.value) for _ in self.values_of(s.params)])
        elif isinstance(s, (For, While)):
            self.loop(s)
        elif isinstance(s, If):
            for condition, inner in s.branches:
                if condition is None or self.value(condition):
                    self.list(inner)
                    break
        elif isinstance(s, (Break, Continue, Stop)):
            raise Left(s)
        else:
            assert isinstance(s, Require), s

    def loop(self, s: For | While) -> None:
        passes: Any = iter(lambda: bool(self.value(s.condition)), False) if isinstance(s, While) else range(
            self.index(s.begin), self.index(s.end), int(s.step))  # fmt: skip
        for k in passes:
            if isinstance(s, For):
                self.names[s.variable] = k
            try:
                self.list(s.body)
            except Left as left:
                if isinstance(left.by, Break):
                    break
                if not isinstance(left.by, Continue):
                    raise

    def values_of(self, params: list[Param]) -> Iterator[None]:
        """Lets the parameters have each of their values."""
        for values in itertools.product(*(range(self.index(q.begin), self.index(q.end)) for q in params)):
            self.names.update(zip((q.name for q in params), values, strict=True))
            yield

    def value(self, e: Expression) -> Any:
        if isinstance(e, Read):
            at = tuple(map(self.index, e.index))
            assert min(at, default=0) >= 0
            return self.arrays[e.array][at]
        if isinstance(e, Value):
            return self.names[e.name]
        if isinstance(e, (Number, Index)):
            return e.value if isinstance(e, Number) else self.index(e.value)
        if isinstance(e, Cast):
            return np.asarray(self.value(e.value)).astype(e.dtype)[()]
        if isinstance(e, Fold):
            return FOLDS[e.op]([self.value(e.value) for _ in self.values_of([Param(e.variable, e.begin, e.end)])])
        assert isinstance(e, Apply)
        if e.op in ("and", "or"):
            first = bool(self.value(e.arguments[0]))
            return first if first == (e.op == "or") else bool(self.value(e.arguments[1]))
        parts = [self.value(a) for a in e.arguments]
        if e.op == "where":
            return np.where(*parts)[()]
        return UNARY[e.op](*parts) if len(parts) == 1 else BINARY[e.op](*parts)


def interpret(p: Program, given: dict[str, Any]) -> Interpreter:
    """Carries out a program that no pass has seen."""
    return Interpreter(p, given)


def beside(build: Any, given: dict[str, Any], m: Any, rtol: float = 0.0, **how: Any) -> Any:
    """Runs a program compiled, and the same one interpreted: all arrays must be the same. `build`: makes it."""
    from dace_made import compiled, run

    want = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in given.items()}
    found = interpret(build(), want)
    done = run(compiled(build()), m, given, **how)
    for n, v in given.items():
        if isinstance(v, np.ndarray):
            if rtol:
                np.testing.assert_allclose(v, want[n], rtol=rtol, err_msg=n)
            else:
                np.testing.assert_array_equal(v, want[n], err_msg=n)
    reason = found.p.stops[found.number - 1] if found.number else None
    assert done.stopped == reason
    return done


__all__ = ["Interpreter", "beside", "interpret", "symbol"]
