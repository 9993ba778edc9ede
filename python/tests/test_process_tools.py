"""What `starling doctor`, `starling bench comm` and shmem.World tell and do in a job of several processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

LIMIT = 100  # seconds that any of these may take


def starling(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command on the machine that it takes by itself."""
    left_out = ("STARLING_MACHINE", "STARLING_DEVICES")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    command = [sys.executable, "-m", "starling", *words]
    return subprocess.run(command, env=inherited, capture_output=True, text=True, timeout=LIMIT)


def launched(n: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in `n` processes, each with its number in front of its lines."""
    return starling("launch", "-n", str(n), "--", *command)


def starling_in(n: int, *words: str) -> subprocess.CompletedProcess[str]:
    return launched(n, sys.executable, "-m", "starling", *words)


def of_process_0(done: subprocess.CompletedProcess[str]) -> str:
    """What process 0 has printed; the others must have been silent."""
    lines = done.stdout.splitlines()
    assert all(line.startswith("[0]") for line in lines), done.stdout
    return "\n".join(line.removeprefix("[0] ") for line in lines)


def test_doctor_tells_of_all_processes() -> None:
    done = starling_in(3, "doctor", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(of_process_0(done))
    job = facts["job"]
    assert (job["process"], job["engine"]) == (0, "direct")
    assert [(p["process"], p["pes"]) for p in job["processes"]] == [(0, [0]), (1, [1]), (2, [2])]
    assert len({p["pid"] for p in job["processes"]}) == 3
    assert all(p["cores"] == facts["cores"] for p in job["processes"])
    pairs = [(m["source"], m["destination"]) for m in job["messages"]]
    assert pairs == [(a, b) for a in range(3) for b in range(3) if a != b]
    assert all(0 < m["least_us"] <= m["median_us"] for m in job["messages"])
    assert all(list(m["moved"]) == ["direct"] and m["moved"]["direct"] >= m["bytes"] for m in job["messages"])


def test_doctor_shows_them() -> None:
    done = starling_in(2, "doctor")
    assert done.returncode == 0, done.stderr
    shown = of_process_0(done)
    assert "Processes" in shown
    assert "messages of 8 bytes (direct): us one way" in shown
    assert len(re.findall(r"PE [01].*\d\.\d\d direct", shown)) == 2
    assert "2 virtual devices in 2 processes" in shown


def test_one_process_is_no_job() -> None:
    done = starling("doctor", "--json")
    assert json.loads(done.stdout)["job"] is None


def test_messages_between_processes_are_measured(tmp_path: Path) -> None:
    written = tmp_path / "times.json"
    options = ("--max-bytes", "64", "--repetitions", "2", "--seconds", "0.001", "--json", str(written))
    done = starling_in(2, "bench", "comm", *options)
    assert done.returncode == 0, done.stderr
    assert "device 0 to 1" in of_process_0(done)
    results = json.loads(written.read_text())["results"]
    whats = {r["what"] for r in results if r["measure"] != "call"}
    assert whats == {"packets", "stores", "bulk", "channel", "get", "scattered"}
    assert {(r["source"], r["destination"]) for r in results if r["what"] == "stores"} == {
        (0, 0), (0, 1), (1, 0), (1, 1)
    }  # fmt: skip


def test_copies_by_the_host_are_refused() -> None:
    done = starling_in(2, "bench", "comm", "--ways", "copy_engine")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "copy_engine between 2 processes" in said
    assert "machine.host(n)" in said


def test_arrays_of_a_world_across_processes(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("""
import time
import numpy as np
from starling import machine, shmem

m = machine.distributed()
w = shmem.World(m)
for k in range(5):
    time.sleep(0.02 * ((m.process + k) % 3))  # each comes late by turns
    a = w.zeros((m.size, 2), np.int64)
    for pe in range(m.size):
        w.put(a[m.process], [m.process, k], pe=pe)
    w.barrier_all()
    for pe in range(m.size):
        assert w.get(a, pe=pe).tolist() == [[p, k] for p in range(m.size)], (k, pe, w.get(a, pe=pe))
    w.barrier_all()
print("same")
""")
    done = launched(3, sys.executable, str(script))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["[0] same", "[1] same", "[2] same"]


def test_a_trace_is_one_machine(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("""
import numpy as np
from starling import stencil

stencil.jacobi(np.ones((64, 64), "f4"), 10, variant="cpu_free")
stencil.jacobi(np.ones((64, 64), "f4"), 5, variant="cpu_free")
""")
    timeline = tmp_path / "out.json"
    words = ("launch", "-n", "3", "--", sys.executable, str(script))
    done = starling("trace", str(timeline), "--", sys.executable, "-m", "starling", *words)
    assert done.returncode == 0, done.stderr
    machines = json.loads(timeline.read_text())["starling"]["machines"]
    assert [len(m["devices"]) for m in machines] == [3, 3]  # one of each call, not of each process
    for m, steps in zip(machines, (10, 5), strict=True):
        assert m["unfinished"] == 0
        assert m["messages"] == [[0, steps, 0], [steps, 0, steps], [0, steps, 0]]


def test_reports_say_what_has_moved(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("""
import json, sys
import numpy as np, scipy.sparse
from starling import graph, machine, stencil
from starling.linalg import cg, matrices

m = machine.distributed()
me, n = m.process, m.processes
others = [p for p in range(n) if p != me]
u = np.random.default_rng(1).random((60, 70), np.float32)
of_stencil = stencil.jacobi(u, 40, machine=m, variant="cpu_free", report=True)[1]
bytes = {(t.source, t.destination): t.bytes for t in of_stencil.traffic}
near = [(me, p) for p in others if abs(p - me) == 1]
# A row of cells and a signal in each step, what they begin and end with beside.
assert all(40 * (70 * 4 + 8) <= bytes[pair] < 2 * 40 * (70 * 4 + 8) for pair in near), bytes
x, info, of_cg = cg(matrices.grid_2d(20, 21), np.ones(420), machine=m, report=True)
assert info == 0
# What others need of x in each iteration, in float64.
sent = sum(t.bytes for t in of_cg.traffic if t.source == me or t.destination == me)
assert sent >= of_cg.iterations * 8 * of_cg.halo[me], (sent, of_cg.halo)
links = scipy.sparse.random(300, 300, 0.02, "csr", random_state=3)
for agent in ("inline", "polling"):
    report = graph.pagerank(links, machine=m, report=True, agent=agent)[1]
    bytes = {(t.source, t.destination): t.bytes for t in report.traffic}
    # What the region has counted by itself.
    assert all(bytes[me, p] >= report.bytes_sent[me][p] > 0 for p in others), (agent, bytes, report.bytes_sent)
    assert json.loads(json.dumps(report.as_dict()))["traffic"][0]["engine"] == "direct"
for report in (of_stencil, of_cg, report):
    assert {t.engine for t in report.traffic} == {"direct"}
    assert all({me, -1} & {t.source, t.destination} for t in report.traffic)  # -1: the host of this process
    json.dumps(report.as_dict())
one = machine.host(2)
assert stencil.jacobi(u, 5, machine=one, report=True)[1].traffic == ()
print("counted")
""")
    done = launched(3, sys.executable, str(script))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["[0] counted", "[1] counted", "[2] counted"]
