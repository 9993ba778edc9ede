"""Ends of loops and programs where PEs communicate: all PEs must come there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_made import apply, compiled, compute, param, placed, program, read, run, value
from starling.dace.ir import (
    Assign,
    Break,
    Collective,
    Continue,
    For,
    If,
    Index,
    Number,
    Param,
    Put,
    Reduce,
    Stop,
    StopReason,
    Wait,
    While,
    symbol,
)
from starling.dace.ir.pes import PE, neighbour_name
from starling.dace.passes.all import all_passes
from starling.dace.program_error import Place, ProgramError
from starling.machine import Machine

Devices = Callable[[int], Machine]
N, t = symbol("N"), symbol("t")
i0 = param("i0")
ZERO, ONE = sympy.Integer(0), sympy.Integer(1)
ONE_ELEMENT = ((ZERO, ONE, ONE),)
PLACE = Place("made.py", 4)


def when(condition: Any, *body: Any) -> If:
    return If(PLACE, [(condition, list(body))])


def loop(*body: Any) -> For:
    return For(variable="t", begin=ZERO, end=ZERO + 6, body=list(body))


def inner(*body: Any) -> For:
    return For(variable="l", begin=ZERO, end=ZERO + 9, body=list(body))


def exchange() -> list[Any]:
    """A[-1] gets the A[1] of the PE above."""
    low, high = Index(symbol(neighbour_name(-1))), Index(symbol(neighbour_name(1)))
    last, first = ((N - 1, N, ONE),), ((ONE, ONE + 1, ONE),)
    put = Put(PLACE, "PutmemSignal", "A", last, "A", first, Index(t), 0, low)
    return [put, Wait(PLACE, 0, Index(t), high), compute("A", i0, apply("+", read("A", i0 + 1), 1.0), i0=(0, N - 1))]


def total() -> list[Any]:
    """s[0] is the sum of r[0] over all PEs."""
    return [Collective(PLACE, "SumReduce", "s", ONE_ELEMENT, "r", ONE_ELEMENT)]


def made(*body: Any, **more: Any) -> Any:
    shapes = {"A": (N,), "r": (1,), "s": (1,)}
    variables = {"x": "float64", "y": "weak int"}
    stops = [StopReason("ValueError", "wrong", PLACE)]
    p = program(copy.deepcopy(list(body)), shapes, variables=variables, stops=stops, **more)
    p.flags = 1
    return p


OWN = apply(">", read("r", 0), 0.0)  # differs between PEs
TOLD = apply(">", read("s", 0), 0.0)
BELOW = apply("<", Index(symbol(PE)), 2)
DIFFERENT = {
    "break": [loop(*exchange(), when(OWN, Break(PLACE)))],
    "continue": [loop(when(OWN, Continue(PLACE)), *exchange())],
    "by_number": [loop(when(BELOW, Break(PLACE)), *exchange())],
    "return": [when(OWN, Stop(PLACE)), loop(*exchange())],
    "raise": [loop(*exchange(), when(OWN, Stop(PLACE, 1)))],
    "in_branch": [when(OWN, *total())],
    "while": [While(condition=OWN, body=total())],
    "by_scalar": [
        Assign(name="x", value=read("r", 0)), loop(*exchange(), when(apply(">", value("x"), 1.0), Break(PLACE))),
    ],
    "by_branch": [
        Assign(name="y", value=Number(1)), when(OWN, Assign(name="y", value=Number(2))),
        loop(*exchange(), when(apply(">", value("y"), 1), Break(PLACE))),
    ],
    "by_length_of_a_loop": [
        Assign(name="y", value=Number(1)),
        inner(when(OWN, Break()), Assign(name="y", value=apply("+", value("y"), 1))),
        loop(*exchange(), when(apply(">", value("y"), 1), Break(PLACE))),
    ],
    "by_sum": [
        Reduce(name="x", op="sum", params=[Param("i0'", ZERO, N)], value=read("A", i0)),
        loop(*exchange(), when(apply(">", value("x"), 1.0), Break(PLACE))),
    ],
}  # fmt: skip
THE_SAME = {
    "told": [loop(*exchange(), *total(), when(TOLD, Break()))],
    "loop_variable": [loop(*exchange(), when(apply(">", t, 3), Stop(PLACE, 1)))],
    "inner_loop": [
        loop(*exchange(), inner(when(OWN, Break()), compute("r", 0, read("A", 0)))),
    ],
    "at_the_end": [loop(*exchange()), when(OWN, Stop(PLACE, 1)), compute("r", 0, 1.0)],
    "alone": [when(OWN, Stop(PLACE, 1)), loop(compute("A", i0, read("A", i0), i0=(0, N)), when(OWN, Break()))],
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_refused(name: str) -> None:
    with pytest.raises(ProgramError, match=r"made.py:4: .*condition that may differ between"):
        all_passes(made(*DIFFERENT[name]))


@pytest.mark.parametrize("name", THE_SAME)
def test_taken(name: str) -> None:
    all_passes(made(*THE_SAME[name]))


def test_words() -> None:
    for name, words in (
        ("break", "break: in a loop in which PEs communicate .*MaxReduce, so that they break together"),
        ("continue", "continue: in a loop"),
        ("return", "return: ends the program .*others would wait"),
        ("raise", "ValueError: ends the program"),
        ("in_branch", "SumReduce: stands under a condition .*let peer be NOBODY instead"),
    ):
        with pytest.raises(ProgramError, match=words):
            all_passes(made(*DIFFERENT[name]))


def test_split_arrays_by_number_of_pe() -> None:
    body = [when(BELOW, compute("A", i0, 1.0, i0=(0, N)))]
    with pytest.raises(ProgramError, match="A: is computed by all PEs together"):
        all_passes(made(*body, split={"A": (0,)}))
    with pytest.raises(ProgramError, match="return: ends the program"):
        all_passes(made(when(BELOW, Stop(PLACE)), compute("A", i0, 1.0, i0=(0, N)), split={"A": (0,)}))


@pytest.mark.parametrize("control", ["device", "stream", "call"])
def test_pes_stop_together(control: str, devices: Devices) -> None:
    """When the sum over all PEs is large enough."""
    body = [
        loop(
            *exchange(),
            compute("r", 0, read("A", 0)),
            *total(),
            when(apply(">", read("s", 0), 14.0), Stop(PLACE, 1)),
            compute("A", 0, apply("+", read("A", 0), 1.0)),
        )
    ]
    c = compiled(made(*body))
    for large in (False, True):
        A = [np.arange(6.0) + pe + 9 * large for pe in range(3)]
        r, s = ([np.zeros(1) for _ in range(3)] for _ in range(2))
        want = [a.copy() for a in A]
        for _ in range(6):
            edges = [a[1] for a in want]
            for pe in range(2):
                want[pe][-1] = edges[pe + 1]
            for a in want:
                a[:-1] = a[1:] + 1.0
            if sum(a[0] for a in want) > 14.0:
                break
            for a in want:
                a[0] += 1.0
        done = run(c, devices(3), {"A": A, "r": r, "s": s}, blocks=2, control=control)
        np.testing.assert_array_equal(A, want)
        assert done.stopped is not None
        assert [x[0] for x in s] == [sum(a[0] for a in want)] * 3


@pytest.mark.parametrize("control", ["device", "stream"])
def test_pes_that_stop_alone(control: str, devices: Devices) -> None:
    c = compiled(made(when(apply(">", read("r", 0), 1.0), Stop(PLACE, 1)), compute("A", i0, 7.0, i0=(0, N))))
    A, s = ([np.zeros(4) for _ in range(3)] for _ in range(2))
    s = [np.zeros(1) for _ in range(3)]
    kept = placed(c, devices(3), {"A": A, "r": [np.array([k], "float64") for k in (0, 2, 1)], "s": s}, control=control)
    kept.run({})
    kept.store()
    assert [a[0] for a in A] == [7.0, 0.0, 7.0]
    with pytest.raises(ValueError, match="wrong"):
        kept.raise_stopped()
