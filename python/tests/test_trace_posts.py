"""What a trace shows of network cards: entries and their completions, in files made by hand and in runs."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from starling import faults, machine, stencil, trace
from starling.errors import NetworkError, TraceFileError
from trace_files import Block, Call, Program, written

WRITE, FETCH_ADD = 0x08, 0x12
RETRY_EXCEEDED, FLUSHED = 0x15, 0x05


def post(start, end, number, queue=3, peer=1, size=8, opcode=WRITE):
    return Call("post", start, end, peer, size, signal=queue | opcode << 24, value=number)


def seen(at, number, queue=3, peer=1, status=0):
    return Call("completion", at, at, peer, signal=queue | status << 24, value=number)


def posts_of(path, *programs):
    return trace.read(written(path, *programs)).machines[0].programs[0].posts


def events(path, phase):
    return [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == phase]


def test_a_completion_stands_for_all_before_it_in_its_queue(tmp_path):
    calls = [
        post(10, 12, 5),
        post(14, 16, 0, queue=4, peer=0, opcode=FETCH_ADD),
        post(20, 22, 6, size=64),
        post(20, 23, 7),
        seen(30, 6),
        seen(35, 0, queue=4, peer=0),
    ]
    p = posts_of(tmp_path / "t", Program([[Block(1, 90, calls)], [Block(1, 90)]]))
    assert p.number.tolist() == [5, 0, 6, 7]
    assert p.queue.tolist() == [3, 4, 3, 3]
    assert p.opcode.tolist() == [WRITE, FETCH_ADD, WRITE, WRITE]
    assert p.peer.tolist() == [1, 0, 1, 1]
    assert p.bytes.tolist() == [8, 8, 64, 8]
    assert p.posted.tolist() == [12, 16, 22, 23]
    assert p.end.tolist() == [30, 35, 30, 90]  # the last one was under way when the block ended
    assert p.status.tolist() == [0, 0, 0, -1]


def test_queues_of_blocks_are_their_own(tmp_path):
    """The same queue's number in two blocks, as of two processes' machines, is two queues."""
    one = Block(1, 90, [post(10, 12, 0), seen(20, 0)])
    two = Block(1, 80, [post(10, 12, 0)])
    p = posts_of(tmp_path / "t", Program([[one, two], [Block(1, 90), Block(1, 90)]]))
    assert p.block.tolist() == [0, 1]
    assert p.status.tolist() == [0, -1]
    assert p.end.tolist() == [20, 80]


def test_what_failed_and_what_is_behind_it(tmp_path):
    calls = [post(10 + i, 11 + i, i) for i in range(4)]
    calls += [seen(20, 1, status=RETRY_EXCEEDED), seen(25, 2, status=FLUSHED)]
    p = posts_of(tmp_path / "t", Program([[Block(1, 0, calls)], [Block(1, 90)]], end=500))
    assert p.status.tolist() == [0, RETRY_EXCEEDED, FLUSHED, -1]
    assert p.failed.tolist() == [False, True, True, False]
    assert p.end.tolist() == [20, 20, 25, 500]


def test_calls_are_as_without_posts(tmp_path):
    put = Call("put", 10, 60, peer=1, bytes=64)
    inside = [post(20, 30, 0, size=64), seen(50, 0)]
    bare = trace.read(written(tmp_path / "a", Program([[Block(1, 90, [put])], [Block(1, 90)]])))
    full = trace.read(written(tmp_path / "b", Program([[Block(1, 90, [put, *inside])], [Block(1, 90)]])))
    assert full.machines[0].roles == bare.machines[0].roles
    assert np.array_equal(full.machines[0].matrix.bytes, bare.machines[0].matrix.bytes)
    assert len(full.machines[0].programs[0].spans) == 1
    assert full.machines[0].records == 3


def test_posts_that_were_dropped(tmp_path):
    """Completions of entries whose posts are no more in the ring stand for nothing."""
    calls = [seen(1000, 9), *(post(1001 + 2 * i, 1002 + 2 * i, 10 + i) for i in range(31))]
    p = trace.read(written(tmp_path / "t", Program([[Block(5, 2000, calls, written=99)], [Block(1, 2)]], capacity=32)))
    program = p.machines[0].programs[0]
    assert program.first[0, 0] == 1000
    assert (program.posts.status == -1).all()


def test_bytes_that_are_wrong(tmp_path):
    """Whatever one byte becomes: posts that can be written, or a typed error."""
    calls = [post(10, 12, 0), post(14, 16, 0, queue=4), seen(30, 0), post(40, 44, 1)]
    path = written(tmp_path / "t", Program([[Block(1, 90, calls)], [Block(1, 90)]]))
    content = bytearray(path.read_bytes())
    random = np.random.default_rng()
    for _ in range(200):
        changed = bytearray(content)
        changed[int(random.integers(len(content) - 300, len(content)))] = int(random.integers(256))
        path.write_bytes(changed)
        try:
            trace.write_timeline(trace.read(path), tmp_path / "out.json")
        except TraceFileError:
            continue


def test_the_timeline_has_a_span_from_each_post_to_its_completion(tmp_path):
    calls = [post(10, 12, 0), post(14, 16, 1, opcode=FETCH_ADD), seen(31, 0), post(40, 44, 2, size=5)]
    calls += [seen(50, 1, status=RETRY_EXCEEDED)]
    t = trace.read(written(tmp_path / "t", Program([[Block(1, 90, calls)], [Block(1, 90)]])))
    summary = trace.write_timeline(t, tmp_path / "out.json")
    begins, ends = events(tmp_path / "out.json", "b"), {e["id"]: e for e in events(tmp_path / "out.json", "e")}
    assert len(begins) == len(ends) == 3
    assert [e["args"]["what"] for e in begins] == ["write", "fetch_add", "write"]
    assert [e["args"]["entry"] for e in begins] == [0, 1, 2]
    assert [e["args"]["completion"] for e in begins] == ["ok", "retry count exceeded", "none"]
    assert [round(1e3 * (ends[e["id"]]["ts"] - e["ts"])) for e in begins] == [19, 34, 46]
    for e in begins:
        end = ends[e["id"]]
        assert [e[k] for k in ("cat", "name", "pid", "tid")] == [end[k] for k in ("cat", "name", "pid", "tid")]
    cards = summary["machines"][0]["cards"]
    assert cards == {"posts": 3, "completed": 1, "failed": 1, "median_us": 0.019}
    assert len(trace.plot(tmp_path / "out.json", tmp_path)) == 3


@pytest.fixture
def u():
    return np.random.default_rng().random((24, 40))


def test_posts_of_a_stencil(tmp_path, u):
    """Of four PEs on two hosts, 1 and 2 are neighbours by way of a card: all their puts are posts."""
    with trace.record(tmp_path / "out.json", machines=machine.host(4)) as direct:
        pass
    m = machine.host(4, hosts=[0, 0, 1, 1])
    with trace.record(tmp_path / "cards.json", machines=m) as recording:
        stencil.jacobi(u, 6, machine=m)
    assert direct.summary["machines"][0]["cards"]["posts"] == 0
    traced = recording.trace.machines[0]
    asked = {(1, 2): 0, (2, 1): 0}
    for p in (program.posts for program in traced.programs):
        assert (p.status == 0).all()
        assert (p.start <= p.posted).all()
        assert (p.posted <= p.end).all()
        across = (p.bytes > 8) & (abs(p.peer - p.pe) == 1)
        for pe, peer in zip(p.pe[across].tolist(), p.peer[across].tolist(), strict=True):
            asked[pe, peer] += 1
    assert asked == {(1, 2): traced.matrix.messages[1, 2], (2, 1): traced.matrix.messages[2, 1]}
    cards = recording.summary["machines"][0]["cards"]
    assert cards["posts"] == cards["completed"] == sum(len(p.posts) for p in traced.programs)


def test_a_link_that_is_lost_shows(tmp_path, u):
    m = machine.host(4, hosts=[0, 0, 1, 1], faults=[faults.lose_link(pe=1, nth=3)])
    with pytest.raises(NetworkError), trace.record(tmp_path / "out.json", machines=m) as recording:
        stencil.jacobi(u, 20, machine=m)
    cards = recording.summary["machines"][0]["cards"]
    assert cards["posts"] > cards["completed"]
    assert cards["failed"] >= 1
    posts = [program.posts for program in recording.trace.machines[0].programs]
    assert {int(pe) for p in posts for pe in p.pe[p.failed]} == {1}
    assert any(RETRY_EXCEEDED in p.status for p in posts)


def test_the_command_counts_them(tmp_path):
    program = (
        "import numpy as np, starling; from starling import machine;"
        "starling.stencil.jacobi(np.ones((16, 16)), 3, machine=machine.host(2, hosts=[0, 1]))"
    )
    command = [
        sys.executable,
        "-m",
        "starling",
        "trace",
        str(tmp_path / "out.json"),
        "--",
        sys.executable,
        "-c",
        program,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "out.json").read_text())["starling"]["machines"][0]["cards"]
    assert summary["posts"] > 0
    assert f"network cards: {summary['posts']:,} entries posted, {summary['completed']:,} completed" in done.stderr
