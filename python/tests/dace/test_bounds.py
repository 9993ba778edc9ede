"""What a call checks of indices, on statements made by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_made import apply, compute, param, program, read, value
from starling.dace.bounds import check_bounds
from starling.dace.ir import Assign, Break, Fold, For, If, Index, Number, Require, Stop, While, symbol
from starling.dace.program_error import Place, ProgramError
from starling.dace.spans import Known

N, M, i, j, k = (symbol(n) for n in ("N", "M", "i", "j", "k"))
i0 = param("i0")


def loop(v: Any, begin: Any, end: Any, *body: Any, step: int = 1) -> For:
    return For(variable=str(v), begin=sympy.sympify(begin), end=sympy.sympify(end), step=step, body=list(body))


def when(condition: Any, *body: Any) -> If:
    return If(branches=[(condition, list(body))])


def element(*index: Any) -> Any:
    """r[0] = A[index]"""
    return compute("r", 0, read("A", *index))


def check(*body: Any, n: int = 6, m: int = 6, rank: int = 1, **more: Any) -> None:
    p = program(list(body), {"A": (N, M)[:rank], "r": (1,)}, scalars={"k": "int64"}, variables={"x": "int64"}, **more)
    check_bounds(p, {"N": n, "M": m, "k": 3})


INSIDE = [
    [loop(i, 0, N, loop(j, 0, i, element(i - j)))],
    [loop(i, 0, N, compute("A", i0 + i + 1, Number(0), i0=(0, N - i - 1)))],  # A[i+1:] = 0
    [loop(i, 0, N - 1, compute("A", i0, read("A", i0 + i), i0=(0, N - i)))],
    [loop(i, 0, N, element(N - 1 - i))],
    [loop(i, N - 1, -1, element(i), step=-2)],
    [loop(i, 0, N, element(i + 1), step=2)],  # N is even
    [loop(i, 0, N, element(sympy.Mod(i + 1, N)))],
    [loop(i, 0, 2 * N, element(sympy.floor(i / 2)))],
    [loop(i, 0, N, element(sympy.Max(i - 1, 0)), element(sympy.Min(i + 1, N - 1)))],
    [loop(i, 0, N, when(apply("<", i + 1, N), element(i + 1)))],
    [loop(i, 0, N, when(apply(">=", i + 1, N), Break()), element(i + 1))],
    [loop(i, 0, N, when(apply("==", i, 0), Stop()), element(i))],
    [loop(i, 0, N, when(apply("and", apply(">", i, 0), apply(">", read("A", i - 1), 0.0)), element(i - 1)))],
    [loop(i, 0, 3 * N, when(apply("or", apply("<", i, N), apply(">=", i, 2 * N)), Break()), element(i - N))],
    [when(apply(">", k, N), element(k))],  # not in this call
    [If(branches=[(apply("<", k, N), [element(k)]), (None, [element(k - N)])])],
    [loop(i, 3, 3, element(i + 100))],
    [compute("A", i0 + 7, Number(0), i0=(0, N - 6))],  # nothing is written
    [compute("r", 0, Fold("sum", "k0'", i * 0, N - 6, read("A", param("k0") + 50)))],
    [While(condition=apply(">", read("A", N - 1), 0.0), body=[element(0)])],
    [Stop(), element(99)],
    [Require(name="A", words="", low=N - 6), Require(name="A", words="", low=N - M, zero=True)],
]  # fmt: skip


@pytest.mark.parametrize("body", INSIDE, ids=range(len(INSIDE)))
def test_inside(body: Any) -> None:
    check(*body)


AXIS = "along axis 0, which has the length 6,"
BEYOND = [
    ([loop(i, 0, N, element(i + 1))], f"elements 1 to 6 {AXIS} are used in this call by the index i . 1"),
    ([loop(i, 0, N + 1, element(i), step=2)], "elements 0 to 6 "),
    ([element(6)], f"element 6 {AXIS} is used in this call$"),
    ([element(-1)], "element -1 .*add the length"),
    ([compute("A", i0 + 1, Number(0), i0=(0, N))], f"elements 1 to 6 {AXIS} are used in this call$"),
    ([loop(i, 0, N, when(apply(">", i, N), Break()), element(i + 1))], "elements 1 to 6"),
    ([While(condition=apply(">", read("A", N), 0.0), body=[])], "element 6"),
    ([when(apply(">", read("A", N), 0.0), element(0))], "element 6"),
    ([If(branches=[(apply("<", k, N), [element(0)]), (None, [])]), element(k + 3)], "element 6"),
    ([loop(i, 0, N, loop(j, 0, i + 2, element(i - j)))], "elements -1 to 5"),
    ([element(symbol("x"))], "is indexed by x, which is computed"),
    ([loop(i, 0, symbol("x"), element(i))], "is indexed by i, which is computed"),
    ([Require(name="B", words="begins at {value}", low=N - 9)], "B: begins at -3$"),
    ([loop(i, 0, N, Require(name="B", words="by {value} too far", low=3 - i))], "B: by -2 to 3 too far"),
    ([Require(name="B", words="differ by {value}", low=N - k, zero=True)], "differ by 3"),
    ([Require(name="B", words="is {value}", low=symbol("x"))], "is a number that the program computes"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words"), BEYOND, ids=range(len(BEYOND)))
def test_beyond(body: Any, words: str) -> None:
    with pytest.raises(ProgramError, match=words) as found:
        check(*body)
    assert "'" not in str(found.value)


def test_what_the_program_checks_itself() -> None:
    check(Assign(name="x", value=Number(1)), element(symbol("x") + 50), checked={"x"})
    with pytest.raises(ProgramError, match="axis 1"):
        check(element(symbol("x"), N), rank=2, checked={"x"})


def test_names_that_are_made_are_not_shown() -> None:
    p = program([compute("t0'", N, Number(0))], {"A": (N,), "t0'": (N,)}, temporaries=("t0'",))
    p.body[0].place = Place("f.py", 3)
    with pytest.raises(ProgramError, match=r"f\.py:3: an intermediate array: element 4 along axis 0"):
        check_bounds(p, {"N": 4})


def test_spans_contain_all_values() -> None:
    """Of random expressions; those that are linear exactly."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(1, 7))
        a, b, c, d = (int(x) for x in rng.integers(-3, 4, 4))
        linear = a * i + b * j + c
        forms = [linear, sympy.Mod(linear, n), sympy.floor(linear / n), sympy.Min(linear, d), sympy.Max(linear, j),
                 i * j,
                 linear + sympy.Mod(i, n), sympy.Min(i, 2) * d - sympy.floor(j / 2), i**2 - j]  # fmt: skip
        e = forms[int(rng.integers(len(forms)))]
        known = Known.of({}).within("i", sympy.Integer(0), sympy.Integer(n))
        known = known and known.within("j", i, i + 2, 1)
        assert known is not None
        values = [int(e.subs({i: x, j: y})) for x in range(n) for y in (x, x + 1)]
        span = known.span(e)
        assert span is not None
        assert span[0] <= min(values) <= max(values) <= span[1]
        if e is linear:
            assert span == (min(values), max(values))


def test_facts_hold() -> None:
    """What a condition says of i, whatever it is, is true of all values for which it holds."""
    from starling.dace.conditions import facts_of

    rng = np.random.default_rng(4)
    python = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": int.__ne__}
    for op, holds, _ in itertools.product(python, (True, False), range(20)):
        scale, rest, other = (int(x) for x in rng.integers(-3, 4, 3))
        known = Known.of({}).within("i", sympy.Integer(-8), sympy.Integer(9))
        assert known is not None
        true = [x for x in range(-8, 9) if python[op](scale * x + rest, other) == holds]
        there = known.where(facts_of(apply(op, Index(scale * i + rest), other), holds, set()))
        if true:
            assert there is not None
            span = there.span(i)
            assert span is not None
            assert span[0] <= true[0] <= true[-1] <= span[1]
            if op in ("<", "<=", ">", ">=") and scale:
                assert span == (true[0], true[-1])


def test_a_scalar_that_is_no_number() -> None:
    p = program([when(apply("<", value("f"), 3), element(5))], {"A": (N,), "r": (1,)}, scalars={"f": "float64"})
    with pytest.raises(ProgramError, match="element 5"):
        check_bounds(p, {"N": 5})
