"""Flows, matrix, overlap and time per role, on traces whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from starling import trace
from trace_files import Block, Call, Program, activity, written


def machine_of(tmp_path, *programs, activities=b""):
    return trace.read(written(tmp_path / "t", *programs, activities=activities)).machines[0]


def pairs(machine):
    """Flows as ((PE, start) of the put, (PE, end) of the wait)."""
    spans = machine.programs[0].spans
    source, target = machine.flows[0]
    return [
        ((int(spans.pe[a]), int(spans.start[a])), (int(spans.pe[b]), int(spans.end[b])))
        for a, b in zip(source, target, strict=True)
    ]


def test_flows_of_signals(tmp_path):
    """Each wait belongs to the put with the smallest value that satisfies it, on its own signal."""
    puts = [Call("put_signal", 10 * v, 10 * v + 5, peer=1, bytes=4, signal=64, value=v) for v in (1, 2, 4)]
    other = Call("signal", 41, 42, peer=1, bytes=8, signal=72, value=3)
    waits = [
        Call("wait", 5, 18, peer=0, bytes=1, signal=64, value=1),
        Call("wait", 20, 50, peer=0, bytes=1, signal=64, value=3),
        Call("wait", 51, 52, peer=0, bytes=1, signal=72, value=3),
        Call("wait", 53, 0, peer=0, bytes=1, signal=64, value=9),
        Call("wait", 54, 55, peer=0, bytes=1, signal=80, value=1),
    ]
    m = machine_of(tmp_path, Program([[Block(1, 90, [*puts, other])], [Block(1, 0, waits)]]))
    assert pairs(m) == [((0, 10), (1, 18)), ((0, 40), (1, 50)), ((0, 41), (1, 52))]


def test_flows_of_sums(tmp_path):
    """Where a signal is added to, the last put before the wait's end."""
    adds = [Call("put_signal", t, t + 2, peer=0, bytes=4, signal=0, value=1, adds=True) for t in (10, 20, 70)]
    wait = Call("wait", 5, 30, bytes=1, signal=0, value=2)
    m = machine_of(tmp_path, Program([[Block(1, 90, [wait])], [Block(1, 90, adds)]]))
    assert pairs(m) == [((1, 20), (0, 30))]


def test_flows_of_waits_for_several(tmp_path):
    """The last of the signals ended the wait."""
    puts = [Call("signal", 10 + 7 * i, 11 + 7 * i, peer=1, bytes=8, signal=8 * i, value=5) for i in range(3)]
    wait = Call("wait", 1, 40, bytes=3, signal=0, value=5)
    m = machine_of(tmp_path, Program([[Block(1, 90, puts)], [Block(1, 90, [wait])]]))
    assert pairs(m) == [((0, 24), (1, 40))]


def test_flows_of_packets(tmp_path):
    """By number and place: the same packets carry many messages, and neighbours' packets lie side by side."""
    puts = [
        Call("put_packets", 10, 12, peer=1, bytes=8 * 4, signal=8, value=1),
        Call("put_packets", 13, 14, peer=1, bytes=8 * 4, signal=8 + 64, value=1),
        Call("put_packets", 30, 31, peer=1, bytes=8 * 4, signal=8, value=2),
    ]
    takes = [
        Call("take_packet", 5, 15, peer=0, bytes=1, signal=8 + 48, value=1),
        Call("take_packet", 16, 17, peer=0, bytes=1, signal=8 + 64, value=1),
        Call("take_packet", 18, 35, peer=0, bytes=1, signal=8 + 16, value=2),
        Call("take_packet", 36, 37, peer=0, bytes=1, signal=8 + 128, value=1),
        Call("take_packet", 38, 39, peer=0, bytes=1, signal=8, value=7),
    ]
    m = machine_of(tmp_path, Program([[Block(1, 90, puts)], [Block(1, 90, takes)]]))
    assert pairs(m) == [((0, 10), (1, 15)), ((0, 13), (1, 17)), ((0, 30), (1, 35))]


def test_a_put_after_the_wait_is_not_its_cause(tmp_path):
    """The right one was dropped."""
    put = Call("signal", 60, 61, peer=1, bytes=8, signal=0, value=8)
    wait = Call("wait", 1, 40, bytes=1, signal=0, value=5)
    m = machine_of(tmp_path, Program([[Block(1, 90, [put])], [Block(1, 90, [wait])]]))
    assert pairs(m) == []


def test_the_matrix_is_exact(tmp_path):
    random = np.random.default_rng()
    pes = 3
    size, count = np.zeros((pes, pes), dtype=int), np.zeros((pes, pes), dtype=int)
    blocks: list[list[Block]] = [[Block(1, 9000) for _ in range(2)] for _ in range(pes)]
    for _ in range(300):
        pe, block, peer, n = (int(random.integers(k)) for k in (pes, 2, pes, 10**6))
        op = str(random.choice(["put", "put_signal", "put_packets", "signal", "atomic", "get", "fence", "wait"]))
        calls = blocks[pe][block].calls
        calls.append(Call(op, 10 + 20 * len(calls), 20 + 20 * len(calls), peer if op != "fence" else -1, n))
        if op == "wait":
            calls[-1].bytes = 1
        elif op != "fence":
            way = (peer, pe) if op == "get" else (pe, peer)
            size[way] += n
            count[way] += 1
    copies = activity(3, 5, 6, 1000, 0, 2) + activity(3, 7, 8, 500, -1, 1) + activity(4, 7, 8, 70, -1, 1)
    m = machine_of(tmp_path, Program(blocks, capacity=1024), activities=copies)
    assert m.matrix.bytes.tolist() == size.tolist()
    assert m.matrix.messages.tolist() == count.tolist()
    assert m.matrix.host_bytes.tolist() == [[0, 0, 1000], [0, 0, 0], [0, 0, 0]]
    assert m.matrix.host_messages.sum() == 1


def overlap_of(tmp_path, receiver, gap_block=None):
    """A message is in flight to PE 1 from 100 to 200."""
    put = Call("put_signal", 100, 110, peer=1, bytes=4, signal=0, value=1)
    blocks = [[Block(1, 1000, [put])], [Block(1, 1000, receiver)]]
    if gap_block is not None:
        blocks[0].append(Block(1, 1000, [Call("sync_pe", 1, 1000)]))
        blocks[1].append(gap_block)
    return machine_of(tmp_path, Program(blocks)).overlap


def test_nothing_is_hidden(tmp_path):
    overlap = overlap_of(tmp_path, [Call("wait", 50, 200, peer=0, bytes=1, signal=0, value=1)])
    assert (overlap[1].flight, overlap[1].hidden) == (100, 0)
    assert overlap[1].ratio == 0
    assert overlap[0].ratio is None


def test_all_is_hidden(tmp_path):
    overlap = overlap_of(tmp_path, [Call("wait", 199, 200, peer=0, bytes=1, signal=0, value=1)])
    assert overlap[1].ratio == pytest.approx(0.99)


def test_another_block_hides_it(tmp_path):
    """It computes from 130 to 170."""
    helper = Block(1, 1000, [Call("sync_pe", 1, 130), Call("sync_pe", 170, 1000)])
    overlap = overlap_of(tmp_path, [Call("wait", 50, 200, peer=0, bytes=1, signal=0, value=1)], helper)
    assert (overlap[1].flight, overlap[1].hidden) == (100, 40)


def test_flights_are_counted_once(tmp_path):
    """Two messages that are in flight together, and a get."""
    puts = [Call("put_signal", t, t + 5, peer=1, bytes=4, signal=s, value=1) for t, s in ((100, 0), (150, 8))]
    waits = [
        Call("wait", 50, 200, peer=0, bytes=1, signal=0, value=1),
        Call("wait", 201, 300, peer=0, bytes=1, signal=8, value=1),
        Call("get", 400, 450, peer=0, bytes=4),
        Call("get", 500, 550, peer=1, bytes=4),
    ]
    m = machine_of(tmp_path, Program([[Block(1, 1000, puts)], [Block(1, 1000, waits)]]))
    assert m.overlap[1].flight == 200 + 50
    assert m.overlap[1].hidden == 1


def test_time_per_role(tmp_path):
    faces = [Call("put", 100, 300, peer=0), Call("wait", 150, 250, bytes=1), Call("quiet", 300, 320)]
    inside = [Call("all_reduce", 400, 900)]
    blocks = [Block(0 + 1, 1001, faces), Block(1, 1001, inside), Block(1, 1001, inside)]
    m = machine_of(tmp_path, Program([blocks], roles=[("boundary", 0), ("interior", 1)]))
    assert m.roles == {
        "boundary": {"compute": 1000 - 220, "put": 120, "wait": 100, "sync": 0},
        "interior": {"compute": 2 * 500, "put": 0, "wait": 0, "sync": 2 * 500},
    }


def test_unions():
    from starling.trace import _intervals as intervals

    random = np.random.default_rng()
    for _ in range(50):
        a, b = (np.zeros(200, dtype=bool) for _ in range(2))
        sets = []
        for mask in (a, b):
            start = random.integers(0, 190, int(random.integers(0, 12)))
            end = start + random.integers(0, 10, len(start))
            for s, e in zip(start, end, strict=True):
                mask[s:e] = True
            sets.append(intervals.union(start, end))
        assert intervals.total(*sets[0]) == a.sum()
        assert intervals.overlap(*sets) == (a & b).sum()
