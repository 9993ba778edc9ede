"""Random statements on small arrays: indices of loop variables, remainders, quotients, minima, computed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from dace_made import apply, param, program, read
from starling.dace.ir import (
    Assign,
    Break,
    Compute,
    Continue,
    Fold,
    For,
    If,
    Index,
    Number,
    Param,
    Program,
    Reduce,
    Stop,
    StopReason,
    Value,
    While,
    symbol,
)
from starling.dace.program_error import Place

M, N = symbol("M"), symbol("N")
i0, i1 = param("i0"), param("i1")
ZERO, ONE = sympy.Integer(0), sympy.Integer(1)
SHAPES = {"A": (M, N), "B": (M, N), "w": (M,), "r": (1,), "T": (M, N), "u": (M,)}
TEMPORARIES = ("T", "u")


class Maker:
    """Draws one program. `split`: whether PEs share the rows of A and B."""

    def __init__(self, seed: int, split: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.split = split
        self.loops: list[Any] = []
        self.made = 0
        self.fresh: dict[str, Any] = {}  # temporaries with one writer
        self.row: Any = ZERO  # of split arrays: which one is written, and how far from it others are read
        self.near: tuple[int, ...] = (0,)
        self.filled: set[str] = set()  # temporaries that have been written whole

    def one_of(self, *what: Any) -> Any:
        return what[int(self.rng.integers(len(what)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    # ---- index expressions, from 0 to length - 1 ----

    def outside(self, length: Any) -> Any:
        """One without parameters."""
        forms = [ZERO, length - 1, sympy.floor(length / 2), sympy.Mod(symbol("x"), length)]
        for v in self.loops:
            forms.append(sympy.Mod(v + self.one_of(0, 1, -1), length))
            if str(v) != "c":
                forms += [sympy.Min(sympy.floor(v / 2), length - 1), sympy.Max(length - 1 - v, 0)]
        return self.one_of(*forms)

    def around(self, at: Any, length: Any) -> Any:
        """One with a parameter that goes from 1 to length - 2."""
        forms = [at, at, at + 1, at - 1, length - 1 - at, sympy.floor(at / 2), sympy.Min(at + 2, length - 1),
                 sympy.Max(at - 2, 0), sympy.Mod(2 * at, length), sympy.Mod(at + symbol("x"), length)]  # fmt: skip
        for v in self.loops:
            forms += [sympy.Mod(at + v, length), *([sympy.Min(at + v, length - 1)] if str(v) != "c" else [])]
        return self.one_of(*forms)

    def index(self, array: str, params: list[Any]) -> tuple[Any, ...]:
        """Of an element that is read."""
        found = []
        for length, at in zip(SHAPES[array], (i0, i1), strict=False):
            own = at if at in params else self.one_of(*params) if params and length == M and self.chance(0.1) else None
            free = own is None or self.chance(0.2)
            if self.split and array in "ABT" and length == M:
                found.append(self.row + self.one_of(*self.near))
            else:
                found.append(ZERO if length == 1 else self.outside(length) if free else self.around(own, length))
        return tuple(found)

    # ---- values ----

    def value(self, params: list[Any], depth: int = 0, inside: str = "") -> Any:
        readable = ["A", "B", "w", "r", *sorted(self.filled)]
        if depth > 2 or self.chance(0.4):
            if self.chance(0.15):
                return self.one_of(Number(3), Value("x"), *(Index(v) for v in [*self.loops, *params]))
            array = inside if inside in readable and self.chance(0.5) else self.one_of(*readable)
            return read(array, *self.index(array, params))
        if self.chance(0.1) and depth < 2 and not self.split:
            name = f"k{self.made}'"
            self.made += 1
            term = read("A", self.index("A", params)[0], sympy.Mod(symbol(name) + self.one_of(0, 1), N))
            return Fold(self.one_of("sum", "max"), name, ZERO, self.one_of(N, sympy.Integer(2)), term)
        a, b = self.value(params, depth + 1, inside), self.value(params, depth + 1, inside)
        if self.chance(0.1):
            return apply("where", apply("<", a, b), self.value(params, depth + 1, inside), b)
        return apply(self.one_of("+", "-", "*", "minimum"), a, b)

    def condition(self) -> Any:
        a = self.one_of(Value("x"), *(Index(v) for v in self.loops), read("w", self.outside(M)), read("r", 0))
        return apply(self.one_of("<", ">", "=="), a, self.one_of(0, 1, 2, 5))

    def rare_condition(self) -> Any:
        """One that mostly holds in some passes alone."""
        v = self.loops[-1]
        return self.one_of(apply("==", v, self.one_of(1, 2, 3)), apply(">", v, 2), self.condition())

    # ---- statements ----

    def statement(self, depth: int) -> list[Any]:
        kind = self.rng.random()
        if kind < 0.4:
            return self.compute()
        if kind < 0.5:
            return self.by_temporary(depth)
        if kind < 0.6:
            return [Assign(name="x", value=self.one_of(self.value([]) if not self.split else read("w", self.outside(M)),
                                                       apply("+", Value("x"), 1)))]  # fmt: skip
        if kind < 0.68:
            array = self.one_of("A", "B")
            params = [Param("i0'", ZERO, M), Param("i1'", ZERO, N)]
            total = Reduce(name="y", op=self.one_of("sum", "max"), params=params, value=read(array, i0, i1))
            return [total, Assign(name="x", value=Value("y"))]
        if kind < 0.76 and self.loops:
            leave = self.one_of(Break(), Continue(), Stop(number=self.one_of(0, 1)))
            return [If(branches=[(self.rare_condition(), [leave])])]
        if depth < 2 and kind < 0.9:
            return [self.loop(depth)]
        if depth < 3:
            before = set(self.filled)
            branches = [(self.condition(), self.body(depth + 1, 2))]
            self.filled = set(before)
            branches.append((None, self.body(depth + 1, 1)))
            self.filled = before
            return [If(branches=branches[: int(self.rng.integers(1, 3))])]
        return self.compute()

    def compute(self) -> list[Any]:
        target = self.one_of("A", "B", "B", "w", "r", "T", "u")
        shape = SHAPES[target]
        if target == "r":
            # Of one element, which whole arrays give.
            return [Compute(params=[], target="r", index=(ZERO,), value=self.whole_value())]
        ends = {i0: (2 * ONE, M - 2) if self.split else (ONE, M - 1), i1: (ONE, N - 1)}
        params = [at for at, _ in zip((i0, i1), shape, strict=False) if self.chance(0.85)]
        shift = {at: self.one_of(0, 0, 0, 1, -1) for at in params}
        if target in TEMPORARIES and target not in self.filled:
            ends, params, shift = {i0: (ZERO, M), i1: (ZERO, N)}, [i0, i1][: len(shape)], {i0: 0, i1: 0}
        index = tuple(
            at + shift[at] if at in params else self.outside(n) for n, at in zip(shape, (i0, i1), strict=False)
        )
        if self.split and target in "ABT":
            rows = [v for v in self.loops if str(v) != "c"]
            self.row = index[0] if i0 in params else self.one_of(2 * ONE, M - 2, *rows, *rows)
            index = (self.row, *index[1:])
        whole = ends[i0][0] == ZERO
        self.near = (0,) if whole else (0, 0, 0, 1, -1)
        value = (
            self.whole_value()
            if self.split and target in ("w", "u")
            else self.value([] if whole else params, 0, target)
        )
        if whole:
            self.filled.add(target)
            value = apply("+", value, read("A", *((i0, i1) if target == "T" else (i0, ZERO)))) if not (
                self.split and target == "u") else value  # fmt: skip
        made = [Param(str(at), *ends[at]) for at in params]
        return [Compute(params=made, target=target, index=index, value=value)]

    def by_temporary(self, depth: int) -> list[Any]:
        """A temporary with one writer, perhaps something else, and what reads it."""
        name = f"t{self.made}'"
        self.made += 1
        self.fresh[name] = (M, N)
        rows = (2 * ONE, M - 2) if self.split else (ONE, M - 1)
        ranges = [Param("i0'", *rows), Param("i1'", ONE, N - 1)]
        self.row, self.near = i0, (0, 0, 1, -1)
        made = Compute(params=ranges, target=name, index=(i0, i1), value=self.value([i0, i1]))
        between = self.statement(depth) if self.chance(0.4) else []
        self.row = i0
        column = self.one_of(i1, i1, N - 1 - i1, sympy.Max(i1 - 1, 1), ONE)
        value = apply(self.one_of("+", "-"), read(name, i0, column), self.value([i0, i1], 1, "B"))
        reader = Compute(params=list(ranges), target=self.one_of("A", "B"), index=(i0, i1), value=value)
        return [made, *between, reader]

    def whole_value(self) -> Any:
        """A number, of arrays that all PEs have."""
        array = self.one_of("w", "r") if self.split else self.one_of("A", "B", "w", "r")
        return apply(self.one_of("+", "*"), read(array, *self.index(array, [])), self.one_of(Value("x"), Number(2)))

    def loop(self, depth: int) -> Any:
        name = f"l{self.made}"
        self.made += 1
        before = set(self.filled)
        if self.chance(0.75):
            v = symbol(name)
            self.loops.append(v)
            body = self.body(depth + 1, 3)
            self.loops.pop()
            step = self.one_of(1, 1, 2, -1)
            begin, end = (ZERO, self.one_of(sympy.Integer(3), M - 4)) if step > 0 else (sympy.Integer(2), -ONE)
            if self.split:
                begin, end = (ONE, M - 1) if step > 0 else (M - 2, ZERO)
            made: Any = For(variable=name, begin=begin, end=sympy.sympify(end), step=step, body=body)
        else:
            self.loops.append(symbol("c"))
            count = [Assign(name="c", value=apply("+", Value("c"), 1))]
            body = [*count, *self.body(depth + 1, 3)]
            self.loops.pop()
            made = While(condition=apply("<", Value("c"), int(self.rng.integers(4, 9))), body=body)
        self.filled = before
        return made

    def body(self, depth: int, most: int) -> list[Any]:
        return [s for _ in range(int(self.rng.integers(1, most + 1))) for s in self.statement(depth)]


def random_statements(seed: int, split: bool) -> Program:
    """The program of a seed."""
    made = Maker(seed, split)
    body = [s for _ in range(int(made.rng.integers(3, 7))) for s in made.statement(0)]
    first = [Assign(name=n, value=Number(1)) for n in ("x", "c", "y")]
    given = {**SHAPES, **made.fresh}
    return program(
        [*first, *body],
        given,
        split={"A": (0,), "B": (0,)} if split else None,
        types=dict.fromkeys(given, "int64"),
        temporaries=(*TEMPORARIES, *made.fresh),
        variables={"x": "int64", "c": "int64", "y": "int64"},
        stops=[StopReason("ValueError", "drawn", Place("made.py", 1))],
    )


def random_inputs(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(6, 10)), int(rng.integers(5, 8))
    return {"A": rng.integers(-3, 9, (m, n)), "B": rng.integers(-3, 9, (m, n)), "w": rng.integers(-3, 9, m),
            "r": rng.integers(-3, 9, 1)}  # fmt: skip
