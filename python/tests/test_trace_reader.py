"""The reader of raw traces: times, nesting, gaps; and files that are not whole."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

from starling import errors, trace
from starling.trace._format import OPERATIONS
from trace_files import Block, Call, Program, activity, written


def test_times_and_gaps(tmp_path):
    shift = int(np.random.default_rng().integers(1, 10**12))
    calls = [
        Call("put_packets", shift + 100, shift + 400, peer=1, bytes=64, signal=8, value=3),
        Call("take_packet", shift + 150, shift + 250, peer=1, bytes=1, signal=8, value=2),
        Call("take_packet", shift + 260, shift + 300, peer=1, bytes=1, signal=24, value=2),
        Call("sync_pe", shift + 500, shift + 800),
    ]
    program = Program(
        [[Block(shift, shift + 1000, calls)], [Block(shift + 10, shift + 20)]], start=shift - 5, end=shift + 1100
    )
    p = trace.read(written(tmp_path / "t", program)).machines[0].programs[0]
    assert (p.spans.start - shift).tolist() == [100, 150, 260, 500]
    assert (p.spans.end - shift).tolist() == [400, 250, 300, 800]
    assert p.spans.parent.tolist() == [-1, 0, 0, -1]
    assert p.spans.own.tolist() == [300 - 100 - 40, 100, 40, 300]
    assert (p.gaps.start - shift).tolist() == [0, 400, 800, 10]
    assert (p.gaps.end - shift).tolist() == [100, 500, 1000, 20]
    assert p.gaps.pe.tolist() == [0, 0, 0, 1]
    assert [OPERATIONS[op] for op in p.spans.op] == ["put_packets", "take_packet", "take_packet", "sync_pe"]


def test_calls_in_calls_in_calls(tmp_path):
    calls = [Call("put", 10, 90), Call("put", 20, 60), Call("get", 30, 40), Call("get", 45, 50), Call("get", 70, 80)]
    p = trace.read(written(tmp_path / "t", Program([[Block(1, 100, calls)]]))).machines[0].programs[0]
    assert p.spans.parent.tolist() == [-1, 0, 1, 1, 0]
    assert p.spans.own.tolist() == [80 - 40 - 10, 40 - 10 - 5, 10, 5, 10]


def test_open_calls_and_blocks_that_were_ended(tmp_path):
    calls = [Call("signal", 10, 20, peer=0), Call("wait", 30, 0, peer=1, bytes=1)]
    p = trace.read(written(tmp_path / "t", Program([[Block(5, 0, calls)]], end=500))).machines[0].programs[0]
    assert p.spans.returned.tolist() == [True, False]
    assert p.spans.end.tolist() == [20, 500]
    assert not p.returned[0, 0]
    assert p.last[0, 0] == 500


def test_dropped_records(tmp_path):
    calls = [Call("signal", 1000 + i, 1001 + i, peer=0) for i in range(0, 64, 2)]
    block = Block(5, 2000, calls, written=40)
    p = trace.read(written(tmp_path / "t", Program([[block]], capacity=32))).machines[0].programs[0]
    assert p.dropped.tolist() == [[8]]
    # What came before the records that were kept is not known, so no computation is claimed there.
    assert p.first[0, 0] == 1000
    assert p.gaps.start.min() == 1001


def test_clocks_of_gpus(tmp_path):
    """Ticks at two rates, PEs whose timers differ, and a timer that is not the host's."""
    far = 1_700_000_000 * 10**9
    clock = ((7000, far + 0), (8000, far + 1000), (10_000, far + 2000))
    one = Block(7000, 10_000, [Call("fence", 7500, 8000), Call("fence", 9000, 10_000)], clock=clock)
    two = Block(7000, 10_000, [Call("fence", 7500, 9000)], clock=tuple((t, n + 300) for t, n in clock))
    clocks = [{"offset": 0, "error": 0, "rate": 2.0}, {"offset": 300, "error": 40, "rate": 2.0}]
    program = Program([[one], [two]], clocks=clocks, host_offset=far - 5000, start=4000, end=8000)
    machine = trace.read(written(tmp_path / "t", program)).machines[0]
    assert machine.programs[0].spans.start.tolist() == [5500, 6500, 5500]
    assert machine.programs[0].spans.end.tolist() == [6000, 7000, 6500]
    assert machine.alignment_error == 40


def test_a_clock_without_an_end(tmp_path):
    """A block that was ended has one reading of the timer; the rate is the machine's."""
    far = 10**15
    block = Block(7000, 0, [Call("fence", 7200, 7400)], clock=((7000, far), (0, 0)))
    clocks = [{"offset": 0, "error": 0, "rate": 2.0}]
    program = Program([[block]], clocks=clocks, host_offset=far - 1000, end=2000)
    p = trace.read(written(tmp_path / "t", program)).machines[0].programs[0]
    assert (p.spans.start.tolist(), p.spans.end.tolist()) == ([1100], [1200])


def whole(tmp_path):
    program = Program([[Block(1, 100, [Call("put", 10, 20, peer=0, bytes=8), Call("sync_pe", 30, 40)])]])
    return written(tmp_path / "t", program, activities=activity(1, 1, 200))


def test_every_cut_is_found(tmp_path):
    path = whole(tmp_path)
    content = path.read_bytes()
    # A cut between two parts leaves a whole, shorter file.
    ends = [16]
    while ends[-1] < len(content):
        ends.append(ends[-1] + 16 + struct.unpack_from("<Q", content, ends[-1] + 8)[0])
    assert ends[-1] == len(content)
    for cut in range(1, len(content)):
        path.write_bytes(content[:cut])
        if cut in ends[1:]:
            trace.read(path)
            continue
        with pytest.raises(errors.TraceFileError) as caught:
            trace.read(path)
        assert 0 <= caught.value.offset <= cut
        assert f"byte {caught.value.offset}" in str(caught.value)
        assert str(path) in str(caught.value)


def test_a_cut_file_in_part(tmp_path):
    path = whole(tmp_path)
    path.write_bytes(path.read_bytes()[:-8])
    t = trace.read(path, partial=True)
    assert len(t.machines[0].programs) == 1
    assert len(t.problems) == 1
    assert "ends after" in t.problems[0]


def test_bytes_that_are_wrong(tmp_path):
    """Whatever one byte becomes: a trace, or a typed error. Never anything else."""
    path = whole(tmp_path)
    content = bytearray(path.read_bytes())
    random = np.random.default_rng()
    for _ in range(400):
        at, value = int(random.integers(len(content))), int(random.integers(256))
        changed = bytearray(content)
        changed[at] = value
        path.write_bytes(changed)
        try:
            trace.read(path)
        except errors.TraceFileError:
            pass
        except Exception as problem:
            pytest.fail(f"byte {at} = {value}: {type(problem).__name__}: {problem}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello, world", "not a trace file"),
        (b"starling" + struct.pack("<II", 9, 48), "version 9"),
        (b"starling" + struct.pack("<II", 1, 40), "records of 40 bytes"),
    ],
)
def test_other_files(tmp_path, content, said):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(errors.ArgumentError, match=said):
        trace.read(tmp_path / "t")


def test_no_file(tmp_path):
    with pytest.raises(errors.ArgumentError, match="no such file"):
        trace.read(tmp_path / "nowhere")
    with pytest.raises(errors.ArgumentError, match="empty"):
        trace.read([])


def test_the_error_can_be_pickled():
    again = pickle.loads(pickle.dumps(errors.TraceFileError("at byte 7", 7)))
    assert (str(again), again.offset) == ("at byte 7", 7)


def test_bytes_that_are_wrong_do_not_harm_what_follows(tmp_path):
    """What is read can be measured and written."""
    path = whole(tmp_path)
    content = bytearray(path.read_bytes())
    random = np.random.default_rng()
    for _ in range(100):
        at = int(random.integers(len(content)))
        changed = bytearray(content)
        changed[at] ^= 1 << int(random.integers(8))
        path.write_bytes(changed)
        try:
            t = trace.read(path)
        except errors.TraceFileError:
            continue
        trace.write_timeline(t, tmp_path / "out.json")
