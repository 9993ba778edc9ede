"""Nothing of the native module is left when Python ends; nanobind says so on stderr where something is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import starling

HERE = str(Path(starling.__file__).parents[1])

# Everything is held until the end by the module's names, errors with their tracebacks too.
WIDELY = """
import logging
import sys
from pathlib import Path

import numpy as np

import starling
from starling import communication, errors, faults, linalg, machine, stencil, stf, trace
from starling.cli import app
from typer.testing import CliRunner

folder = Path(sys.argv[1])
kept = []

def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except errors.Error as problem:
        kept.append(problem)
    else:
        raise AssertionError("was not refused")

kind = sys.argv[2]
m = machine.named(kind, 2 if kind == "host" else 1)
u = np.random.default_rng(1).random((20, 18), dtype="f4")
_, report = stencil.jacobi(u, 9, machine=m, report=True, progress=lambda at: kept.append((at, m)))
s = stencil.Stencil(u.shape, machine=m)
s.load(u)
march = s.march(40, stop_every=10)
kept.append(next(march))
s.itself = s  # a ring that goes through the solver
refused(stencil.jacobi, u, 0)
refused(s.store, np.zeros(3, "f4"))
kept += [stencil.choose((30, 30), machine=m), m._repr_html_(), m.devices, m.memory, machine.host(1, faults=[])]

a = linalg.DistributedMatrix(linalg.matrices.grid_2d(8, 8), machine=m)
a.itself = a
kept.append(a.solve(np.eye(64)[:, :3], report=True, callback=lambda x: kept.append(x), progress=lambda at: a))
refused(linalg.cg, np.eye(4) * np.nan, np.ones(4), machine=m)
kept.append(linalg.spmv(a, np.ones(64)))

def of_callback(at):
    refused(a.solve, np.ones(64))
    raise ZeroDivisionError

try:
    a.solve(np.ones(64), progress=of_callback)
except ZeroDivisionError as problem:
    kept.append(problem)

broken = machine.host(2, faults=[faults.kill_block(pe=1, nth=9)])
refused(stencil.jacobi, u, 50, machine=broken)
kept += [broken.faults_fired(), broken]

ctx = stf.context(m)
x = ctx.logical_data(np.zeros(6), name="x")
ctx.host_launch(lambda v: kept.append((ctx, v)), x.rw())  # rings: through what NumPy's arrays hold, ...
def fails(v):
    kept.append((v, fails))
    raise ZeroDivisionError
ctx.host_launch(fails, ctx.logical_data(np.zeros(2)).rw())  # ... tracebacks ...
try:
    ctx.synchronize()
except ZeroDivisionError as problem:
    kept.append(problem)
recording = ctx.record(lambda: ctx.host_launch(lambda v: kept.append((v, recording)), x.rw()))  # ... and recordings
recording.launch(2)
with ctx.task(x.rw()) as t:
    kept.append(t.views())
ctx.itself = ctx
ctx.finalize()
kept.append(stf.resources(m))
kept.append(stf.context(resources=kept[-1]))
def give(nbytes, device, stream):
    return np.empty(nbytes + 255, "u1") if kept else None
given = stf.context(machine.host(2), device_allocator=give, backend="graph")
given.prefetch(given.logical_data(np.ones(3)), stf.data_place.device(1))
left_open = stf.context(2)
y = left_open.logical_data(np.zeros(3))
left_open.host_launch(lambda v: left_open, y.rw())
kept += [ctx.statistics(), stf.exec_place.device(0), stf.data_place.host()]

with trace.record(folder / "out.json", machines=m) as recording:
    stencil.jacobi(u, 4, machine=m)
kept += trace.plot(folder / "out.json")
kept.append(communication.measure(machine=m, sizes=[8], repetitions=1, seconds=1e-4, told=kept.append))
kept.append(starling.check(lambda m: kept.append(m), devices=2, seeds=2))
refused(starling.check, None)
kept.append(starling.doctor())
for words in (["doctor"], ["stencil", "nowhere.npy"], ["tune", "--seconds", "0"]):
    kept.append(CliRunner().invoke(app, words))
closed = machine.host(1)
closed.close()
refused(lambda: closed.size)
annotated = starling.Machine | str | None  # typing keeps such things
print("done")
"""


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path]), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nothing_is_left_when_python_ends(tmp_path, kind, pes_per_gpu):
    done = run(WIDELY, str(tmp_path), kind, STARLING_PES_PER_GPU=str(pes_per_gpu(2)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_what_is_left_would_be_told():
    """So that the silence of the test before means something."""
    leak = "import ctypes, starling; ctypes.pythonapi.Py_IncRef(ctypes.py_object(starling.Machine.host(1)))"
    assert "nanobind: leaked 1 instances" in run(leak).stderr
