#!/usr/bin/env python3
"""Uses an installation of Starling from C++ as a user does, away from the source tree.

Builds the project of tests/install, then makes one with `starling new`, runs the commands that this prints, takes the
barrier out of its kernel, and expects the project's test to say so.

Usage: use_installed.py STARLING    (the command of the installation, such as .venv/bin/starling)
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARRIER = re.compile(r"^ *b\.sync_all\(\);.*\n", re.M)


def run(*words: str | Path, cwd: Path, fails: bool = False) -> str:
    """Runs a command, which must succeed or, with `fails`, must not; prints and returns its output.

    What it prints is marked as quoted: who counts tests by this output must not count those of the user's project.
    """
    print("$", *words, flush=True)
    # The package is that of the command, not one that a variable names.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        list(map(str, words)), cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    print(textwrap.indent(result.stdout, "| "), end="", flush=True)
    if (result.returncode != 0) != fails:
        sys.exit(f"use_installed: exit status {result.returncode}: {' '.join(map(str, words))}")
    return result.stdout


def consumer(starling: Path, folder: Path) -> None:
    cmake_dir = run(starling, "--cmakedir", cwd=folder).strip()
    build = folder / "consumer"
    run("cmake", "-S", ROOT / "tests/install", "-B", build, f"-Dstarling_DIR={cmake_dir}", cwd=folder)
    run("cmake", "--build", build, cwd=folder)
    run(build / "consumer", cwd=folder)


def consumer_in_c(starling: Path, folder: Path) -> None:
    """OpenSHMEM: a project in C alone."""
    cmake_dir = Path(run(starling, "--cmakedir", cwd=folder).strip())
    if "starling::openshmem" not in "".join(path.read_text() for path in cmake_dir.glob("starlingTargets*.cmake")):
        return  # of a build for GPUs
    build = folder / "consumer_in_c"
    run("cmake", "-S", ROOT / "tests/install/openshmem", "-B", build, f"-Dstarling_DIR={cmake_dir}", cwd=folder)
    run("cmake", "--build", build, cwd=folder)
    if "PE 0 has got 10, all together 10" not in run(starling, "launch", "-n", "2", "--", build / "ring", cwd=folder):
        sys.exit("use_installed: the ring of OpenSHMEM says something else")


def new_project(starling: Path, folder: Path) -> None:
    said = run(starling, "new", "halo", cwd=folder)
    commands = re.findall(r"^  (.+)$", said, re.M)
    if len(commands) != 4:
        sys.exit(f"use_installed: {len(commands)} commands instead of 4")
    for command in commands:
        run("sh", "-c", command, cwd=folder)
    if "loads and stores seen" not in run("halo/build/tests/halo_test", cwd=folder):
        sys.exit("use_installed: the project's test was built without starling::check")
    kernel = folder / "halo/kernel.cpp"
    wrong, taken_out = BARRIER.subn("", kernel.read_text())
    if taken_out != 1:
        sys.exit("use_installed: the kernel has no barrier to take out")
    kernel.write_text(wrong)
    _, build, test, _ = commands
    run("sh", "-c", build, cwd=folder)
    found = run("sh", "-c", test, cwd=folder, fails=True)
    if not re.search(r"check: unordered write(.*\n)+.*kernel\.cpp:\d+(.*\n)+.*kernel\.cpp:\d+", found):
        sys.exit("use_installed: the test fails, but not as the project's README says")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    starling = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory(prefix="starling_") as folder:
        consumer(starling, Path(folder))
        consumer_in_c(starling, Path(folder))
        new_project(starling, Path(folder))


if __name__ == "__main__":
    main()
