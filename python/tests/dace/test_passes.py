"""The passes one by one, on statements made by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import sympy

from starling.dace.emit.index import cpp_index
from starling.dace.grid import share
from starling.dace.ir import (
    Apply,
    Array,
    Assign,
    Barrier,
    Break,
    Compute,
    Continue,
    Dealt,
    For,
    If,
    Index,
    Number,
    Param,
    Program,
    Put,
    Read,
    Stop,
    Value,
    While,
    statements,
    symbol,
)
from starling.dace.passes.barriers import add_barriers
from starling.dace.passes.credits import apart
from starling.dace.passes.exchange import sides_of
from starling.dace.passes.flow import Flow
from starling.dace.passes.fuse import fuse, split_in_place
from starling.dace.passes.place import place
from starling.dace.passes.resolve import resolve
from starling.dace.passes.types import common_type

N, i0 = symbol("N"), symbol("i0")


def program(body: list[Any], *names: str, temporaries: tuple[str, ...] = ()) -> Program:
    arrays = {n: Array(n, "float64", (N,), n not in temporaries) for n in (*names, *temporaries)}
    for n in names:
        arrays[n].split, arrays[n].dealt = True, [Dealt(0, N)]
    return Program("made", "", 0, arrays, {}, {}, ["N"], list(names), body)


def compute(target: str, value: Any, at: Any = i0, begin: int = 2) -> Compute:
    return Compute(params=[Param("i0", sympy.Integer(begin), N - 2)], target=target, index=(at,), value=value)


def read(array: str, offset: int = 0) -> Read:
    return Read(array, (i0 + offset,))


@pytest.mark.parametrize(("a", "b"), [*itertools.product(("bool", "int32", "int64", "float32", "float64"), repeat=2)])
def test_types_are_those_of_numpy(a: str, b: str) -> None:
    assert common_type(a, b) == str((np.ones(1, a) * np.ones(1, b)).dtype)


@pytest.mark.parametrize(("weak", "number"), [("weak bool", True), ("weak int", 2), ("weak float", 0.5)])
@pytest.mark.parametrize("a", ["bool", "int32", "int64", "float32", "float64"])
def test_numbers_of_python_give_way(a: str, weak: str, number: Any) -> None:
    assert common_type(a, weak) == common_type(weak, a) == str((np.ones(1, a) * number).dtype)


def test_flow_of_loops_and_branches() -> None:
    a, b, c, d = (Assign(name=n) for n in "abcd")
    branch = If(branches=[(Value("x"), [b])])
    flow = Flow([a, For(variable="t", body=[branch, c]), d])

    def comes(start: Any, wanted: Any, *stops: Any) -> bool:
        return flow.reaches([start], lambda n: n is wanted, lambda n: n in stops)

    assert comes(a, d)
    assert comes(c, b)  # by way of the next pass
    assert comes(c, c, b)  # past the branch
    assert not comes(b, a)
    assert not comes(a, c, branch)
    assert flow.reaches([c], lambda n: n is a, lambda n: False, back=True)


def test_flow_that_leaves_loops() -> None:
    a, b, c, d, e = (Assign(name=n) for n in "abcde")
    go_on, leave, end = Continue(), Break(), Stop()
    loop = For(variable="t", body=[a, If(branches=[(Value("x"), [go_on]), (Value("y"), [leave]), (None, [])]), b])
    flow = Flow([loop, c, If(branches=[(Value("x"), [end, d])]), e])
    assert flow.after[go_on] == [loop]
    assert flow.after[leave] == [c]
    assert flow.after[end] == [flow.exit]
    assert flow.before[d] == []  # not reached
    assert flow.reaches([a], lambda n: n is e, lambda n: n in (loop, end))
    assert not flow.reaches([a], lambda n: n is c, lambda n: n in (loop, leave))
    endless = While(condition=Number(True), body=[a, If(branches=[(Value("x"), [leave])])])
    flow = Flow([endless, b])
    assert flow.before[b] == [leave]


def test_temporaries_are_replaced() -> None:
    p = program([compute("t", Apply("+", (read("A"), read("A", 1)))), compute("B", read("t", -1), begin=3)], "A", "B",
                temporaries=("t",))  # fmt: skip
    fuse(p)
    (s,) = p.body
    assert isinstance(s, Compute)
    assert s.value == Apply("+", (Read("A", (i0 - 1,)), Read("A", (i0,))))
    assert set(p.arrays) == {"A", "B"}


def test_a_temporary_stays_where_its_source_changes_before_it_is_read() -> None:
    p = program([compute("t", read("A", 1)), compute("A", Number(0.0)), compute("B", read("t"))], "A", "B",
                temporaries=("t",))  # fmt: skip
    fuse(p)
    assert len(p.body) == 3


def test_what_is_read_while_it_is_written_gets_a_temporary() -> None:
    p = program([compute("A", Apply("+", (read("A", -1), read("A", 1))))], "A")
    fuse(p)
    split_in_place(p)
    assert [s.target for _, s in statements(p.body) if isinstance(s, Compute)] == ["before_A'", "A"]
    p = program([compute("A", Apply("*", (read("A"), Number(0.5))))], "A")
    split_in_place(p)
    assert len(p.body) == 1


def test_scalars_that_are_known_are_replaced() -> None:
    p = program([Assign(name="k", value=Apply("+", (Index(N), Number(1)))), Assign(name="m", value=Value("k"))], "A")
    p.variables = {"k": "weak int", "m": "weak int"}
    resolve(p)
    assert p.body == []
    p = program([Assign(name="k", value=Number(1)), Assign(name="k", value=Number(2))], "A")
    p.variables = {"k": "int64"}
    resolve(p)
    assert len(p.body) == 2


def test_temporaries_lie_with_what_they_are_read_for() -> None:
    p = program([compute("t", read("A")), compute("B", read("t", -1))], "A", "B", temporaries=("t",))
    p.arrays["t"].shape = (N - 1,)
    place(p)
    assert (p.arrays["t"].split, p.arrays["t"].dealt) == (True, [Dealt(0, N, sympy.Integer(1))])


def test_what_a_temporary_gets_in_place_lies_with_it() -> None:
    p = program([compute("t", Apply("+", (read("t", -1), read("A"))))], "A", temporaries=("t",))
    split_in_place(p)
    place(p)
    for name in ("t", "before_t'"):
        assert (p.arrays[name].split, p.arrays[name].dealt) == (True, [Dealt(0, N, sympy.Integer(0))])


@pytest.mark.parametrize(
    ("distance", "sides"),
    [((2,), {(1,)}), ((0, -2), {(0, -1)}), ((1, -1), {(1, 0), (0, -1), (1, -1)}), ((0, 0), set())],
)
def test_sides_that_are_read(distance: tuple[int, ...], sides: set[tuple[int, ...]]) -> None:
    assert sides_of(distance) == sides


@pytest.mark.parametrize(
    ("values", "barriers"),
    [
        ([("B", read("A")), ("A", read("B"))], 0),  # every block has its own
        ([("B", read("A", 1)), ("A", read("B"))], 2),
        ([("B", read("A", 1)), ("A", read("B", -1))], 2),
        ([("B", read("A", 1)), ("C", read("A", -1))], 0),  # both read alone
        ([("B", read("A", 1)), ("C", read("B")), ("A", read("C"))], 2),
    ],
)
def test_barriers_between_what_conflicts(values: list[Any], barriers: int) -> None:
    p = program([For(variable="t", end=symbol("N"), body=[compute(n, v) for n, v in values])], "A", "B", "C")
    place(p)
    add_barriers(p)
    assert sum(isinstance(s, Barrier) for _, s in statements(p.body)) == barriers


def barriers_in(p: Program) -> list[tuple[Any, int]]:
    place(p)
    add_barriers(p)
    return [(body, body.index(s)) for body, s in statements(p.body) if isinstance(s, Barrier)]


def test_barriers_before_the_next_pass() -> None:
    """Its condition reads what others may have: before it, and where a pass goes on early."""
    go_on = Continue()
    branch = If(branches=[(Apply("<", (read("B", 0), Number(1))), [go_on])])
    loop = While(
        condition=Apply(">", (Read("A", (sympy.Integer(1),)), Number(0))), body=[compute("A", Number(1)), branch]
    )
    p = program([loop], "A", "B")
    for a in p.arrays.values():
        a.split = False
    branch.branches[0] = (Apply("<", (Read("B", (sympy.Integer(0),)), Number(1))), [go_on])
    found = barriers_in(p)
    assert (branch.branches[0][1], 0) in found
    assert (loop.body, len(loop.body) - 1) in found


def test_a_barrier_before_every_block_reads_what_one_has_written() -> None:
    backwards = Compute(params=[Param("i0", sympy.Integer(0), N)], target="A", index=(N - 1 - i0,), value=Number(1))
    one = Compute(params=[], target="r", index=(sympy.Integer(0),), value=Read("A", (sympy.Integer(1),)))
    p = program([backwards, one], "A")
    p.arrays["A"].split = False
    p.arrays["r"] = Array("r", "float64", (sympy.Integer(1),), True)
    assert barriers_in(p) == [(p.body, 1)]


def test_regions_that_are_apart() -> None:
    p = program([], "A")
    t, one = symbol("t"), sympy.Integer(1)

    def put(source: Any, to: Any, least: int = 3) -> Put:
        made = Put(array="A", box=((to, to + 1, one),), source="A", source_box=((source, source + 1, one),))
        made.least = (least,)
        return made

    zero = one - one
    assert apart(put(one, N - 1), put(N - 2, zero), p)
    assert apart(put(one, N - 1), put(one, zero), p)
    assert not apart(put(t, N - 1), put(one, zero), p)  # t may be 0
    assert not apart(put(one, N - 1), put(N - 2, N - 2), p)  # of 3 layers both are the second
    assert apart(put(one, N - 1), put(N - 2, N - 2, 4), p)
    assert not apart(put(one, N - 1), put(N - 2, t), p)


@pytest.mark.parametrize(
    "index", [N - 2, 2 * i0 + 1, sympy.floor(N / 2), sympy.Mod(N + 1, 3), (N - 1) * 3 + i0, sympy.ceiling(N / 4)]
)
def test_indices_in_cpp(index: Any) -> None:
    text = cpp_index(index)
    for call, as_python in (("sg::floor_divide<st::index_t>", "floor"), ("sg::modulo<st::index_t>", "mod")):
        text = text.replace(call, as_python)
    have = eval(text, {"N": 17, "i0": 5, "floor": lambda a, b: a // b, "mod": lambda a, b: a % b})
    assert have == int(index.subs({N: 17, i0: 5}))


@pytest.mark.parametrize(("n", "parts"), [(7, 3), (2, 4), (9, 9), (10, 1)])
def test_shares(n: int, parts: int) -> None:
    cut = [share(n, parts, k) for k in range(parts)]
    assert cut[0][0] == 0
    assert cut[-1][1] == n
    assert all(a[1] == b[0] for a, b in itertools.pairwise(cut))
    assert max(e - b for b, e in cut) - min(e - b for b, e in cut) <= 1
