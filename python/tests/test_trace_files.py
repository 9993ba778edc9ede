"""From a run to the timeline, the pictures and the page: `starling trace`, `starling plot`, and starling.trace."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import starling
from starling import errors, trace
from starling.cli import app
from starling.trace import _pictures, _view
from trace_files import Block, Call, Program, written

SIDE, STEPS, DEVICES = 64, 20, 3


def traced(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "starling", "trace", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "160", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def timeline(tmp_path_factory, pes_per_gpu):
    """A stencil, traced by the command."""
    folder = tmp_path_factory.mktemp("trace")
    np.save(folder / "u.npy", np.random.default_rng().random((SIDE, SIDE), dtype="f4"))
    kind = os.environ.get("STARLING_TEST_MACHINE", "host")
    command = [sys.executable, "-m", "starling", "stencil", folder / "u.npy", "--steps", STEPS, "--machine", kind]
    command += ["--variant", "cpu_free"]  # whose roles and messages the tests know
    devices = ["--devices", DEVICES, "--pes-per-gpu", pes_per_gpu(DEVICES)]
    result = traced(folder / "out.json", "--", *command, *devices)
    assert result.returncode == 0, result.stderr
    return folder / "out.json", result


def events(path, phase):
    return [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == phase]


def test_the_command_says_what_it_saw(timeline):
    path, result = timeline
    assert "us per step" in result.stdout  # the command's own
    for text in (f"{DEVICES} ", "records", "0 dropped", "PE 2", "boundary", "interior", f"wrote {path}"):
        assert text in result.stderr.replace("\n", ""), result.stderr


def messages(kind, steps):
    """How often a program of so many steps sends a row: as packets once more than with signals, before the first."""
    return steps + 1 if kind == "cuda" else steps


def test_the_matrix_is_what_the_stencil_sent(timeline, kind):
    """Each PE sends its edge rows to its neighbours in each step."""
    m = json.loads(timeline[0].read_text())["starling"]["machines"][0]
    row = SIDE * 4
    size = [[messages(kind, STEPS) * row if abs(a - b) == 1 else 0 for b in range(DEVICES)] for a in range(DEVICES)]
    assert m["bytes"] == size
    assert m["dropped"] == 0
    assert m["unfinished"] == 0
    assert set(m["roles"]) == {"boundary", "interior"}


def test_one_track_per_block(timeline):
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events(timeline[0], "M") if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events(timeline[0], "M") if e["name"] == "process_name"}
    assert [n for n in processes.values() if n.startswith("PE ")] == [
        n for n in sorted(processes.values()) if n.startswith("PE ")
    ]
    assert sum(n.startswith("PE ") for n in processes.values()) == DEVICES
    assert any("host" in n for n in processes.values())
    drawn = {(e["pid"], e["tid"]) for e in events(timeline[0], "X")}
    assert drawn <= set(names)
    assert {re.sub(r"\d+", "#", n) for n in names.values()} >= {"block # (boundary)", "block # (interior)", "calls"}


def test_entries_of_a_track_nest(timeline):
    tracks = defaultdict(list)
    for e in events(timeline[0], "X"):
        assert e["dur"] >= 0
        if e["cat"] != "host":
            assert e["cname"]
            tracks[e["pid"], e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
    assert len(tracks) >= 2 * DEVICES
    for entries in tracks.values():
        open_ends: list[int] = []
        for start, end in sorted(entries, key=lambda e: (e[0], -e[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


def test_flows_go_from_puts_to_waits(timeline, kind):
    path, _ = timeline
    spans = [e for e in events(path, "X") if e["cat"] in ("put", "wait")]
    machine = json.loads(path.read_text())["starling"]["machines"][0]
    tolerance = machine["alignment_error_ns"] / 1e3 + 1e-3
    starts = {e["id"]: e for e in events(path, "s")}
    ends = {e["id"]: e for e in events(path, "f")}
    assert starts.keys() == ends.keys()
    # Every edge row of every step, but for the last of all, which nobody waits for.
    assert len(starts) >= 2 * (DEVICES - 1) * (messages(kind, STEPS) - 1)
    for number, begin in starts.items():
        end = ends[number]
        assert begin["ts"] <= end["ts"] + tolerance
        assert begin["pid"] != end["pid"]  # a stencil's neighbours are other PEs
        for e, cat in ((begin, "put"), (end, "wait")):
            assert any(
                s["cat"] == cat
                and (s["pid"], s["tid"]) == (e["pid"], e["tid"])
                and s["ts"] - 1e-3 <= e["ts"] <= s["ts"] + s["dur"] + 1e-3
                for s in spans
            )


def test_plot(timeline, tmp_path):
    result = CliRunner().invoke(app, ["plot", str(timeline[0]), "--out", str(tmp_path / "made")])
    assert result.exit_code == 0, result.output
    for name in ("timeline.png", "matrix.png", "trace.html"):
        assert f"wrote {tmp_path / 'made' / name}" in result.output.replace("\n", "")
    with Image.open(tmp_path / "made/timeline.png") as a, Image.open(tmp_path / "made/matrix.png") as b:
        assert min(a.size + b.size) > 200
        assert len(a.convert("RGB").getcolors(10**6)) > 4
    page = (tmp_path / "made/trace.html").read_text()
    assert not re.search(r"https?://|//cdn|src=|@import|url\(", page)
    data = json.loads(re.search(r"const D = (\{.*\});", page).group(1))
    assert len(data["start"]) == len(data["track"]) == len(data["args"]) > 100
    assert data["summary"]["machines"][0]["bytes"]
    assert len(data["arrows"]) > 0


def test_a_name_cannot_leave_the_page(tmp_path):
    program = Program([[Block(1, 9, [Call("put", 2, 3, 0, 8)])]], roles=[("</script><b>", 0)])
    trace.write_timeline(trace.read(written(tmp_path / "t", program)), tmp_path / "out.json")
    trace.plot(tmp_path / "out.json")
    assert "</script><b>" not in (tmp_path / "trace.html").read_text()
    # The empty trace of a machine that did nothing can be drawn as well.
    trace.write_timeline(trace.read(written(tmp_path / "e")), tmp_path / "empty.json")
    assert len(trace.plot(tmp_path / "empty.json", tmp_path)) == 3


def test_the_timeline_shows_the_newest(tmp_path):
    calls = [Call("signal", 10 * i, 10 * i + 5, 0, 8) for i in range(1, 33)]
    t = trace.read(written(tmp_path / "t", Program([[Block(1, 400, calls)]])))
    summary = trace.write_timeline(t, tmp_path / "out.json", most_events=20)
    shown = [e for e in events(tmp_path / "out.json", "X") if "signal" in e["name"]]
    assert 5 < len(shown) < 20
    assert max(e["ts"] for e in shown) == pytest.approx(0.32)
    assert summary["left_out_of_timeline"] == 65 - 20
    assert summary["machines"][0]["messages"] == [[32]]  # the numbers count all


@pytest.mark.parametrize("code", [0, 3, 77])
def test_the_exit_code_is_the_command_s(tmp_path, code):
    program = f"import starling, sys; m = starling.machine.host(2); del m; sys.exit({code})"
    result = traced(tmp_path / "out.json", "--", sys.executable, "-c", program)
    assert result.returncode == code, result.stderr
    assert (tmp_path / "out.json").exists()


def test_a_command_that_is_killed(tmp_path):
    program = (
        "import os, signal, numpy as np, starling\n"
        "m = starling.machine.host(2)\n"
        "starling.stencil.jacobi(np.ones((9, 9)), 3, machine=m)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    result = traced(tmp_path / "out.json", "--", sys.executable, "-c", program)
    assert result.returncode == 128 + signal.SIGKILL
    # What it did before is there.
    assert json.loads((tmp_path / "out.json").read_text())["starling"]["machines"][0]["runs"] == 1


def test_a_failure_ends_the_context(tmp_path):
    """The trace is written: then it is needed most."""
    recording = trace.Recording()

    def fail():
        nonlocal recording
        with trace.record(tmp_path / "out.json") as recording:
            starling.stencil.jacobi(np.ones((64, 64)), 5, machine="host", devices=2)
            raise errors.StallError("as if")

    with pytest.raises(errors.StallError):
        fail()
    assert recording.trace.machines[0].programs
    assert (tmp_path / "out.json").exists()


def test_several_machines(tmp_path):
    program = (
        "import numpy as np, starling\n"
        "for n in (2, 3): starling.stencil.jacobi(np.ones((30, 30)), 4, machine='host', devices=n)"
    )
    result = traced(tmp_path / "out.json", "--", sys.executable, "-c", program)
    assert result.returncode == 0, result.stderr
    content = json.loads((tmp_path / "out.json").read_text())
    assert [len(m["devices"]) for m in content["starling"]["machines"]] == [2, 3]
    assert len({e["pid"] for e in content["traceEvents"] if e["name"] == "process_name"}) == 2 + 3 + 2
    assert len(trace.plot(tmp_path / "out.json")) == 3


def test_full_rings_are_told(tmp_path):
    program = "import numpy as np, starling; starling.stencil.jacobi(np.ones((40, 40)), 300, machine='host', devices=2)"
    result = traced(tmp_path / "out.json", "--records", 64, "--", sys.executable, "-c", program)
    assert result.returncode == 0, result.stderr
    m = json.loads((tmp_path / "out.json").read_text())["starling"]["machines"][0]
    assert m["dropped"] > 0
    assert f"{m['dropped']:,} dropped" in result.stderr
    notes = events(tmp_path / "out.json", "i")
    assert sum(int(e["name"].split()[0]) for e in notes) == m["dropped"]
    trace.plot(tmp_path / "out.json")


WRONG = {
    "no command": (["out.json"], 2, "Missing argument"),
    "another suffix": (["out.txt", "--", "true"], 2, ".json"),
    "a missing folder": (["nowhere/out.json", "--", "true"], 2, "mkdir -p"),
    "no such command": (["out.json", "--", "no_such_command_here"], 2, "cannot be run"),
    "no machine in it": (["out.json", "--", "true"], 2, "made no machine"),
    "it failed before a machine": (["out.json", "--", "false"], 1, "before it made a machine"),
    "records": (["out.json", "--records", "5", "--", "true"], 2, "records = 5; must be at least 32"),
    "events": (["out.json", "--events", "0", "--", "true"], 2, "events = 0"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_of_trace(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    arguments, code, said = WRONG[case]
    result = traced(*arguments)
    assert result.returncode == code, result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


NO_TIMELINES = {
    "nothing": None,
    "empty": b"",
    "no JSON": b"hello",
    "a list": b"[]",
    "another's": b'{"traceEvents": []}',
    "damaged": b'{"starling": {"machines": []}, "traceEvents": [{"ph": "X"}]}',
}


@pytest.mark.parametrize("case", NO_TIMELINES)
def test_wrong_use_of_plot(tmp_path, case):
    path = tmp_path / "out.json"
    if NO_TIMELINES[case] is not None:
        path.write_bytes(NO_TIMELINES[case])
    result = CliRunner().invoke(app, ["plot", str(path)])
    assert result.exit_code == 2
    assert str(path) in result.output.replace("\n", "")
    assert {p.name for p in tmp_path.iterdir()} <= {"out.json"}


def test_plot_a_part(timeline, tmp_path):
    calls = [e for e in events(timeline[0], "X") if e["cat"] != "host"]
    shown = ["--window", str(calls[3]["ts"]), str(calls[3]["ts"] + 50)]
    result = CliRunner().invoke(app, ["plot", str(timeline[0]), "--out", str(tmp_path), *shown])
    assert result.exit_code == 0, result.output


def axis_of(view, first, last, tmp_path, monkeypatch):
    """The limits of the axis of time, its label, and where what is drawn lies."""
    kept = []
    monkeypatch.setattr(_pictures, "_save", lambda figure, path: kept.append(figure))
    _pictures.timeline(view, tmp_path / "timeline.png", first, last)
    (axes,) = kept[0].axes
    drawn = [x for c in axes.collections for path in c.get_paths() for x in path.vertices[:, 0]]
    return axes.get_xlim(), axes.get_xlabel(), min(drawn), max(drawn)


def test_a_window_is_in_the_times_of_the_axis(timeline, tmp_path, monkeypatch):
    view = _view.load(timeline[0])
    first, last = _pictures.whole_window(view)
    (begin, end), label, *_ = axis_of(view, first, last, tmp_path, monkeypatch)
    assert label == "microseconds from the begin of the trace"
    # What is read off the picture of all, given as a window, is the same axis.
    part = (begin + (end - begin) / 4, begin + (end - begin) / 2)
    ns = _pictures.part_window(view, part)
    limits, _, low, high = axis_of(view, *ns, tmp_path, monkeypatch)
    assert limits == pytest.approx(part, abs=1e-3)
    assert low <= part[1]
    assert high >= part[0]
    shown = (view.start <= ns[1]) & (view.start + view.duration >= ns[0])
    assert low >= view.start[shown].min() / 1e3


def test_windows_in_which_nothing_is(timeline, tmp_path):
    view = _view.load(timeline[0])
    there = f"{view.start.min() / 1e3:.3f} to {(view.start + view.duration).max() / 1e3:.3f}"
    behind = (view.start + view.duration).max() / 1e3 + 10
    for empty in ([5, 5], [7, 2], [behind, behind + 5]):
        with pytest.raises(errors.ArgumentError, match="window") as caught:
            trace.plot(timeline[0], tmp_path / "new", window=empty)
        assert there in str(caught.value)
        words = ["plot", str(timeline[0]), "--out", str(tmp_path / "new"), "--window", *map(str, empty)]
        result = CliRunner().invoke(app, words)
        assert (result.exit_code, there in result.stderr) == (2, True)
    for wrong in ([-1, 4], [float("nan"), 3], [1, 2, 3], [1], []):
        with pytest.raises(errors.ArgumentError, match="window"):
            trace.plot(timeline[0], tmp_path / "new", window=wrong)
    for wrong in ("12", 5, ["a", "b"]):
        with pytest.raises(errors.ElementTypeError, match="window"):
            trace.plot(timeline[0], tmp_path / "new", window=wrong)
    assert list(tmp_path.iterdir()) == []


def test_plot_into_a_file(tmp_path, timeline):
    (tmp_path / "file").write_text("x")
    for out in ("file", "nowhere/deeper"):
        with pytest.raises(errors.ArgumentError, match=out.split("/")[0]):
            trace.plot(timeline[0], tmp_path / out)


def test_record_machines_made_before(tmp_path, devices, kind):
    m = devices(2)
    solver = starling.stencil.Stencil((40, 30), machine=m)
    solver.load(np.ones((40, 30), "f4"))
    for again in ("a", "b"):
        with trace.record(tmp_path / f"{again}.json", machines=m, records=256) as recording:
            solver.advance(7, variant="cpu_free")
        assert m.trace_path == ""
        sent = messages(kind, 7) * 30 * 4
        assert recording.trace.machines[0].matrix.bytes.tolist() == [[0, sent], [sent, 0]]
        assert recording.summary["machines"][0]["runs"] == 1
    with trace.record(tmp_path / "c.json", machines=[m]), pytest.raises(errors.ArgumentError, match="traced to"):
        m.trace_to(str(tmp_path / "raw"))
    assert "STARLING_TRACE" not in os.environ


def test_record_refuses(tmp_path):
    for path, options in (
        ("out.txt", {}),
        ("no/out.json", {}),
        ("out.json", {"records": 3}),
        ("a.json", {"most_events": 0}),
    ):
        with pytest.raises(errors.ArgumentError), trace.record(tmp_path / path, **options):
            pytest.fail("the context was entered")
    assert list(tmp_path.iterdir()) == []


def test_raw_files(tmp_path, devices):
    m = devices(2)
    m.trace_to(tmp_path / "raw", records=np.int64(64))
    assert m.trace_path == str(tmp_path / "raw")
    starling.stencil.jacobi(np.ones((20, 20)), 3, machine=m)
    m.end_trace()
    t = trace.read(tmp_path / "raw")
    assert len(t.machines[0].programs) == 1
    with pytest.raises(errors.ArgumentError, match="never overwrites"):
        m.trace_to(str(tmp_path / "raw"))
