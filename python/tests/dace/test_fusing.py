"""Temporaries that are replaced, those that are made, and what is removed since it is not read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_made import apply, compute, param, program, read, value
from starling.dace.ir import (
    Assign,
    Break,
    Cast,
    Compute,
    Fold,
    For,
    If,
    Index,
    Number,
    Param,
    Reduce,
    Require,
    Stop,
    While,
    statements,
    symbol,
)
from starling.dace.passes.fuse import fuse
from starling.dace.passes.in_place import is_in_place, split_in_place
from starling.dace.passes.unused import drop_unused
from starling.dace.program_error import ProgramError

M, N, t, x = (symbol(n) for n in ("M", "N", "t", "x"))
i0, i1 = param("i0"), param("i1")
ZERO = sympy.Integer(0)


def made(*body: Any, **more: Any) -> Any:
    shapes = {"A": (M, N), "B": (M, N), "w": (M,), "u": (M,), "v": (M, N)}
    variables = {"x": "int64", "y": "float64", "z": "weak int"}
    return program(list(body), shapes, temporaries=("u", "v"), variables=variables, **more)


def loop(*body: Any) -> For:
    return For(variable="t", begin=ZERO, end=sympy.Integer(5), body=list(body))


def u(index: Any, e: Any, begin: Any = 0, end: Any = M) -> Compute:
    return compute("u", index, e, i0=(begin, end))


def w(e: Any, begin: Any = 0, end: Any = M) -> Compute:
    return compute("w", i0, e, i0=(begin, end))


A0, U0 = read("A", i0, 0), read("u", i0)
REPLACED: dict[str, Callable[[], list[Any]]] = {
    "simple": lambda: [u(i0, A0), w(U0)],
    "part": lambda: [u(i0, A0), w(read("u", i0 + 1), 0, M - 2)],
    "minimum": lambda: [u(i0, A0), w(U0, 0, sympy.Min(4, M))],
    "in_loop": lambda: [loop(u(i0, read("A", i0, t)), w(U0))],
    "past_a_stop": lambda: [u(i0, A0), If(branches=[(apply("<", value("x"), 3), [Stop()])]), w(U0)],
    "in_place": lambda: [u(i0, apply("+", read("w", M - 1 - i0), 1.0)), w(U0)],
    "scalar": lambda: [Assign(name="y", value=read("A", ZERO, ZERO)), w(value("y"))],
}
STAYS: dict[str, Callable[[], list[Any]]] = {
    "source_changes": lambda: [u(i0, A0), compute("A", (i0, 0), Number(0.0), i0=(0, M)), w(U0)],
    "symbol_in_value": lambda: [u(i0, read("A", i0, sympy.Mod(x, N))), Assign(name="x", value=read("A", 0, 0)), w(U0)],
    "symbol_in_index": lambda: [
        loop(u(i0 + sympy.Mod(x, 2), A0, 0, M - 1), Assign(name="x", value=apply("+", value("x"), 1)),
             w(read("u", i0 + sympy.Mod(x, 2)), 0, M - 1)),
    ],
    "symbol_in_range": lambda: [
        u(i0, A0, 0, sympy.Mod(x, M)), Assign(name="x", value=read("A", 0, 0)), w(U0, 0, sympy.Mod(x, M)),
    ],
    "loop_variable": lambda: [u(i0, read("A", i0, sympy.Mod(t, N))), loop(w(read("w", i0))), w(U0)],
    "earlier_pass": lambda: [loop(u(i0 + t, A0, 0, 2), w(read("u", i0 + t - 1), 0, 2))],
    "beyond_what_is_written": lambda: [loop(u(i0, A0, 1, M), w(U0))],
    "branch": lambda: [u(i0, A0), If(branches=[(apply("<", value("x"), 3), [w(U0)])])],
    "condition": lambda: [u(i0, A0), If(branches=[(apply("<", read("u", 0), 3.0), [Break()])]), w(U0)],
    "next_pass": lambda: [loop(w(read("u", i0)), u(i0, A0))],
    "index_of_another": lambda: [
        Assign(name="x", value=read("A", 0, 0)), w(apply("+", read("A", i0, sympy.Mod(x, N)), value("x"))),
    ],
    "number_of_another_kind": lambda: [Assign(name="z", value=Cast("int64", read("A", 0, 0))), w(value("z"))],
    "element_that_is_not_read": lambda: [u(i0, read("A", i0 + 1, 0)), w(read("u", 0))],
    "fold_in_fold": lambda: [
        u(i0, Fold("sum", "k0'", ZERO, N, read("A", i0, param("k0")))),
        w(Fold("max", "k1'", ZERO, M, read("u", param("k1")))),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", REPLACED)
def test_replaced(name: str) -> None:
    p = made(*REPLACED[name]())
    before = sum(isinstance(s, (Compute, Assign)) for _, s in statements(p.body))
    fuse(p)
    assert sum(isinstance(s, (Compute, Assign)) for _, s in statements(p.body)) == before - 1
    assert "u" not in p.arrays


@pytest.mark.parametrize("name", STAYS)
def test_stays(name: str) -> None:
    p = made(*STAYS[name]())
    before = len(list(statements(p.body)))
    fuse(p)
    assert len(list(statements(p.body))) == before


def at(*index: Any, ranges: int = 2) -> Compute:
    names = {"i0": (0, M), "i1": (0, N)}
    return compute("A", index, 0.0, **dict(list(names.items())[:ranges]))


@pytest.mark.parametrize(
    ("written", "index", "in_place"),
    [
        (at(i0, i1), (i0, i1), False),
        (at(i0, i1), (i0, i1 + 1), True),
        (at(i0, i1), (i0, N - 1 - i1), True),
        (at(i0, t, ranges=1), (i0, t - 1), False),  # the row tells the parameter
        (at(i0, t, ranges=1), (i0, sympy.floor(t / 2)), False),
        (at(i0, t, ranges=1), (i0 + 1, t), True),
        (at(i0, t, ranges=1), (i0 + 1, t + 1), False),  # another column
        (at(i0, t, ranges=1), (i0 + 1, 0), True),
        (at(i0, 0, ranges=1), (i0 + 1, 1), False),
        (at(2 * i0, i1), (2 * i0, i1), False),
        (at(2 * i0, i1), (i0, i1), True),
        (at(i0, i1), (i1, i0), True),
        (at(i0, i1), (i0, i0), True),
        (at(i0, i1), (i1, i1), True),
        (at(i0, i1), (sympy.Mod(i0, 3), i1), True),
        (at(i0, i1), (sympy.Max(i0, 1), i1), True),
        (at(i0 + t, i1), (i0 + t, i1), False),
        (at(i0 + t, i1), (i0 + x, i1), True),
        (at(sympy.Mod(i0, 3), i1), (sympy.Mod(i0, 3), i1), True),  # an element for several parameters
        (at(sympy.floor(i0 / 2), i1), (sympy.floor(i0 / 2), i1), True),
        (at(i0 * t, i1), (i0 * t, i1), True),
        (at(0, i1), (0, i1), True),  # i0 is absent
    ],
)
def test_in_place(written: Compute, index: Any, in_place: bool) -> None:
    assert is_in_place(written, read("A", *index)) == in_place


@pytest.mark.parametrize("index", [(sympy.Mod(i0, 3), i1), (sympy.floor(i0 / 2), i1), (0, i1), (i0 + i1, 0), (i0, i0)])
def test_an_element_that_is_written_several_times(index: Any) -> None:
    p = made(at(*index))
    with pytest.raises(ProgramError, match="A: may be written several times"):
        split_in_place(p)
    p = made(compute("A", (i0, 0), 0.0, i0=(0, M), i1=(2, 3)))
    split_in_place(p)


def test_what_is_not_read_is_removed() -> None:
    count = Assign(name="x", value=apply("+", value("x"), 1))
    p = made(
        Assign(name="x", value=Number(0)),
        loop(count, u(i0, A0), Reduce(name="y", params=[Param("i0'", ZERO, M)], value=A0), w(read("w", i0))),
        For(variable="t", begin=ZERO, end=N, body=[If(branches=[(apply("<", value("x"), 2), [u(i0, value("x"))])])]),
    )
    drop_unused(p)
    (left,) = p.body
    assert isinstance(left, For)
    assert [type(s) for s in left.body] == [Compute]
    assert p.variables == {}
    assert set(p.arrays) == {"A", "B", "w"}


def test_what_has_an_effect_stays() -> None:
    kept = [
        Assign(name="x", value=Number(0)),
        While(condition=apply("<", value("x"), 9), body=[Assign(name="x", value=apply("+", value("x"), 1))]),
        Require(name="A", words="", low=M - N),
        If(branches=[(apply("<", value("x"), 3), [Stop(number=1)])]),
        Assign(name="y", value=read("A", N, 0)),  # a call is refused for it
        Assign(name="z", value=apply("**", 2, Index(M - N))),
    ]
    p = made(*kept)
    drop_unused(p)
    assert p.body == kept


def test_what_cannot_be_reached_is_removed() -> None:
    p = made(loop(w(A0), Break(), w(U0)), If(branches=[(value("x"), [Stop(), w(U0)])]), Stop(), w(U0))
    drop_unused(p)
    first, second = p.body
    assert isinstance(first, For)
    assert [type(s) for s in first.body] == [Compute, Break]
    assert isinstance(second, If)
    assert [type(s) for s in second.branches[0][1]] == [Stop]
