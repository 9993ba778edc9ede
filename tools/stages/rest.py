"""The rest of what must hold, `make verify`: libraries, check mode, sanitizers, installation, pages, GPU code."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from stages.building import build, configure, consume, ctest, pytest
from stages.places import BUILD, PYTHON, ROOT
from stages.run import Run, Skipped

__all__ = [
    "address_sanitizer",
    "cuda_build",
    "cuda_tests",
    "dace_tests",
    "docs",
    "host_build_all",
    "host_checks",
    "install_check",
    "sanitized",
    "thread_sanitizer",
    "tool_tests",
]


def host_build_all(run: Run) -> None:
    build(run, configure(run, "host"), "all", "checked", "openshmem")


def host_checks(run: Run) -> None:
    """The libraries against their oracles, what check mode finds, and what must not compile."""
    ctest(run, BUILD / "host", "apps|check|wrong|compile_fail|bug|openshmem_more")
    pytest(run, "python/tests/test_check.py")  # with the package's own kernels seen


def dace_tests(run: Run) -> None:
    """All programs of the compiler, in check mode too, and random ones."""
    pytest(run, "python/tests/dace", STARLING_TEST_COMPLETE="1")


def tool_tests(run: Run) -> None:
    """Of this script, the include checker, the mutations and all pages."""
    pytest(run, "tests/tools", STARLING_TEST_COMPLETE="1")


def install_check(run: Run) -> None:
    consume(run, BUILD / "host")
    # From the source tree: the consumer again, and the project that `starling new` makes.
    run.command(PYTHON, "tools/use_installed.py", PYTHON.parent / "starling")


def sanitized(run: Run, preset: str, *suites: str) -> None:
    folder = configure(run, preset)
    build(run, folder, *suites)
    ctest(run, folder, "|".join(suites))


def thread_sanitizer(run: Run) -> None:
    sanitized(run, "tsan", "unit", "protocol")


def address_sanitizer(run: Run) -> None:
    sanitized(run, "asan-ubsan", "misuse")


def docs(run: Run) -> None:
    """The site of the documents: needs nothing built."""
    if sys.version_info < (3, 11):
        raise Skipped("the packages of requirements/docs.txt need Python 3.11")
    run.command(ROOT / "tools/setup", "docs")
    said = run.command(PYTHON, "tools/build_site.py")
    print(said.strip().splitlines()[-1], end=" ", flush=True)


def cuda_build(run: Run) -> None:
    if shutil.which("nvcc") is None and not Path("/usr/local/cuda/bin/nvcc").exists():
        raise Skipped("no nvcc here")
    build(run, configure(run, "cuda-check"))


def cuda_tests(run: Run) -> None:
    """The programs with GPU code must work on a machine without GPUs, on virtual devices."""
    ctest(run, BUILD / "cuda-check", "unit|example")
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "starling")
        shutil.copytree(ROOT / "python/starling", package, ignore=shutil.ignore_patterns("_starling*", "__pycache__"))
        for module in (BUILD / "cuda-check/python/starling").glob("_starling*"):
            shutil.copy(module, package)
        # PYTHONPATH goes before the source tree that the environment knows of.
        run.command(PYTHON, "-m", "starling", "doctor", PYTHONPATH=folder)
