"""The steps that stages are made of: configure, build, and run the tests that carry a label or lie in a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from stages.places import BUILD, CORES, PYTHON, ROOT
from stages.run import Failed, Run

__all__ = ["build", "configure", "consume", "ctest", "pytest", "setup"]


def setup(run: Run) -> None:
    run.command(ROOT / "tools/setup")


def configure(run: Run, preset: str, *options: str) -> Path:
    run.command("cmake", "--preset", preset, f"-DPython_EXECUTABLE={PYTHON}", *options)
    return BUILD / preset


def build(run: Run, folder: Path, *targets: str) -> None:
    chosen = ["--target", *targets] if targets else []
    # On two cores all GPU code may take half an hour.
    run.command("cmake", "--build", folder, "--parallel", str(CORES), *chosen, timeout=3000)


def ctest(run: Run, folder: Path, labels: str, timeout: float = 1800) -> None:
    words = ["ctest", "--test-dir", folder, "-V", "-L", f"^({labels})$", "-j", str(CORES), "--no-tests=ignore"]
    run.command(*words, timeout=timeout)


def pytest(run: Run, *paths: str, **environment: str) -> None:
    """Files side by side, each by one process."""
    words = ["-q", "--color=no", "--doctest-modules", "-n", str(CORES), "--dist", "loadfile", *paths]
    run.command(PYTHON, "-m", "pytest", *words, **environment)


def consume(run: Run, folder: Path) -> None:
    """Installs a build and builds a user's project against what was installed."""
    scratch = BUILD / f"install-{folder.name}"
    shutil.rmtree(scratch, ignore_errors=True)
    build(run, folder, "starling_development")
    run.command("cmake", "--install", folder, "--prefix", scratch / "prefix", "--component", "development")
    # An installation is to be moved about, and to need nothing of the place it was built in.
    (scratch / "prefix").rename(scratch / "moved")
    for target in (scratch / "moved").rglob("*.cmake"):
        if str(ROOT) in target.read_text():
            raise Failed(f"{target} names the source tree")
    run.command("cmake", "-G", "Ninja", "-S", "tests/install", "-B", scratch / "build", "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_PREFIX_PATH={scratch / 'moved'}")  # fmt: skip
    run.command("cmake", "--build", scratch / "build")
    run.command(scratch / "build/consumer", timeout=60)
