"""What the compiler makes of each call that concerns another PE: an instruction of the right order at system scope.

PEs that share a GPU cannot show that it is there. Runs where nvcc is, with or without a GPU.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

# By how the names of calls begin: one of these is there, itself or in a function that is called.
WANTED = {
    "release": r"\b(st|red|atom)\.(release|acq_rel)\.sys\b|\bfence\.(acq_rel|sc)\.sys\b|\bmembar\.sys\b",
    "acquire": r"\bld\.acquire\.sys\b|\batom\.(acquire|acq_rel)\.sys\b|\bfence\.(acq_rel|sc)\.sys\b|\bmembar\.sys\b",
    "store": r"\bst\.relaxed\.sys\b",
    "load": r"\bld\.relaxed\.sys\b",
    "atomic": r"\b(atom|red)\.[\w.:]*sys\b",
}
# A kernel or function with its body; declarations have none and end in a semicolon.
PART = re.compile(r"\.(?:entry|func)\b([^;{]*)\{(.*?)^\}", re.DOTALL | re.MULTILINE)


def compiled(folder: Path) -> str:
    """The PTX of calls.cpp."""
    assert NVCC
    target = folder / "calls.ptx"
    toolkit = Path(NVCC).resolve().parent.parent
    command = [NVCC, "-x", "cu", "-ptx", "-std=c++20", "-arch=sm_90", "--extended-lambda", "--expt-relaxed-constexpr",
               "-I", str(ROOT / "include"), "-isystem", str(toolkit / "include/cccl"), "-o", str(target),
               str(ROOT / "tests/ptx/calls.cpp")]  # fmt: skip
    made = subprocess.run(command, capture_output=True, text=True, timeout=600, env={**os.environ, "LC_ALL": "C"})
    assert made.returncode == 0, made.stderr[-2000:]
    return target.read_text()


def parts_of(ptx: str) -> dict[str, str]:
    """The text of each kernel and function by its name."""
    parts = {}
    for head, body in PART.findall(ptx):
        without_result = re.sub(r"^\s*\([^)]*\)", "", head)
        name = re.search(r"[\w$]+", without_result)
        assert name
        parts[name.group()] = body
    return parts


def with_callees(name: str, parts: dict[str, str]) -> str:
    """The text of a kernel with that of all functions that it may call."""
    todo, seen = [name], {name}
    while todo:
        for called in re.findall(r"[\w$]+", parts[todo.pop()]):
            if called in parts and called not in seen:
                seen.add(called)
                todo.append(called)
    return "\n".join(parts[n] for n in sorted(seen))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By call: what its kernel may execute."""
    if NVCC is None:
        pytest.skip("nvcc is not here")
    parts = parts_of(compiled(tmp_path_factory.mktemp("ptx")))
    source = (ROOT / "tests/ptx/calls.cpp").read_text()
    found = {}
    for call in re.findall(r"^struct (\w+) : call", source, re.MULTILINE):
        mine = [name for name in parts if f"{len(call)}{call}EL" in name]
        assert len(mine) == 1, (call, mine)
        found[call] = with_callees(mine[0], parts)
    return found


def test_each_call_reaches_other_gpus(kernels: dict[str, str]) -> None:
    assert len(kernels) > 25
    wrong = [
        call
        for call, text in kernels.items()
        if not call.startswith("narrow") and not re.search(WANTED[call.split("_")[0]], text)
    ]
    assert wrong == []


def test_scopes_are_told_apart(kernels: dict[str, str]) -> None:
    assert not re.search(WANTED["release"], kernels["narrow_store"])
    assert re.search(r"\.gpu\b", kernels["narrow_store"])
