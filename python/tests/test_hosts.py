"""Programs whose processes reach each other by messages: on one host, by shared memory and by TCP, and on two that
network namespaces play; of MPI, and of a library that stands in for NVSHMEM."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import starling

ENGINE = Path(starling.__file__).parent / "starling_mpi_engine.so"
LIMIT = 100  # seconds that any of these may take

pytestmark = pytest.mark.skipif(
    shutil.which("mpirun") is None or not ENGINE.exists(), reason="needs Open MPI's mpirun and the engine for it"
)

OPTIONS = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
BY_TCP = ["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]

SOLVERS = """
import pathlib
import numpy as np, scipy.sparse
from starling import graph, machine, stencil
from starling.linalg import cg, matrices
m = machine.distributed()
one = machine.host(m.size)
u = np.random.default_rng(1).random((65, 80))
same = [np.array_equal(stencil.jacobi(u, 50, machine=m, variant=v), stencil.jacobi(u, 50, machine=one))
        for v in ("cpu_free", "resident", "temporal")]
a, b = matrices.grid_2d(30, 31), np.random.default_rng(2).standard_normal(930)
same.append(np.array_equal(*(cg(a, b, method="standard", machine=each)[0] for each in (m, one))))
links = scipy.sparse.random(300, 300, 0.02, "csr", random_state=3)
same.append(np.array_equal(graph.pagerank(links, machine=m), graph.pagerank(links, machine=one)))
near = [p for p in range(m.processes) if m.host_of(p) == m.host_of(m.process)]
sent = m.sent_bytes
moved = {True: {}, False: {}}  # whether between hosts, by engine
for source, destination, engine, count in m.traffic:
    ends = [m.host_of(m.process if pe < 0 else pe) for pe in (source, destination)]
    moved[ends[0] != ends[1]][engine] = moved[ends[0] != ends[1]].get(engine, 0) + count
apart = {m.transport: moved[True].get(m.transport, 0)} if m.transport != "direct" else {}
assert moved[True] == apart and sum(sent) <= sum(apart.values()), (moved, sent)
assert set(moved[False]) <= {"direct"}, moved
said = (m.transport, len({m.host_of(p) for p in range(m.size)}), all(same),
        all(sent[p] == 0 for p in near), sum(sent) > 0)
# mpirun mixes what several processes print.
pathlib.Path(__file__).with_name(f"said{m.process}").write_text(" ".join(map(str, said)))
"""


def mpirun(
    n: int,
    *command: str,
    options: list[str] = OPTIONS,
    within: list[str] | None = None,
    transport: str = "mpi",
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    left_out = ("STARLING_MACHINE", "STARLING_DEVICES")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    return subprocess.run(
        [*(within or []), "mpirun", "-n", str(n), *options, *command],
        env={**inherited, "STARLING_TRANSPORT": transport, "STARLING_DISTRIBUTED": "host", **variables},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


@pytest.fixture(autouse=True, scope="module")
def mpirun_works() -> None:
    if mpirun(2, "true").returncode != 0:
        pytest.skip("mpirun starts nothing here")


def said(folder: Path, n: int) -> list[str]:
    """What each process of SOLVERS has found."""
    return [(folder / f"said{rank}").read_text() for rank in range(n)]


def program(folder: Path, text: str) -> list[str]:
    script = folder / "program.py"
    script.write_text(text)
    return [sys.executable, str(script)]


@pytest.mark.parametrize("way", [[], BY_TCP], ids=["shared memory", "tcp"])
def test_solvers_compute_the_bits_of_one_process(tmp_path: Path, way: list[str]) -> None:
    done = mpirun(4, *program(tmp_path, SOLVERS), options=[*OPTIONS, *way])
    assert done.returncode == 0, done.stderr
    assert said(tmp_path, 4) == ["mpi 4 True True True"] * 4


def test_direct_stays_direct_under_mpirun(tmp_path: Path) -> None:
    done = mpirun(2, *program(tmp_path, SOLVERS), transport="auto")
    assert done.returncode == 0, done.stderr
    assert said(tmp_path, 2) == ["direct 1 True True False"] * 2


def test_doctor_tells_of_hosts_and_engine() -> None:
    done = mpirun(3, sys.executable, "-m", "starling", "doctor", "--json", STARLING_MACHINE="distributed")
    assert done.returncode == 0, done.stderr
    job = json.loads(done.stdout)["job"]
    assert job["engine"] == "mpi"
    assert [p["host"] for p in job["processes"]] == [0, 1, 2]
    assert len(job["messages"]) == 6
    assert all(list(m["moved"]) == ["mpi"] for m in job["messages"])
    shown = mpirun(2, sys.executable, "-m", "starling", "doctor", STARLING_MACHINE="distributed").stdout
    assert "2 virtual devices in 2 processes on 2 hosts, by mpi" in shown
    assert "messages of 8 bytes (mpi): us one way" in shown


def test_a_process_that_is_killed_ends_all(tmp_path: Path) -> None:
    text = """
import os, signal
from starling import machine
m = machine.distributed()
m.meet()
if m.process == 1:
    os.kill(os.getpid(), signal.SIGKILL)
m.meet()
"""
    done = mpirun(3, *program(tmp_path, text))
    assert done.returncode != 0
    assert "signal 9" in done.stderr


@pytest.mark.parametrize(
    ("launcher", "variables", "expected"),
    [
        (["starling", "launch"], {"STARLING_TRANSPORT": "mpi"}, "start the processes by the mpirun"),
        (["starling", "launch"], {"STARLING_TRANSPORT": "carrier pigeon"}, "must be direct, mpi, nvshmem or auto"),
    ],
)
def test_what_cannot_be(tmp_path: Path, launcher: list[str], variables: dict[str, str], expected: str) -> None:
    command = [sys.executable, "-m", *launcher, "-n", "2", "--"]
    command += program(tmp_path, "from starling import machine\nmachine.distributed()\n")
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode != 0
    assert expected in done.stderr


@pytest.fixture
def two_hosts(tmp_path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """A command that runs another on the first of two hosts, and mpirun's options to have both: network namespaces with
    IPC, mounts and a name of their own."""
    names, ends = ("starling-a", "starling-b"), ("starling-a0", "starling-b0")
    ip = shutil.which("ip")
    if ip is None or os.geteuid() != 0:
        pytest.skip("needs ip (iproute2) and the rights of root, to make network namespaces")

    def call(*words: str) -> bool:
        return subprocess.run([str(ip), *words], capture_output=True).returncode == 0

    def on(name: str) -> list[str]:
        own = ["unshare", "--ipc", "--mount", "--uts", "sh", "-c", f'hostname {name}; exec "$@"', "sh"]
        return [str(ip), "netns", "exec", name, *own]

    try:
        made = all(call("netns", "add", name) for name in names)
        a, b = ends
        made = made and call("link", "add", a, "netns", names[0], "type", "veth", "peer", "name", b, "netns", names[1])
        for i, (name, end) in enumerate(zip(names, ends, strict=True), 1):
            made = made and call("-n", name, "addr", "add", f"10.77.7.{i}/24", "dev", end)
            made = made and call("-n", name, "link", "set", end, "up") and call("-n", name, "link", "set", "lo", "up")
        if not made:
            pytest.skip("network namespaces cannot be made here")
        agent = tmp_path / "agent"
        words = shlex.join(on(names[1]))
        agent.write_text(f'#!/bin/sh\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\nshift\nexec {words} sh -c "$*"\n')
        agent.chmod(0o755)
        hosts = tmp_path / "hosts"
        hosts.write_text("".join(f"{name} slots=2\n" for name in names))
        settings = {
            "plm_rsh_agent": str(agent),
            "btl_tcp_if_include": "10.77.7.0/24",
            "oob_tcp_if_include": "10.77.7.0/24",
            "pml": "ob1",
            "btl": "tcp,vader,self",
        }
        options = ["--allow-run-as-root", "--bind-to", "none", "--hostfile", str(hosts)]
        options += [word for name, value in settings.items() for word in ("--mca", name, value)]
        if mpirun(4, "true", within=on(names[0]), options=options).returncode != 0:
            pytest.skip("mpirun does not reach network namespaces here")
        yield on(names[0]), options
    finally:
        for name in names:
            call("netns", "del", name)


def test_two_hosts_in_network_namespaces(tmp_path: Path, two_hosts: tuple[list[str], list[str]]) -> None:
    within, options = two_hosts
    done = mpirun(4, *program(tmp_path, SOLVERS), options=options, within=within, transport="auto")
    assert done.returncode == 0, done.stderr
    assert said(tmp_path, 4) == ["mpi 2 True True True"] * 4


@pytest.mark.parametrize("name", ["globals", "teams", "random_operations", "typed_atomics", "misuse"])
def test_openshmem_in_c_on_two_hosts(name: str, two_hosts: tuple[list[str], list[str]]) -> None:
    """Two PEs of each host reach each other directly, those of the other one by messages."""
    within, options = two_hosts
    built = Path(__file__).parents[2] / f"build/host/bin/openshmem_{name}"
    if not built.exists():
        pytest.skip(f"{built.name} is not there: build it first")
    wrong, code = (["global_exit"], 42) if name == "misuse" else ([], 0)
    done = mpirun(4, str(built), *wrong, options=options, within=within, transport="auto")
    assert done.returncode == code, done.stderr


def test_openshmem_in_c_by_its_compiler(tmp_path: Path) -> None:
    """The program finds the engine from another folder than that of the library."""
    root = Path(__file__).parents[2]
    compiler = root / "build/host/bin/starling-oshcc"
    if not compiler.exists() or not (root / "build/host/libstarling_openshmem.a").exists():
        pytest.skip("starling::openshmem is not there: build it first")
    ring = tmp_path / "ring"
    subprocess.run([str(compiler), str(root / "examples/openshmem/ring.c"), "-o", str(ring)], check=True)
    done = mpirun(3, str(ring))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "PE 0 has got 20, all together 30\n"


@pytest.fixture
def nvshmem_double(tmp_path: Path) -> Path:
    """A library with the calls of NVSHMEM's host library."""
    root = Path(__file__).parents[2]
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    library = tmp_path / "libnvshmem_double.so"
    source = root / "tests/nvshmem_double/nvshmem_double.cpp"
    words = ["-std=c++20", "-shared", "-fPIC", f"-I{root / 'src'}", f"-I{root / 'include'}", str(source)]
    subprocess.run([compiler, *words, "-o", str(library)], check=True)
    return library


def test_nvshmem_begins_on_two_hosts_by_mpi(
    tmp_path: Path, two_hosts: tuple[list[str], list[str]], nvshmem_double: Path
) -> None:
    within, options = two_hosts
    variables = {"STARLING_NVSHMEM_LIBRARY": str(nvshmem_double)}
    command = program(tmp_path, SOLVERS)
    done = mpirun(4, *command, options=options, within=within, transport="nvshmem", **variables)
    assert done.returncode == 0, done.stderr
    assert said(tmp_path, 4) == ["nvshmem 4 True True True"] * 4


def test_doctor_tells_of_nvshmem(nvshmem_double: Path) -> None:
    command = [sys.executable, "-m", "starling"]
    chosen = {"STARLING_TRANSPORT": "nvshmem", "STARLING_NVSHMEM_LIBRARY": str(nvshmem_double)}
    done = subprocess.run(
        [*command, "launch", "-n", "2", "--", *command, "doctor"],
        env={**os.environ, "STARLING_MACHINE": "distributed", **chosen},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert "2 virtual devices in 2 processes on 2 hosts, by nvshmem" in done.stdout
    assert "messages of 8 bytes (nvshmem): us one way" in done.stdout
