"""Expressions of all types in C++ beside NumPy's, and operations that are refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_interpreter import Interpreter, beside
from dace_made import apply, compute, param, program, read, value
from starling.dace.build import compiler as building
from starling.dace.ir import Apply, Assign, Cast, Fold, Index, Number, Read, Reduce, parts_of, symbol
from starling.dace.ir import Param as Parameter
from starling.dace.passes.types import WEAK, check_types, type_of
from starling.dace.program_error import ProgramError
from starling.machine import Machine

Devices = Callable[[int], Machine]
N = symbol("N")
i0 = param("i0")
DTYPES = ("bool", "int32", "int64", "float32", "float64")
TYPES = {a: t for names, t in zip(("pq", "jk", "lm", "ef", "xy"), DTYPES, strict=True) for a in names}
UNARY = ("negative", "positive", "~", "abs", "sqrt", "floor", "ceil", "isnan", "not")
BINARY = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "minimum",
          "maximum", "and", "or")  # fmt: skip
LEAVES = [Number(True), Number(2), Number(0.7), Index(i0 + 1), value("weak")]
EXPRESSIONS = 150
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-but-set-variable", "-Wno-unused-variable")


def inputs(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    given: dict[str, Any] = {}
    for name, t in TYPES.items():
        if t == "bool":
            given[name] = rng.random(n) < 0.5
        elif t.startswith("int"):
            given[name] = rng.integers(-9, 10, n).astype(t)
            given[name][:4] = [np.iinfo(t).min, np.iinfo(t).max, 0, -1]
            given[name][4:8] = [31, 63, 64, 70]
        else:
            given[name] = (rng.random(n) * 8 - 4).astype(t)
            given[name][:6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30]
        given[name] = rng.permutation(given[name])
    return given


def checked(e: Any) -> Any:
    """A program in which an expression stands, once its types are checked."""
    body = [Assign(name="weak", value=Number(3)), compute("out", i0, e, i0=(0, N))]
    types = {**TYPES, "out": "float64"}
    p = program(body, dict.fromkeys(types, (N,)), types=types, variables={"weak": "weak int"})
    check_types(p)
    return p


def dtype_of(e: Any) -> str | None:
    """The type that NumPy gives an expression; None: it refuses it, or programs do not have the type."""
    given = {n: np.ones(3, t) for n, t in TYPES.items()}
    made = program([], dict.fromkeys(TYPES, (N,)), types=TYPES)
    of = Interpreter(made, given)
    of.names |= {"i0'": 1, "weak": 3}
    try:
        with np.errstate(all="ignore"):
            found = of.value(e)
    except (TypeError, np.exceptions.DTypePromotionError):
        return None
    if not isinstance(found, np.generic):
        return f"weak {type(found).__name__}"
    return str(found.dtype) if str(found.dtype) in DTYPES else None


@pytest.mark.parametrize("op", [*UNARY, *BINARY, "where"])
def test_types_and_refusals_are_those_of_numpy(op: str) -> None:
    leaves = [*(read(n, i0) for n in "pjlex"), *LEAVES]
    operands = itertools.product(leaves, repeat=1 if op in UNARY else 2)
    for parts in operands:
        e = apply(op, *([read("p", i0)] if op == "where" else []), *parts)
        want = dtype_of(e)
        if op in ("<<", ">>") and all(type_of(a, checked(Number(0))) in WEAK for a in parts):
            continue  # NumPy's functions make Python's numbers its own
        if op in ("and", "or", "not"):
            want = "weak bool" if all(type_of(a, checked(Number(0))) in WEAK for a in parts) else "bool"
        if op == "where" and want == "int64" and all(type_of(a, checked(Number(0))) in WEAK for a in parts):
            continue
        if op in ("minimum", "maximum", "isnan", "sqrt", "floor", "ceil", "abs", "where") and not any(
            isinstance(a, Read) for a in parts
        ):
            continue  # the front end says which of them are NumPy's
        try:
            have = type_of(e, checked(e))
        except ProgramError:
            power = op == "**" and type_of(parts[0], checked(Number(0))) == "bool"
            assert want is None or power, e
        else:
            assert have == want, e


class Maker:
    """Draws expressions that NumPy has, of the operations whose bits are NumPy's."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def draw(self, depth: int = 0) -> Any:
        if depth > 3 or self.rng.random() < 0.25 * depth:
            if self.rng.random() < 0.25:
                return LEAVES[int(self.rng.integers(len(LEAVES)))]
            return read(list(TYPES)[int(self.rng.integers(len(TYPES)))], self.around())
        kind = self.rng.random()
        if kind < 0.12:
            return Cast(DTYPES[int(self.rng.integers(len(DTYPES)))], self.draw(depth + 1))
        if kind < 0.2:
            return apply("where", self.draw(depth + 1), self.draw(depth + 1), self.draw(depth + 1))
        if kind < 0.4:
            return apply(UNARY[int(self.rng.integers(len(UNARY)))], self.draw(depth + 1))
        op = BINARY[int(self.rng.integers(len(BINARY)))]
        second = Number(2) if op == "**" else self.draw(depth + 1)
        return apply(op, self.draw(depth + 1), second)

    def around(self) -> Any:
        return (i0, i0, i0 + 1, sympy.Mod(i0 + 3, N))[int(self.rng.integers(4))]

    def expression(self) -> Any:
        while True:
            e = self.draw()
            try:
                p = checked(e)
            except ProgramError:
                continue
            if not _of_python_alone(e, p) and type_of(e, p) not in WEAK:
                return e


def _of_python_alone(e: Any, p: Any) -> bool:
    """Whether something is computed of Python's own numbers, which raise, or have no bounds."""
    applied = [x for x in parts_of(e) if isinstance(x, Apply) and x.op not in ("+", "-", "negative")]
    return any(all(type_of(a, p) in WEAK for a in x.arguments[x.op == "where" :]) for x in applied)


@pytest.fixture
def strict_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "FLAGS", (*building.FLAGS, *WARNINGS, "-O1"))


@pytest.mark.usefixtures("strict_compiler")
@pytest.mark.parametrize("seed", [1, 2])
def test_random_expressions(seed: int, devices: Devices) -> None:
    """They compile without warnings, and give NumPy's bits."""
    maker = Maker(seed)
    made = [maker.expression() for _ in range(EXPRESSIONS)]
    whole = checked(Number(0))
    outs = {f"o{k}": WEAK.get(t, t) for k, t in enumerate(type_of(e, whole) for e in made)}

    def build() -> Any:
        body: list[Any] = [compute(f"o{k}", i0, e, i0=(0, N - 1)) for k, e in enumerate(made)]
        return program([Assign(name="weak", value=Number(3)), *body], dict.fromkeys([*TYPES, *outs], (N,)),
                       types={**TYPES, **outs}, variables={"weak": "weak int"})  # fmt: skip

    given = inputs(40)
    for name, t in outs.items():
        given[name] = np.zeros(40, t)
    beside(build, given, devices(1), blocks=2)


NUMBERS = [0.0, -0.0, 1.5, -2.5, 7.0, 1e10, -1e10, 2.0**31, 2.0**63, -(2.0**63), 1e300, math.inf, -math.inf, math.nan]


def test_conversions(devices: Devices) -> None:
    """Fractions have no place in whole numbers as on the processor of the tests."""
    casts = [(t, n) for t in DTYPES for n in "pjlex"]
    outs = {f"c{k}": t for k, (t, _) in enumerate(casts)}

    def build() -> Any:
        body = [compute(f"c{k}", i0, Cast(t, read(n, i0)), i0=(0, N)) for k, (t, n) in enumerate(casts)]
        return program(body, dict.fromkeys([*TYPES, *outs], (N,)), types={**TYPES, **outs})

    with np.errstate(all="ignore"):
        given = {n: np.array(NUMBERS).astype(t) for n, t in TYPES.items()}
    given |= {n: np.zeros(len(NUMBERS), t) for n, t in outs.items()}
    beside(build, given, devices(1))


@pytest.mark.usefixtures("strict_compiler")
def test_reductions_of_all_types(devices: Devices) -> None:
    kinds = [(op, n) for op in ("sum", "max", "min") for n in "pjlex"]

    def total(op: str, n: str) -> str:
        return "int64" if op == "sum" and TYPES[n] in ("bool", "int32") else TYPES[n]

    outs = {f"{letter}{k}": total(op, n) for k, (op, n) in enumerate(kinds) for letter in "rs"}

    def build() -> Any:
        body: list[Any] = []
        for k, (op, n) in enumerate(kinds):
            body.append(Reduce(name=f"v{k}", op=op, params=[Parameter("i0'", N * 0, N)], value=read(n, i0)))
            body.append(compute(f"r{k}", 0, value(f"v{k}")))
            body.append(compute(f"s{k}", 0, Fold(op, "k0'", N * 0, N, read(n, param("k0")))))
        variables = {f"v{k}": total(op, n) for k, (op, n) in enumerate(kinds)}
        return program(body, {**dict.fromkeys(TYPES, (N,)), **dict.fromkeys(outs, (1,))}, types={**TYPES, **outs},
                       variables=variables)  # fmt: skip

    rng = np.random.default_rng(2)
    given: dict[str, Any] = {n: rng.integers(0, 2 if t == "bool" else 50, 30).astype(t) for n, t in TYPES.items()}
    given |= {n: np.zeros(1, t) for n, t in outs.items()}
    beside(build, given, devices(1), blocks=3)


@pytest.mark.parametrize(
    ("e", "words"),
    [
        (apply("-", read("p", i0), read("q", i0)), "-: is of truth values"),
        (apply("negative", read("p", i0)), "-: is of truth values"),
        (apply("//", read("p", i0), True), "//: is of truth values, of which NumPy makes short numbers"),
        (apply("&", read("e", i0), 1), "&: is of floating point numbers"),
        (apply("sqrt", read("p", i0)), "sqrt: is of truth values"),
        (apply("+", read("j", i0), 2**40), "does not fit in int32"),
        (apply("**", read("l", i0), -1), "negative exponent"),
    ],
)
def test_refused(e: Any, words: str) -> None:
    with pytest.raises(ProgramError, match=words.replace("**", "..")):
        checked(e)


def test_numbers_that_have_no_place() -> None:
    for number, t in ((2**31, "int32"), (math.inf, "int64"), (math.nan, "int32")):
        p = program([compute("A", 0, Number(number))], {"A": (N,)}, types={"A": t})
        with pytest.raises(ProgramError, match=f"A: holds {t}, in which"):
            check_types(p)
    assert dataclasses.is_dataclass(Number)
