"""Files of several processes that have a machine together become one machine; and what is wrong with such files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from starling import errors, trace
from trace_files import Block, Call, Program, activity, written

NOBODY = Block(0, 0)  # a block of another process: its ring was never begun


def of_process(
    path: Path, rank: int, calls: list[list[Call]], job: str = "a job 7", activities: bytes = b"", blocks: int = 1
) -> Path:
    """What process `rank` of two writes, which has PE `rank`: a program for each list of calls."""
    programs = []
    for number, made in enumerate(calls):
        own = [Block(1000 * number + 1, 1000 * number + 900, made), *[NOBODY] * (blocks - 1)]
        pes = [[NOBODY] * blocks, [NOBODY] * blocks]
        pes[rank] = own
        programs.append(Program(pes, start=1000 * number + 10 * rank, end=1000 * number + 950 + rank))
    return written(path, *programs, activities=activities, pes=2, job={"job": job, "own_pes": [rank, rank + 1]})


def put(start: int, peer: int) -> Call:
    return Call("put_signal", start, start + 20, peer=peer, bytes=64, signal=8, value=1)


def test_two_processes_are_one_machine(tmp_path: Path) -> None:
    first = of_process(tmp_path / "0", 0, [[put(100, 1)], [put(1100, 1), put(1200, 1)]], activities=activity(3, 5, 9))
    second = of_process(
        tmp_path / "1",
        1,
        [[Call("wait", 50, 130, peer=0, bytes=1, signal=8, value=1)], []],
        activities=activity(3, 2, 4),
    )
    for order in ([first, second], [second, first]):
        made = trace.read(order)
        assert len(made.machines) == 1
        m = made.machines[0]
        assert (m.size, made.problems) == (2, [])
        assert m.matrix.messages.tolist() == [[0, 3], [0, 0]]
        assert m.matrix.bytes[0, 1] == 3 * 64
        assert m.activities["start"].tolist() == [2, 5]
        program = m.programs[0]
        assert program.spans.pe.tolist() == [0, 1]
        assert program.spans.start.tolist() == [100, 50]
        assert (program.start, program.end) == (0, 951)
        assert program.returned.tolist() == [[True], [True]]
        # The wait of the one process is released by the put of the other.
        assert [len(ends) for ends in m.flows[0]] == [1, 1]


def test_other_machines_stay_apart(tmp_path: Path) -> None:
    paths = [
        of_process(tmp_path / "a0", 0, [[put(100, 1)]], "a job 7"),
        of_process(tmp_path / "b0", 0, [[put(100, 1)]], "a job 8"),
        of_process(tmp_path / "a1", 1, [[]], "a job 7"),
        written(tmp_path / "alone", Program([[Block(1, 9)]])),
        written(tmp_path / "alone too", Program([[Block(1, 9)]])),
    ]
    assert [m.size for m in trace.read(paths).machines] == [2, 2, 1, 1]


def test_a_process_that_was_killed(tmp_path: Path) -> None:
    whole = of_process(tmp_path / "0", 0, [[put(100, 1)], [put(1100, 1)]])
    short = of_process(tmp_path / "1", 1, [[]])
    m = trace.read([whole, short]).machines[0]
    assert [p.returned.tolist() for p in m.programs] == [[[True], [True]], [[True], [False]]]
    cut = tmp_path / "cut"
    cut.write_bytes(short.read_bytes()[:-100])
    made = trace.read([whole, cut], partial=True)
    assert len(made.machines[0].programs) == 2
    assert "trace again" in made.problems[0]


def test_programs_that_differ(tmp_path: Path) -> None:
    one = of_process(tmp_path / "0", 0, [[put(100, 1)]])
    other = of_process(tmp_path / "1", 1, [[put(100, 0)]], blocks=3)
    made = trace.read([one, other])
    assert made.machines[0].matrix.messages.tolist() == [[0, 1], [0, 0]]
    assert "program 0 differs between the processes" in made.problems[0]


@pytest.mark.parametrize("own", [None, 3, [0], [0, 3], [2, 1], [-1, 1], ["0", "1"]])
def test_own_pes_that_make_no_sense(tmp_path: Path, own: object) -> None:
    path = written(tmp_path / "t", Program([[Block(1, 9)], [Block(1, 9)]]), job={"job": "j", "own_pes": own})
    with pytest.raises(errors.TraceFileError, match="not whole"):
        trace.read(path)


def test_random_calls_of_several_processes(tmp_path: Path) -> None:
    """Split by PE or not, the same calls give the same numbers."""
    r = np.random.default_rng()
    pes, blocks = 3, 2

    def calls_of(pe: int) -> list[Block]:
        made = []
        for _ in range(blocks):
            starts = np.sort(r.choice(np.arange(1, 80), int(r.integers(0, 12)), replace=False)) * 100
            calls = [
                Call("put", int(s), int(s) + 50, peer=int(r.integers(0, pes)), bytes=int(r.integers(1, 99)))
                for s in starts
            ]
            made.append(Block(1, 9000, calls))
        return made

    whole = [calls_of(pe) for pe in range(pes)]
    expected = trace.read(written(tmp_path / "whole", Program(whole))).machines[0]
    paths = []
    for begin, end in ((0, 1), (1, 3)):
        parts = [b if begin <= pe < end else [NOBODY] * blocks for pe, b in enumerate(whole)]
        paths.append(written(tmp_path / str(begin), Program(parts), job={"job": "j", "own_pes": [begin, end]}))
    got = trace.read(paths).machines[0]
    assert got.matrix.bytes.tolist() == expected.matrix.bytes.tolist()
    assert got.programs[0].spans.start.tolist() == expected.programs[0].spans.start.tolist()
    assert got.programs[0].spans.block.tolist() == expected.programs[0].spans.block.tolist()
