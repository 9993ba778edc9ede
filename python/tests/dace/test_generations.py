"""Two generations of an array: only where every pass and every run writes the same elements."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from dace_interpreter import interpret
from dace_made import apply, compiled, compute, param, placed, program, read
from starling.dace.ir import Break, Continue, Fold, For, If, Number, Stop, StopReason, symbol
from starling.dace.program_error import Place
from starling.machine import Machine

Devices = Callable[[int], Machine]
M, N, i, t, k = (symbol(n) for n in ("M", "N", "i", "t", "k"))
i0, i1, k0 = param("i0"), param("i1"), param("k0")
ZERO = sympy.Integer(0)


def loop(v: Any, begin: Any, end: Any, *body: Any) -> For:
    return For(variable=str(v), begin=sympy.sympify(begin), end=sympy.sympify(end), body=list(body))


def columns(index: Any, value: Any, begin: Any = 1, end: Any = N) -> Any:
    """for i in range(begin, end): A[:, index] = value"""
    return lambda: program([loop(i, begin, end, compute("A", (i0, index), value, i0=(0, M)))], {"A": (M, N)},
                           split={"A": (0,)}, scalars={"k": "int64"})  # fmt: skip


def a(column: Any) -> Any:
    return read("A", i0, column)


def rows(axis: int) -> Any:
    """for t in range(5): A[(t + 1) % 2, 1:-1] = A[t % 2, 1:-1] + 1"""

    def at(r: Any, c: Any) -> tuple[Any, Any]:
        return (r, c) if axis == 1 else (c, r)

    def build() -> Any:
        value = apply("+", read("A", *at(sympy.Mod(t, 2), i0 + 1)), 1.0)
        s = compute("A", at(sympy.Mod(t + 1, 2), i0 + 1), value, i0=(0, M - 2))
        return program([loop(t, 0, 5, s)], {"A": at(sympy.Integer(2), M)}, split={"A": (axis,)}, scalars={"k": "int64"})

    return build


def everywhere(row: Any, begin: Any, end: Any, other: Any = i0) -> Any:
    """for i in range(4): A[row + i0, :] = A[other, :] + i1 for i0 from begin to end - 1"""

    def build() -> Any:
        s = compute("A", (row + i0, i1), apply("+", read("A", other, N - 1 - i1), i1), i0=(begin, end), i1=(0, N))
        return program([loop(i, 0, 4, s)], {"A": (M, N)}, split={"A": (0,)}, scalars={"k": "int64"})

    return build


def elimination() -> Any:
    """for i in range(1, N): A[:, i:] = A[:, i:] - 0.5 * A[:, i - 1:-1]"""
    value = apply("-", a(i + i1), apply("*", 0.5, a(i + i1 - 1)))
    s = compute("A", (i0, i + i1), value, i0=(0, M), i1=(0, N - i))
    return program([loop(i, 1, N, s)], {"A": (M, N)}, split={"A": (0,)}, scalars={"k": "int64"})


DIFFERENT = {
    "times_first": columns(i, apply("*", a(0), i)),
    "half": columns(i, a(sympy.floor(i / 2))),
    "double": columns(2 * i, a(i), 0, sympy.floor(N / 2)),
    "backwards": columns(i, a(N - i)),
    "argument": columns(i, a(k)),
    "to_argument": columns(k, apply("+", a(i), a(k))),
    "prefix": columns(i, Fold("sum", "k0'", ZERO, i, a(k0))),
    "last_two": columns(
        sympy.Mod(i, 3), apply("-", apply("*", 2.0, a(sympy.Mod(i - 1, 3))), a(sympy.Mod(i - 2, 3))), 2, 9
    ),
    "elimination": elimination,
    "two_rows": rows(1),
    "growing": everywhere(0, 0, i + 1),
    "to_argument_rows": everywhere(0, 0, k),
    "moving": everywhere(i, 0, M - 4, i0 + i),
}  # fmt: skip
THE_SAME = {
    "reversed": everywhere(0, 0, M),
    "inner": everywhere(1, 0, M - 2, i0 + 1),
}
HOSTED = ("last_two", "growing", "inner")


@pytest.mark.parametrize("name", [*DIFFERENT, *THE_SAME])
def test_what_passes_write(name: str, devices: Devices) -> None:
    build = {**DIFFERENT, **THE_SAME}[name]
    rng = np.random.default_rng(7)
    c = compiled(build())
    assert c.explanation.generations == (("A",) if name in THE_SAME else ())
    shape = {"two_rows": (2, 11)}.get(name, (11, 9))
    for pes, blocks in ((1, 1), (1, 3), (2, 2), (3, 1), (4, 2)):
        A = rng.integers(0, 9, shape).astype("float64")
        want = A.copy()
        kept = placed(c, devices(pes), {"A": A, "k": 3}, blocks=blocks)
        for number in (3, 5, 4):  # the argument differs between runs
            interpret(build(), {"A": want, "k": number})
            kept.run({"k": number})
        kept.store()
        np.testing.assert_array_equal(A, want)
    if name in HOSTED:
        A = rng.integers(0, 9, shape).astype("float64")
        want = A.copy()
        interpret(build(), {"A": want, "k": 2})
        kept = placed(c, devices(2), {"A": A, "k": 2}, control="stream")
        kept.run({"k": 2})
        kept.store()
        np.testing.assert_array_equal(A, want)


def test_another_writer() -> None:
    def build() -> Any:
        p = everywhere(0, 0, M)()
        p.body.append(compute("A", (0, i0), Number(3.0), i0=(0, N)))
        return p

    assert compiled(build()).explanation.generations == ()


@pytest.mark.parametrize("leave", [Break(), Continue(), Stop(), Stop(number=1)], ids=lambda s: type(s).__name__)
def test_loops_that_are_left(leave: Any, devices: Devices) -> None:
    """The generation that an array is in then stays for the next run."""

    def build() -> Any:
        p = everywhere(0, 0, M)()
        (body,) = [s.body for s in p.body]
        body.insert(0, If(branches=[(apply("==", i, 1), [Continue()])]))
        body.append(If(branches=[(apply("==", i, k), [copy.copy(leave)])]))
        body.append(compute("B", (i0, 0), apply("+", read("A", i0, 0), read("B", i0, 0)), i0=(0, M)))
        p.arrays["B"] = copy.deepcopy(p.arrays["A"])
        p.arrays["B"].name = "B"
        p.order.insert(1, "B")
        p.stops = [StopReason("ValueError", "left", Place("made.py", 1))]
        return p

    rng = np.random.default_rng(11)
    c = compiled(build())
    assert c.explanation.generations == ("A",)
    for pes, blocks in ((1, 2), (3, 2)):
        A, B = (rng.integers(0, 9, (7, 6)).astype("float64") for _ in range(2))
        want = {"A": A.copy(), "B": B.copy()}
        kept = placed(c, devices(pes), {"A": A, "B": B, "k": 0}, blocks=blocks, packet_bytes=1 << 18)
        for number in (2, 9, 0, 3, 2):
            found = interpret(build(), {**want, "k": number})
            kept.run({"k": number})
            kept.store()
            assert (kept.stopped is None) == (found.number == 0)
            np.testing.assert_array_equal(A, want["A"])
            np.testing.assert_array_equal(B, want["B"])
