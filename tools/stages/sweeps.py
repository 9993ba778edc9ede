"""What takes longest, `make test-all`, and what runs only when it is named."""

from __future__ import annotations

import os
import re

from stages.building import build, configure, consume, ctest
from stages.places import BUILD, PYTHON, ROOT
from stages.rest import sanitized
from stages.run import Run

__all__ = [
    "bugs",
    "cuda_install_check",
    "dace_random",
    "long_run",
    "mutate",
    "protocols",
    "sanitizers_all",
    "soak",
    "wheel",
]


def dace_random(run: Run) -> None:
    """Every directed program of the compiler, and three thousand random ones, each apart: a crash ends no others."""
    run.command(PYTHON, "-m", "pytest", "-q", "--color=no", "python/tests/dace/test_directed.py",
                STARLING_TEST_DIRECTED="all", timeout=7200)  # fmt: skip
    first = os.environ.get("STARLING_DACE_SEED", "random")
    count = os.environ.get("STARLING_DACE_PROGRAMS", "3000")
    run.command(PYTHON, "python/tests/dace/random_sweep.py", first, count, timeout=43200)


def soak(run: Run) -> None:
    """Random faults for minutes."""
    build(run, BUILD / "host", "apps")
    program = [BUILD / "host/bin/apps", "--source-file=*/fault_soak.cpp"]
    said = run.command(*program, STARLING_SOAK_SECONDS=os.environ.get("STARLING_SOAK_SECONDS", "300"))
    print("\n".join(re.findall(r"\d+ runs, .*", said)), end=" ", flush=True)


def long_run(run: Run) -> None:
    """Stencils of very many steps in one run; on GPUs where STARLING_TEST_MACHINE says so."""
    on_gpus = os.environ.get("STARLING_TEST_MACHINE") == "cuda"
    folder = configure(run, "cuda" if on_gpus else "host")
    build(run, folder, "apps")
    steps = os.environ.get("STARLING_LONG_STEPS", "1000000" if on_gpus else "20000")
    run.command(folder / "bin/apps", "--source-file=*/stencil_long_run.cpp", STARLING_LONG_STEPS=steps)


def sanitizers_all(run: Run) -> None:
    """What the two quick stages leave out, most of it long to compile."""
    sanitized(run, "tsan", "apps")
    sanitized(run, "asan-ubsan", "unit", "protocol", "apps")


def bugs(run: Run) -> None:
    """The gallery: every mistake is caught, and its correction passes many schedules."""
    folder = BUILD / "host/bin"
    names = [f"bug_{source.stem}" for source in sorted((ROOT / "examples/bugs").glob("*.cpp"))]
    run.all_of(*([folder / name] for name in names), *([folder / name, "fixed", "--seeds", "10000"] for name in names))


def protocols(run: Run) -> None:
    """What ships passes check mode: stencils, solvers and tasks under many schedules, and the unit tests' programs."""
    build(run, BUILD / "host", "check", "unit_checked", "protocol_checked", "apps_checked")
    for source, seeds in (("shipped_protocols", "10000"), ("shipped_cg", "1000"), ("shipped_tasks", "1000")):
        run.command(
            BUILD / "host/bin/check",
            f"--source-file=*{source}*",
            timeout=7200,
            STARLING_PROTOCOL_SEEDS=seeds,
        )
    ctest(run, BUILD / "host", "checked", timeout=10800)


def mutate(run: Run) -> None:
    """Mistakes in the shipped protocols that check mode has to notice."""
    run.command(PYTHON, "tools/mutate_protocols.py", timeout=3600)
    run.command(PYTHON, "tools/mutate_protocols.py", "--within-blocks", timeout=3600)


def cuda_install_check(run: Run) -> None:
    consume(run, BUILD / "cuda-check")


def wheel(run: Run) -> None:
    """Makes the wheel, installs it as a user does, and uses it away from the source tree."""
    run.command(PYTHON, "tools/wheel.py", timeout=7200)
