"""Break, Continue, Stop and Require, on statements made by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_interpreter import beside
from dace_made import apply, compiled, compute, param, placed, program, read, run, value
from starling.dace.ir import (
    Assign,
    Break,
    Continue,
    For,
    If,
    Number,
    Reduce,
    Require,
    Stop,
    StopReason,
    While,
    symbol,
)
from starling.dace.ir import Param as Parameter
from starling.dace.program_error import Place, ProgramError
from starling.dace.stops import exception_of
from starling.machine import Machine

Devices = Callable[[int], Machine]
N, t, i0 = symbol("N"), symbol("t"), param("i0")
CONTROLS = ("device", "stream", "call")
REASON = StopReason("ValueError", "too large", Place("made.py", 7))


def relax(target: str, source: str) -> Any:
    """target[1:-1] = 0.5 * (source[:-2] + source[2:])"""
    mean = apply("*", 0.5, apply("+", read(source, i0), read(source, i0 + 2)))
    return compute(target, i0 + 1, mean, i0=(0, N - 2))


def total(name: str, array: str) -> Reduce:
    return Reduce(name=name, op="sum", params=[Parameter("i0'", N * 0, N)], value=read(array, i0))


def when(condition: Any, *body: Any) -> If:
    return If(branches=[(condition, list(body))])


def left_early(leave: Any) -> Any:
    """for t in range(9): A relaxes into B, B into A; `leave` where the sum of A has fallen."""
    return program(
        [
            For(variable="t", begin=t * 0, end=t * 0 + 9, body=[
                relax("B", "A"),
                total("s", "B"),
                when(apply("<", value("s"), value("least")), leave),
                relax("A", "B"),
                compute("A", 0, apply("+", read("A", 0), t)),
            ]),
            compute("r", 0, value("s")),
        ],
        {"A": (N,), "B": (N,), "r": (1,)},
        split={"A": (0,), "B": (0,)},
        scalars={"least": "float64"},
        variables={"s": "float64"},
        stops=[REASON],
    )  # fmt: skip


def left_early_in_numpy(kind: type, a: Any, b: Any, r: Any, least: float) -> None:
    s = 0.0
    for k in range(9):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        s = b.sum()
        if s < least:
            if kind is Break:
                break
            if kind is Continue:
                continue
            return
        a[1:-1] = 0.5 * (b[:-2] + b[2:])
        a[0] = a[0] + k
    r[0] = s


@pytest.mark.parametrize(
    "leave", [Break(), Continue(), Stop(number=0), Stop(number=1)], ids=["break", "continue", "return", "raise"]
)
@pytest.mark.parametrize("control", CONTROLS)
def test_loops_are_left(leave: Any, control: str, devices: Devices) -> None:
    rng = np.random.default_rng(5)
    c = compiled(left_early(leave))
    for (pes, blocks), least in itertools.product(((1, 1), (1, 3), (3, 2), (4, 1)), (-1.0, 5.5, 8.0, 99.0)):
        a, b, r = rng.random(23), rng.random(23), np.zeros(1)
        want = [x.copy() for x in (a, b, r)]
        left_early_in_numpy(type(leave), *want, least)
        done = run(c, devices(pes), {"A": a, "B": b, "r": r, "least": least}, blocks=blocks, control=control)
        np.testing.assert_array_equal(a, want[0])
        np.testing.assert_array_equal(b, want[1])
        np.testing.assert_allclose(r, want[2], rtol=1e-14)
        stopped = isinstance(leave, Stop) and leave.number and want[2][0] == 0.0
        assert done.stopped == (REASON if stopped else None)
        if stopped:
            with pytest.raises(ValueError, match="too large") as found:
                done.raise_stopped()
            assert str(found.value) == "too large"
            assert "made.py:7" in "".join(getattr(found.value, "__notes__", []))


@pytest.mark.parametrize("packet_bytes", [0, 1 << 18])
@pytest.mark.parametrize("control", ["device", "stream"])
def test_a_run_goes_on_after_one_that_has_stopped(control: str, packet_bytes: int, devices: Devices) -> None:
    rng = np.random.default_rng(6)
    c = compiled(left_early(Stop(number=1)))
    a, b, r = rng.random(23), rng.random(23), np.zeros(1)
    want = [x.copy() for x in (a, b, r)]
    kept = placed(c, devices(3), {"A": a, "B": b, "r": r, "least": 0.0}, blocks=2, control=control,
                  packet_bytes=packet_bytes)  # fmt: skip
    for least in (6.0, -1.0, 99.0, -1.0, 7.0):
        left_early_in_numpy(Stop, *want, least)
        kept.run({"least": least})
        kept.store()
        np.testing.assert_array_equal(a, want[0])
        np.testing.assert_array_equal(b, want[1])


# ---- small programs, beside the same ones carried out one statement after the other ----

X, Y = value("x"), value("y")


def counted(name: str, more: int = 1) -> Assign:
    return Assign(name=name, value=apply("+", value(name), more))


def over(v: str, begin: Any, end: Any, *body: Any, step: int = 1) -> For:
    return For(variable=v, begin=sympy.sympify(begin), end=sympy.sympify(end), step=step, body=list(body))


def nested() -> list[Any]:
    """The innermost loop is left, or goes on, not those around it."""
    u, v = symbol("u"), symbol("v")
    return [
        over("u", 0, 4,
             over("v", 5, 0,
                  when(apply("==", v, u), Continue()),
                  when(apply("and", apply(">", u, 2), apply("<", v, 3)), Break()),
                  compute("A", i0, apply("+", apply("*", read("A", i0), 3), u - v), i0=(0, N)), step=-1),
             when(apply("==", u, 2), Continue()),
             compute("B", i0, apply("-", read("B", N - 1 - i0), read("A", i0)), i0=(0, N))),
    ]  # fmt: skip


def until_an_element_is_large() -> list[Any]:
    """Conditions read arrays, before the loop, at its end and where a pass goes on early."""
    first, last = read("A", 0), read("B", N - 1)
    return [
        While(condition=apply("<", first, 40), body=[
            compute("A", i0, apply("+", read("A", N - 1 - i0), 3), i0=(0, N)),
            when(apply(">", last, 30), counted("x"), Continue()),
            compute("B", i0, apply("+", read("B", i0), read("A", N - 1 - i0)), i0=(0, N)),
        ]),
        compute("r", 0, X),
    ]  # fmt: skip


def for_ever() -> list[Any]:
    return [
        While(condition=Number(True), body=[
            counted("x", 2),
            when(apply(">", X, 9), when_large()),
            compute("A", i0, apply("+", read("A", i0), X), i0=(0, N)),
        ]),
        compute("r", 0, X),
    ]  # fmt: skip


def when_large() -> Any:
    return when(apply("<", read("A", 1), 1000), Break())


def end_that_changes() -> list[Any]:
    """A loop goes to the end that it had when it began."""
    return [
        over("u", 0, symbol("x"), counted("x"), compute("r", 0, apply("+", read("r", 0), X))),
        over(
            "u",
            symbol("y") - 5,
            9,
            counted("y", 2),
            over("u", 0, symbol("y"), counted("y"), compute("r", 0, Y)),
            step=3,
        ),
    ]


def one_element() -> list[Any]:
    """Every block computes it: for no parameter, for one, and for none that there are."""
    return [
        compute("r", i0, apply("+", read("A", i0 + 2), 1), i0=(0, 1)),
        compute("r", i0, read("A", i0), i0=(0, sympy.Mod(symbol("y"), 2) - 1)),
        compute("s'", i0, apply("*", read("r", i0), 2), i0=(0, 1)),
        compute("A", i0, read("s'", 0), i0=(1, 3)),
    ]


def ends_in_branches() -> list[Any]:
    first = read("A", 0)
    return [
        over("u", 0, 9,
             If(branches=[(apply("<", read("A", 0), 7), [compute("A", 0, apply("+", read("A", 0), 2))]),
                          (apply("<", first, 11), [compute("A", 0, apply("+", first, 3)), Continue(), Break()]),
                          (None, [compute("r", 0, symbol("u")), Stop(number=1), counted("x")])]),
             compute("B", i0, apply("+", read("B", i0), read("A", 0)), i0=(0, N))),
        Stop(),
        compute("r", 0, 100),
    ]  # fmt: skip


@pytest.mark.parametrize("control", ["device", "stream"])
@pytest.mark.parametrize("body", [nested, until_an_element_is_large, for_ever, end_that_changes, one_element,
                                  ends_in_branches], ids=lambda f: f.__name__)  # fmt: skip
def test_as_statements_say(body: Any, control: str, devices: Devices) -> None:
    def build() -> Any:
        shapes = {"A": (N,), "B": (N,), "r": (1,), "s'": (1,)}
        first = [Assign(name="x", value=Number(3)), Assign(name="y", value=Number(4))]
        types = dict.fromkeys(shapes, "int64")
        return program([*first, *body()], shapes, split={}, temporaries=("s'",), types=types,
                       variables={"x": "int64", "y": "int64"}, stops=[REASON], checked={"x", "y"})  # fmt: skip

    rng = np.random.default_rng(9)
    for blocks in (1, 3):
        given = {"A": rng.integers(0, 9, 7), "B": rng.integers(0, 9, 7), "r": np.zeros(1, "int64")}
        beside(build, given, devices(1), blocks=blocks, control=control)


def test_what_is_required(devices: Devices) -> None:
    def build(low: Any) -> Any:
        return program([Require(Place("made.py", 5), "A[n:]", "begins at {value}; add the length", low)], {"A": (N,)})

    c = compiled(build(N - 4))
    assert "#line" not in c.source
    for length in (4, 9):
        run(c, devices(1), {"A": np.zeros(length)})
    with pytest.raises(ProgramError, match=r"^made.py:5: A\[n:\]: begins at -1; add the length$"):
        run(c, devices(1), {"A": np.zeros(3)})


def test_exceptions() -> None:
    place = Place("made.py", 3)
    for name in ("ValueError", "IndexError", "ZeroDivisionError", "AssertionError", "KeyError"):
        made = exception_of(StopReason(name, "some words", place))
        assert type(made).__name__ == name
        assert made.args == ("some words",)
    assert exception_of(StopReason("AssertionError", "", place)).args == ()
    refused = exception_of(StopReason("ProgramError", "A[k]: is wrong", place))
    assert isinstance(refused, ProgramError)
    assert (str(refused), refused.line, refused.node) == ("made.py:3: A[k]: is wrong", 3, "A[k]")


def test_explained() -> None:
    c = compiled(left_early(Stop(Place("made.py", 12), 1)))
    assert c.explanation.stops == ((12, "ValueError"),)
    assert "line 12: may end the program with ValueError" in str(c.explanation)
    assert compiled(left_early(Break())).explanation.stops == ()
