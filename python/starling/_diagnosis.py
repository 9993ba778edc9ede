"""starling.doctor(): what machine there is, what Starling can use of it, and what is missing with the remedy."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from typing import Any

from starling import machine as machines
from starling._compilers import nvcc_path
from starling._job import job as describe
from starling._native import __version__, native
from starling.errors import Error

Facts = dict[str, Any]


def doctor() -> Facts:
    """What there is, what can be used and what is missing.

    Returns:
        A dictionary that JSON can hold, sizes in bytes:

        * ``starling``: version, folder, whether the build has a CUDA part;
        * ``python``, ``platform``, ``cores`` (that this process may use), ``memory_bytes``;
        * ``compilers``: name, path and version of those found;
        * ``dace``: for ``starling.dace``, version of DaCe and paths of the C++ compiler and nvcc (empty: none);
        * ``cuda``: built, driver, runtime, number of devices, problem, remedy (empty: none);
        * ``gpus``: of each, id, name, memory, compute capability, multiprocessors;
        * ``peers``: how GPU i reaches the memory of GPU j: self, direct or none;
        * ``usable``: kinds of machine that can be made here, ``best``: what ``machine.best()`` takes, and why;
        * ``job``: of several processes with one machine, who all call this: pids, cores, PEs, messages; None: of one;
        * ``missing``: what is missing, each with the remedy;
        * ``environment``: name, meaning and value of the variables that Starling reads, and whether each is set.

    >>> import starling
    >>> sorted(starling.doctor()["usable"])[-1]
    'host'
    """
    missing: list[dict[str, str]] = []
    cuda = _cuda(missing)
    gpus, peers = _gpus(cuda, missing)
    compilers = _compilers()
    if not any(c["name"] != "nvcc" for c in compilers):
        missing.append(
            {"what": "a C++ compiler (to build, not to run)", "remedy": "apt-get install g++, version 12 or newer"}
        )
    environment = _environment(missing)
    usable, best, job = _usable(gpus, missing)
    return {
        "starling": {
            "version": __version__,
            "folder": os.path.dirname(os.path.abspath(__file__)),
            "cuda": cuda["built"],
        },
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "platform": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "compilers": compilers,
        "dace": _dace(),
        "cuda": cuda,
        "gpus": gpus,
        "peers": peers,
        "usable": usable,
        "best": best,
        "job": job,
        "missing": missing,
        "environment": environment,
    }


def _cuda(missing: list[dict[str, str]]) -> Facts:
    status = native.probe_cuda()
    if status.problem:
        missing.append({"what": f"GPUs: {status.problem}", "remedy": status.remedy})
    return {
        "built": status.built,
        "driver": status.driver,
        "runtime": status.runtime,
        "devices": status.devices,
        "problem": status.problem,
        "remedy": status.remedy,
    }


def _gpus(cuda: Facts, missing: list[dict[str, str]]) -> tuple[list[Facts], list[list[str]]]:
    """Every GPU, and how they reach each other. They make one machine, or the error says why not."""
    if cuda["problem"] or not cuda["devices"]:
        return [], []
    try:
        m = machines.cuda(pes_per_gpu=1)
    except Error as problem:
        missing.append({"what": "a machine of all GPUs", "remedy": str(problem)})
        return [], []
    gpus = [
        {
            "id": d.id,
            "name": d.name,
            "memory_bytes": d.memory_bytes,
            "compute_capability": f"{d.compute_capability // 10}.{d.compute_capability % 10}",
            "multiprocessors": d.multiprocessors,
        }
        for d in m.devices
    ]
    return gpus, [[m.link(a, b) for b in range(m.size)] for a in range(m.size)]


def _compilers() -> list[Facts]:
    found = []
    for name in ("c++", "g++", "clang++", "nvcc"):
        path = (nvcc_path() if name == "nvcc" else shutil.which(name)) or ""
        if not path:
            continue
        try:
            answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.SubprocessError):
            continue
        lines = [line for line in answer.stdout.splitlines() if line.strip()]
        # nvcc names its release in a later line.
        version = next((line for line in lines if "release" in line), lines[0] if lines else "")
        found.append({"name": name, "path": path, "version": version})
    return found


def _dace() -> Facts:
    """Without importing it, which takes seconds."""
    try:
        version = metadata.version("dace")
    except metadata.PackageNotFoundError:
        version = ""
    named = shlex.split(os.environ.get("CXX", "c++"))
    return {"version": version, "compiler": shutil.which(named[0]) or "" if named else "", "nvcc": nvcc_path() or ""}


def _environment(missing: list[dict[str, str]]) -> list[Facts]:
    try:
        variables = native.environment()
    except Error as problem:
        missing.append({"what": "an environment variable cannot be read", "remedy": str(problem)})
        return []
    return [{"name": n, "meaning": m, "value": v, "set": bool(os.environ.get(n))} for n, m, v in variables]


def _usable(gpus: list[Facts], missing: list[dict[str, str]]) -> tuple[list[str], Facts, Facts | None]:
    """Which kinds there are, the machine by default, and what the job is like if that has several processes."""
    usable = ["cuda"] if gpus else []
    best: Facts = {"kind": "", "devices": 0, "choice": ""}
    job = None
    try:
        machines.host(1)
        usable.append("host")
        taken = machines.best()
        best = {"kind": taken.kind, "devices": taken.size, "choice": taken.choice}
        if taken.processes > 1:
            job = describe(taken)
    except Error as problem:
        best["choice"] = str(problem)
        if str(problem) not in [entry["remedy"] for entry in missing]:
            missing.append({"what": "the machine taken by default", "remedy": str(problem)})
    return usable, best, job
