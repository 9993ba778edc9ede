"""Break, Continue, Stop and Require, on statements made by hand."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

from dace_made import apply, compiled, compute, param, placed, program, read, run, value
from starling.dace.ir import (
    Assign,
    Break,
    Collective,
    Continue,
    For,
    If,
    Number,
    Put,
    Reduce,
    Require,
    Stop,
    StopReason,
    Wait,
    While,
    symbol,
)
from starling.dace.ir import Param as Parameter
from starling.dace.program_error import Place, ProgramError
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
