"""Programs in several processes: what `starling launch` starts, shows and ends, and what the processes compute."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import starling
from starling import errors, machine
from starling._native import native

LIMIT = 60  # seconds that any of these may take
KIND = "cuda" if os.environ.get("STARLING_TEST_MACHINE") == "cuda" else "host"  # of the devices

if KIND == "cuda" and native.probe_cuda().devices * int(os.environ.get("STARLING_PES_PER_GPU", "1")) < 4:
    pytest.skip("needs four PEs on GPUs (STARLING_PES_PER_GPU=4)", allow_module_level=True)


def launched(
    folder: Path, program: str, n: int = 3, *options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a Python program in `n` processes."""
    script = folder / "program.py"
    script.write_text(program)
    command = [sys.executable, "-m", "starling", "launch", "-n", str(n), *options, "--", sys.executable, str(script)]
    inherited = {
        name: value for name, value in os.environ.items() if name not in ("STARLING_MACHINE", "STARLING_DEVICES")
    }
    return subprocess.run(
        command,
        env={**inherited, "STARLING_DISTRIBUTED": KIND, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def processes_with(word: str) -> list[str]:
    """Commands of processes that have a word in their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text()
        except OSError:
            continue
        if word in command:
            found.append(command)
    return found


def test_every_process_has_its_devices_and_its_label(tmp_path: Path) -> None:
    program = """
from starling import machine
m = machine.distributed(2)
print(m.process, m.processes, m.size, list(m.local_pes), m.kind)
m.meet()
print("agreed", m.agree(float(m.process)))
"""
    done = launched(tmp_path, program, 2)
    assert done.returncode == 0, done.stderr
    lines = sorted(done.stdout.splitlines())
    assert [line for line in lines if "agreed" not in line] == [f"[0] 0 2 4 [0, 1] {KIND}", f"[1] 1 2 4 [2, 3] {KIND}"]
    assert [line for line in lines if "agreed" in line] == [f"[{r}] agreed 0.0" for r in range(2)]


# With "auto" one process chooses how many GPUs are worth it, too.
@pytest.mark.parametrize(
    ("n", "variant"),
    [
        (1, "auto" if KIND == "host" else "cpu_free"),
        (2, "cpu_free"),
        (4, "auto"),
        (4, "cpu_free"),
        (4, "resident"),
        (4, "temporal"),
    ],
)
def test_a_stencil_has_the_bits_of_one_process(tmp_path: Path, n: int, variant: str) -> None:
    rng = np.random.default_rng(3)
    u = rng.standard_normal((96, 64)).astype("float32")
    np.save(tmp_path / "u.npy", u)
    program = f"""
import os, numpy as np, starling
u = np.load("u.npy")
for again in range(2):
    v, r = starling.stencil.jacobi(u, 150, variant="{variant}", check_every=50, report=True)
assert r.devices == 4, r
assert starling.machine.best().processes == int(os.environ['STARLING_RANKS'])
np.save(f"v{{os.environ['STARLING_RANK']}}.npy", v)
"""
    done = launched(tmp_path, program, n, "--devices", "4")
    assert done.returncode == 0, done.stderr
    expected = starling.stencil.jacobi(u, 150, machine=machine.host(4), variant="cpu_free")
    for rank in range(n):
        assert np.load(tmp_path / f"v{rank}.npy").tobytes() == expected.tobytes()


@pytest.mark.parametrize("method", ["standard", "pipelined"])
def test_cg_has_the_bits_of_one_process(tmp_path: Path, method: str) -> None:
    program = f"""
import os, numpy as np, starling
from starling import machine
from starling.linalg import cg, matrices
b = np.random.default_rng(5).standard_normal(576)
assert machine.best().processes == int(os.environ.get("STARLING_RANKS", 1))
x, info, r = cg(matrices.grid_2d(24, 24), b, method="{method}", M="jacobi", report=True)
np.save(f"x{{os.environ.get('STARLING_RANK', 'one')}}.npy", x)
assert info == 0 and r.devices == 4, r
"""
    script = tmp_path / "program.py"
    done = launched(tmp_path, program, 4)
    assert done.returncode == 0, done.stderr
    one = {**os.environ, "STARLING_MACHINE": KIND, "STARLING_DEVICES": "4"}
    subprocess.run([sys.executable, str(script)], env=one, cwd=tmp_path, check=True, timeout=LIMIT)
    expected = np.load(tmp_path / "xone.npy").tobytes()
    for rank in range(4):
        assert np.load(tmp_path / f"x{rank}.npy").tobytes() == expected


@pytest.mark.parametrize(
    "solve",
    [
        "pagerank(edges)",
        "sssp(edges, 7)",
        "jacobi(edges + 40 * sparse.eye(300), np.ones(300), layout='csr')",
        "jacobi(sparse.diags([-1, 4, -2], [-7, 0, 1], (300, 300)), np.ones(300), layout='dia')",
    ],
)
def test_region_solvers_have_the_bits_of_one_process(tmp_path: Path, solve: str) -> None:
    program = f"""
import os, numpy as np, scipy.sparse as sparse
from starling import machine
from starling.graph import pagerank, sssp
from starling.linalg import jacobi
edges = sparse.random(300, 300, 0.03, format="csr", random_state=1)
assert machine.best().processes == int(os.environ.get("STARLING_RANKS", 1))
for again in range(3):
    values = {solve}
np.save(f"r{{os.environ.get('STARLING_RANK', 'one')}}.npy", values)
"""
    done = launched(tmp_path, program, 3)
    assert done.returncode == 0, done.stderr
    one = {**os.environ, "STARLING_MACHINE": KIND, "STARLING_DEVICES": "3"}
    subprocess.run([sys.executable, str(tmp_path / "program.py")], env=one, cwd=tmp_path, check=True, timeout=LIMIT)
    expected = np.load(tmp_path / "rone.npy").tobytes()
    assert all(np.load(tmp_path / f"r{rank}.npy").tobytes() == expected for rank in range(3))


def test_variants_that_the_host_controls_are_refused(tmp_path: Path) -> None:
    program = """
import numpy as np, starling
try:
    starling.stencil.jacobi(np.ones((16, 16)), 5, variant="overlap", machine=starling.machine.distributed())
except starling.errors.Unsupported as problem:
    print(problem)
"""
    done = launched(tmp_path, program, 2)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the variant overlap is for one process") == 2


def test_a_process_that_dies_ends_all_and_is_named(tmp_path: Path) -> None:
    program = """
import os, signal
from starling import machine
m = machine.distributed()
if m.process == 1:
    os.kill(os.getpid(), signal.SIGKILL)
m.meet()
"""
    start = time.monotonic()
    done = launched(tmp_path, program)
    assert time.monotonic() - start < 10
    assert done.returncode == 128 + signal.SIGKILL
    assert "process 1 of 3 was ended by SIGKILL" in done.stderr
    for rank in (0, 2):
        assert f"[{rank}] starling.errors.ProcessError: machine.meet: process 1 of 3" in done.stderr
    assert not processes_with(str(tmp_path))


def test_the_first_to_fail_is_named_though_another_follows_at_once(tmp_path: Path) -> None:
    program = """
import os, pathlib, sys, time
def state(pid):  # T: stopped, Z: ended and not yet waited for
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
def until(holds):
    limit = time.monotonic() + 30
    while not holds() and time.monotonic() < limit:
        time.sleep(0.001)
rank = int(os.environ["STARLING_RANK"])
pathlib.Path(f"part{rank}").write_text(str(os.getpid()))
os.rename(f"part{rank}", f"pid{rank}")
until(lambda: state(os.getppid()) == "T")
if rank < 2:  # 2 ends first, then 1, then 0
    until(lambda: os.path.exists(f"pid{rank + 1}"))
    after = int(pathlib.Path(f"pid{rank + 1}").read_text())
    until(lambda: state(after) == "Z")
os._exit(10 + rank)
"""
    script = tmp_path / "program.py"
    script.write_text(program)
    command = [sys.executable, "-m", "starling", "launch", "-n", "3", "--", sys.executable, str(script)]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as launcher:
        limit = time.monotonic() + LIMIT
        while len(list(tmp_path.glob("pid*"))) < 3 and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(launcher.pid, signal.SIGSTOP)
        first = int((tmp_path / "pid0").read_text())
        stat = Path(f"/proc/{first}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "Z" and time.monotonic() < limit:
            time.sleep(0.01)
        os.kill(launcher.pid, signal.SIGCONT)
        _, said = launcher.communicate(timeout=LIMIT)
    assert launcher.returncode == 12
    assert "process 2 of 3 ended with exit code 12" in said


def test_processes_that_ignore_a_failure_are_ended_after_the_grace(tmp_path: Path) -> None:
    program = """
import os, signal, sys, time, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.environ["STARLING_RANK"] == "0":
    time.sleep(0.5)
    sys.exit(7)
subprocess.Popen(["sleep", "977"])
time.sleep(60)
"""
    start = time.monotonic()
    done = launched(tmp_path, program, 2, "--grace", "0.3")
    assert time.monotonic() - start < 10
    assert done.returncode == 7
    assert "process 0 of 2 ended with exit code 7" in done.stderr
    assert not processes_with(str(tmp_path))
    assert not processes_with("977")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "program.py"
    script.write_text("print('here', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "starling", "launch", "-n", "2", "--", sys.executable, str(script)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Jobs in the background of a shell ignore SIGINT, and what they start does.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as job:
        assert job.stdout is not None
        assert job.stderr is not None
        for _ in range(2):
            assert "here" in job.stdout.readline()
        job.send_signal(number)
        assert job.wait(LIMIT) == 128 + number
        assert f"interrupted by {number.name}" in job.stderr.read()
    assert not processes_with(str(tmp_path))


def test_no_process_stays_when_the_launcher_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("print('here', flush=True)\nimport time\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "starling", "launch", "-n", "2", "--", sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        for _ in range(2):
            job.stdout.readline()
        job.kill()
        job.wait(LIMIT)
    limit = time.monotonic() + 5
    while processes_with(str(tmp_path)) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not processes_with(str(tmp_path))


def test_a_process_that_never_comes_is_named(tmp_path: Path) -> None:
    program = """
import os, time
from starling import machine
if os.environ["STARLING_RANK"] == "2":
    time.sleep(30)
machine.distributed()
"""
    done = launched(tmp_path, program, 3, "--grace", "1", STARLING_MEETING_DEADLINE="1")
    assert done.returncode == 1
    assert "ProcessError: machine.distributed: of 3 processes number 2 did not come within 1 s" in done.stderr


def torchrun(rank: int) -> dict[str, str]:
    return {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(20000 + os.getpid() % 20000)}  # fmt: skip


def mpirun(rank: int) -> dict[str, str]:
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
            "PMIX_NAMESPACE": f"test-{os.getpid()}"}  # fmt: skip


def srun(rank: int) -> dict[str, str]:
    return {"SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_STEP_NUM_NODES": "1",
            "SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0"}  # fmt: skip


@pytest.mark.parametrize("launcher", [torchrun, mpirun, srun])
def test_variables_of_other_launchers_are_enough(launcher) -> None:  # type: ignore[no-untyped-def]
    program = "from starling import machine; m = machine.named('auto'); m.meet(); print(m.process, m.choice)"
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "STARLING_MACHINE": "distributed", "STARLING_DISTRIBUTED": KIND, **launcher(rank)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [job.communicate(timeout=LIMIT)[0] for job in jobs]
    assert [text.split()[0] for text in said] == ["0", "1"]
    assert all(launcher.__name__ in text and " in 2 processes" in text for text in said)


def test_without_a_launcher_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STARLING_RANK", "OMPI_COMM_WORLD_RANK", "RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(errors.Unsupported, match="starling launch"):
        machine.distributed()
    m = machine.host(2)
    assert (m.processes, m.process, m.local_pes, m.agree(2.5)) == (1, 0, range(2), 2.5)
    m.meet()


def test_bad_arguments_of_the_command(tmp_path: Path) -> None:
    assert "processes = 0" in launched(tmp_path, "", 0).stderr
    command = [sys.executable, "-m", "starling", "launch", "-n", "2", "--", str(tmp_path / "nothing")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 2
    assert "cannot be run" in done.stderr
