"""What a program became, as data and as text."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_programs as programs
from starling import dace as sd
from starling.dace import nvshmem
from starling.dace.emit.communication import packet_channels
from starling.dace.ir import Put, statements


@pytest.mark.parametrize(
    ("program", "barriers"),
    [
        (programs.jacobi_1d, 2),
        (programs.jacobi_2d, 2),
        (programs.heat_3d, 2),
        (programs.fdtd_2d, 2),
        (programs.converge, 2),
        (programs.smooth, 2),
        (programs.convolution, 0),
        (programs.adi, 2),
        (programs.in_place, 4),
        (programs.relax, 1),
    ],
    ids=lambda p: getattr(p, "__name__", str(p)),
)
def test_barriers(program: Any, barriers: int) -> None:
    assert program.explain().barriers == barriers


def test_exchanges_of_sides_that_are_read_alone() -> None:
    found = {x.array: (x.axis, x.low, x.high) for x in programs.fdtd_2d.explain().exchanges}
    assert found == {"ey": (0, 0, 1), "hz": (0, 1, 0)}
    assert programs.jacobi_2d_columns.explain().exchanges[0].axis == 1


def test_fresh_halos_are_not_sent() -> None:
    e = programs.convolution.explain()
    assert e.puts == e.waits == e.exchanges == ()
    assert e.symmetric == ()


def test_credits_only_where_nothing_else_proves_that_a_slot_was_read() -> None:
    assert programs.jacobi_2d.explain().credits == ()
    assert len(programs.heat_3d.explain().credits) == 1
    assert len(programs.smooth.explain().credits) == 2


def test_packets_need_fewer_credits() -> None:
    for program, credited, of_packets in ((programs.heat_3d, 1, 0), (programs.in_place, 2, 1), (programs.nested, 1, 1)):
        whole = program.compiled()
        packets = frozenset(packet_channels(whole.program))
        assert len(packets) == len({s.channel for _, s in statements(whole.program.body) if isinstance(s, Put)})
        assert len(program.explain().credits) == credited
        assert len(whole.explained("device", packets).credits) == of_packets


def test_packets_are_no_part_of_what_fences_order() -> None:
    @sd.program
    def fenced(A: sd.float64[programs.N], B: sd.float64[programs.N], steps: sd.int64):
        flags = nvshmem.flags(1)
        for t in range(steps):
            nvshmem.Putmem(B[1:-1], A[1:-1], sd.neighbour(1))
            nvshmem.Fence()
            nvshmem.PutmemSignal(A[0], A[-2], flags[0], t + 1, sd.neighbour(1))
            nvshmem.SignalWait(flags[0], t + 1, sd.neighbour(-1))
            A[1:-1] = A[:-2] + B[1:-1]

    assert [q.protocol for q in fenced.explain().puts] == ["put", "put_signal"]


def test_what_is_updated_in_place_has_two_generations() -> None:
    e = programs.relax.explain()
    assert (e.generations, e.credits) == (("A",), ())
    assert "two generations: A" in str(e)
    assert programs.in_place.explain().generations == ()  # two statements write it
    assert programs.heat_3d.explain().generations == ()  # the caller sees both arrays


def test_puts_and_waits() -> None:
    e = programs.smooth.explain()
    first = programs.smooth.function.__code__.co_firstlineno
    assert [(q.line - first, q.array, q.protocol, q.bytes) for q in e.puts] == [
        (5, "A", "packets or put_signal", "8"),
        (6, "A", "packets or put_signal", "8"),
    ]
    assert [(w.line - first, w.put_line - first) for w in e.waits] == [(7, 5), (8, 6)]
    assert e.symmetric == ("A",)
    assert e.roles == ("first", "inner", "last")
    strided = programs.columns.explain().puts[0]
    assert (strided.protocol, strided.bytes) == ("iput, fence, signal", "8*M")


def test_phases_are_one_for_each_statement_of_numpy() -> None:
    first = programs.jacobi_2d.function.__code__.co_firstlineno
    assert [(line - first, array) for line, array in programs.jacobi_2d.explain().phases] == [(3, "B"), (4, "A")]


def test_text_says_it_all() -> None:
    text = str(programs.heat_3d.explain())
    for words in ("barriers of the blocks of a PE: 2", "exchange of A along axis 0: 1 below, 1 above", "credits for"):
        assert words in text


def test_source_is_short_and_has_no_line_marks() -> None:
    source = programs.jacobi_2d.explain().source
    assert len(source.splitlines()) <= 100
    assert "#line" not in source


def test_constants_from_outside_are_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    n = sd.symbols("N")
    scale = 2.0

    @sd.program
    def scaled(A: sd.split(sd.float64[n])):
        A[:] = A * scale

    before = scaled.explain().source
    scale = 3.0
    after = scaled.explain().source
    assert "2.0" in before
    assert "3.0" in after


def test_what_is_changed_in_place_outside_is_part_of_the_program_too() -> None:
    class Settings:
        factor = 2.0
        __hash__ = None  # type: ignore[assignment]

    n = sd.symbols("N")
    weights, settings = [2.5, [3.5]], Settings()

    @sd.program
    def scaled(A: sd.split(sd.float64[n])):
        A[:] = A * weights[1][0] + settings.factor

    assert "3.5" in scaled.explain().source
    weights[1][0] = 4.5  # type: ignore[index]
    assert "4.5" in scaled.explain().source
    settings.factor = 7.25
    assert "7.25" in scaled.explain().source
