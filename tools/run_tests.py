#!/usr/bin/env python3
"""Runs every check of the project, one stage after another, and says at the end what held.

A stage that fails does not stop the others, except those that need what it makes. Each stage's output goes to
build/logs/<stage>.log; of a failed stage the end is shown. The last line is `N passed, M failed`.

Usage: run_tests.py [--verify | --all] [--only STAGE]... [--list]

Without a choice the stages that a newcomer wants run; --verify runs the rest of what must hold, --all both and what
takes longer still.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
PYTHON = ROOT / ".venv/bin/python"
CORES = os.cpu_count() or 1
CPP_FOLDERS = ("include", "src", "apps", "tests", "examples", "bench", "python")
PY_PATHS = ("python", "tools", "tests", "examples", "bench")


class Failed(Exception):
    """A stage did not hold."""


class Skipped(Exception):
    """A stage does not apply to this machine."""


@dataclass
class Count:
    passed: int = 0
    failed: int = 0


class Run:
    """What a stage works with: its log, and the tests it has counted so far."""

    def __init__(self, log: TextIO) -> None:
        self.log = log
        self.count: Count | None = None

    def command(self, *words: str | Path, timeout: float = 900, **environment: str) -> str:
        """Runs a command to its end and returns its output; what it prints goes to the log."""
        shown = " ".join(str(word).removeprefix(f"{ROOT}/") for word in words)
        self.log.write(f"$ {shown}\n")
        self.log.flush()
        start = self.log.tell()
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}", **environment},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(stop, KeyboardInterrupt):
                raise
            status = None
        self.log.seek(0, os.SEEK_END)
        with open(self.log.name, encoding="utf-8", errors="replace") as written:
            written.seek(start)
            output = written.read()
        self.tally(output)
        if status is None:
            raise Failed(f"no end after {timeout:.0f} s: {shown[:80]}")
        if status != 0:
            raise Failed(f"exit status {status}: {shown[:80]}")
        return output

    def all_of(self, *commands: list[str | Path]) -> None:
        """Runs commands that do not depend on each other: all, whatever fails."""
        failures = []
        for words in commands:
            try:
                self.command(*words)
            except Failed as failure:
                failures.append(str(failure))
        if failures:
            raise Failed("; ".join(failures))

    def tally(self, output: str) -> None:
        found = tests_in(output)
        if found is not None:
            self.count = self.count or Count()
            self.count.passed += found.passed
            self.count.failed += found.failed


def tests_in(output: str) -> Count | None:
    """The tests that a ctest -V or pytest run reports. A program of many test cases counts as that many."""
    count = Count()
    cases: dict[str, tuple[int, int]] = {}
    for line in re.finditer(r"^(\d+): \[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", output, re.M):
        cases[line.group(1)] = int(line.group(2)), int(line.group(3))
    ran = re.findall(r"^ *\d+/\d+ Test +#(\d+): \S+ \.*(.*)", output, re.M)
    for number, verdict in ran:
        held = verdict.strip().startswith("Passed")
        passed, failed = cases.get(number, (1, 0) if held else (0, 1))
        # A program may also die after its last test case, or before it could count.
        count.passed += passed
        count.failed += failed if held else max(failed, 1)
    pytest_line = re.search(r"^(?:=+ )?(\d+ (?:passed|failed|error|skipped).*) in [\d.]+s", output, re.M)
    if pytest_line:
        for number, word in re.findall(r"(\d+) (passed|failed|errors?)", pytest_line.group(1)):
            if word == "passed":
                count.passed += int(number)
            else:
                count.failed += int(number)
    return count if ran or pytest_line else None


# ---- the stages ----


def setup(run: Run) -> None:
    run.command(ROOT / "tools/setup")


def configure(run: Run, preset: str, *options: str) -> Path:
    run.command("cmake", "--preset", preset, f"-DPython_EXECUTABLE={PYTHON}", *options)
    return BUILD / preset


def build(run: Run, folder: Path, *targets: str) -> None:
    chosen = ["--target", *targets] if targets else []
    # On two cores all GPU code may take half an hour.
    run.command("cmake", "--build", folder, "--parallel", str(CORES), *chosen, timeout=3000)


def ctest(run: Run, folder: Path, labels: str) -> None:
    words = ["ctest", "--test-dir", folder, "-V", "-L", f"^({labels})$", "-j", str(CORES), "--no-tests=ignore"]
    run.command(*words, timeout=1800)


def host_build(run: Run) -> None:
    """What the quick tests use."""
    examples = [f"example_{source.stem}" for source in sorted((ROOT / "examples").glob("*.cpp"))]
    suites = ["unit", "protocol", "misuse", "processes", "openshmem", "quick_apps", "quick_check"]
    build(run, configure(run, "host"), *suites, "starling_python", *examples)


def host_tests(run: Run) -> None:
    ctest(run, BUILD / "host", "unit|protocol|misuse|processes|openshmem|example|quick")


def host_build_all(run: Run) -> None:
    build(run, configure(run, "host"), "all", "checked", "openshmem")


def host_checks(run: Run) -> None:
    """The libraries against their oracles, what check mode finds, and what must not compile."""
    ctest(run, BUILD / "host", "apps|check|wrong|compile_fail|bug|openshmem_more")
    pytest(run, "python/tests/test_check.py")  # with the package's own kernels seen


def pytest(run: Run, *paths: str, **environment: str) -> None:
    """Files side by side, each by one process."""
    words = ["-q", "--color=no", "--doctest-modules", "-n", str(CORES), "--dist", "loadfile", *paths]
    run.command(PYTHON, "-m", "pytest", *words, **environment)


def python_tests(run: Run) -> None:
    """The package, one page of its documents, and of the tools the shortest."""
    page = "tests/tools/test_documents.py::test_page[docs/tasks.md]"
    tools = ["tests/tools/test_reference.py", "tests/tools/test_check_includes.py"]
    pytest(run, "python/tests", "python/starling", *tools, page)


def dace_tests(run: Run) -> None:
    """All programs of the compiler, in check mode too, and random ones."""
    pytest(run, "python/tests/dace", STARLING_TEST_COMPLETE="1")


def dace_random(run: Run) -> None:
    """A thousand random programs of the compiler."""
    count = os.environ.get("STARLING_DACE_PROGRAMS", "1000")
    tests = ["-q", "--color=no", "python/tests/dace/test_random.py"]
    run.command(PYTHON, "-m", "pytest", *tests, STARLING_TEST_COMPLETE="1", STARLING_DACE_PROGRAMS=count, timeout=14400)


def tool_tests(run: Run) -> None:
    """Of this script, the include checker, the mutations and all pages."""
    pytest(run, "tests/tools", STARLING_TEST_COMPLETE="1")


def style(run: Run) -> None:
    run.all_of(
        ["clang-format", "--dry-run", "--Werror", *cpp_sources()],
        ["ruff", "check", *python_paths()],
        ["ruff", "format", "--check", *python_paths()],
        [PYTHON, "tools/check_includes.py"],
    )


def types(run: Run) -> None:
    run.command(PYTHON, "-m", "mypy")


def reformat(run: Run) -> None:
    run.command("clang-format", "-i", *cpp_sources())
    run.command("ruff", "format", *python_paths())


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
    ctest(run, BUILD / "host", "checked")


def mutate(run: Run) -> None:
    """Mistakes in the shipped protocols that check mode has to notice."""
    run.command(PYTHON, "tools/mutate_protocols.py", timeout=3600)


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


def cuda_install_check(run: Run) -> None:
    consume(run, BUILD / "cuda-check")


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


def wheel(run: Run) -> None:
    """Makes the wheel, installs it as a user does, and uses it away from the source tree."""
    run.command(PYTHON, "tools/wheel.py", timeout=7200)


def docs(run: Run) -> None:
    """The site of the documents: needs nothing built."""
    if sys.version_info < (3, 11):
        raise Skipped("the packages of requirements/docs.txt need Python 3.11")
    run.command(ROOT / "tools/setup", "docs")
    said = run.command(PYTHON, "tools/build_site.py")
    print(said.strip().splitlines()[-1], end=" ", flush=True)


@dataclass
class Stage:
    name: str
    action: Callable[[Run], None]
    needs: tuple[str, ...] = ("setup",)
    when: str = "test"  # test, verify (with --verify), all (only with --all) or asked (only with --only)


STAGES = [
    Stage("setup", setup, needs=()),
    Stage("format", reformat, when="asked"),
    Stage("style", style),
    Stage("host-build", host_build),
    Stage("host-tests", host_tests, needs=("host-build",)),
    Stage("python-tests", python_tests, needs=("host-build",)),
    Stage("soak", soak, needs=("host-build",), when="asked"),
    Stage("long-run", long_run, when="all"),
    Stage("types", types, needs=("host-build",)),  # reads the module's stub
    Stage("host-build-all", host_build_all, when="verify"),
    Stage("host-checks", host_checks, needs=("host-build-all",), when="verify"),
    Stage("tool-tests", tool_tests, needs=("host-build-all",), when="verify"),
    Stage("dace", dace_tests, needs=("host-build-all",), when="verify"),
    Stage("dace-random", dace_random, needs=("host-build",), when="all"),
    Stage("install", install_check, needs=("host-build-all",), when="verify"),
    Stage("tsan", thread_sanitizer, when="verify"),
    Stage("asan-ubsan", address_sanitizer, when="verify"),
    Stage("sanitizers-all", sanitizers_all, when="all"),
    Stage("bugs", bugs, needs=("host-build-all",), when="all"),
    Stage("protocols", protocols, needs=("host-build-all",), when="all"),
    Stage("mutate", mutate, needs=("host-build-all",), when="all"),
    Stage("cuda-build", cuda_build, when="verify"),
    Stage("cuda-tests", cuda_tests, needs=("cuda-build",), when="verify"),
    Stage("cuda-install", cuda_install_check, needs=("cuda-build",), when="all"),
    Stage("docs", docs, needs=(), when="verify"),
    Stage("wheel", wheel, when="all"),
]


# ---- what they share ----


def cpp_sources() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for folder in CPP_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".hpp", ".cpp")
    )


def python_paths() -> list[str]:
    return [path for path in PY_PATHS if (ROOT / path).is_dir()]


def chosen_stages(only: list[str], sets: tuple[str, ...]) -> list[Stage]:
    """The stages named, or else those of the sets (`Stage.when`), and all that these need; in order."""
    by_name = {stage.name: stage for stage in STAGES}
    only = only or [stage.name for stage in STAGES if stage.when in sets]
    wanted: set[str] = set()

    def want(name: str) -> None:
        wanted.add(name)
        for need in by_name[name].needs:
            want(need)

    for name in only:
        want(name)
    return [stage for stage in STAGES if stage.name in wanted]


def cpu_seconds() -> float:
    """User and system seconds of all commands so far: what the budgets of tests/README.md are in, since those of the
    wall clock depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show_failure(log: Path, lines: int = 40) -> None:
    """Prints of a log what the failed tests said if it is a log of tests, otherwise the lines that look like reasons,
    and the end."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    failed = re.findall(r"^\t *(\d+) - \S+ \(", "\n".join(text), re.M)
    shown: list[str] = []
    for number in failed[:10]:
        # Without the framework's greetings and the lines before the run.
        said = [line for line in text if line.startswith(f"{number}: ") and not re.search(r"doctest\] (do|run)", line)]
        shown += [*said[4:34], *(["..."] if len(said) > 34 else [])]
    if not failed:
        progress = re.compile(r"^\[\d+/\d+\] (?!.*FAILED)|^-- ")
        reason = re.compile(r"\berror\b|ERROR:|FAILED|WARNING: ThreadSanitizer")
        text = [line for line in text if not progress.match(line)]
        shown = [line for line in text[:-lines] if reason.search(line)][:30]
    for line in [*shown, "...", *text[-(lines if not failed else len(failed) + 6) :]]:
        print(f"    {line[:300]}")
    print(f"    (all of it: {log.relative_to(ROOT)})", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs every check of the project and says at the end what held.")
    parser.add_argument("--verify", action="store_true", help="what the quick tests leave out")
    parser.add_argument("--all", action="store_true", help="everything, what takes long too")
    parser.add_argument("--only", action="append", default=[], choices=[stage.name for stage in STAGES])
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(stage.name for stage in STAGES))
        return 0

    sets = ("test", "verify", "all") if arguments.all else ("verify",) if arguments.verify else ("test",)
    LOGS.mkdir(parents=True, exist_ok=True)
    verdicts: dict[str, str] = {}
    rows: list[str] = []
    total = Count()
    for stage in chosen_stages(arguments.only, sets):
        print(f"== {stage.name} ", end="", flush=True)
        start, used = time.monotonic(), cpu_seconds()
        log = LOGS / f"{stage.name}.log"
        note = ""
        missing = [need for need in stage.needs if verdicts.get(need) != "OK"]
        if missing:
            verdict, note, count = "skipped", f"needs {', '.join(missing)}", Count()
        else:
            with open(log, "w", encoding="utf-8") as stream:
                run = Run(stream)
                try:
                    stage.action(run)
                    if run.count and run.count.failed:
                        raise Failed(f"{run.count.failed} failed, and no command said so by its exit status")
                    verdict, count = "OK", run.count or Count(passed=1)
                    note = f"{run.count.passed} tests" if run.count else ""
                except Skipped as reason:
                    verdict, note, count = "skipped", str(reason), Count()
                except Failed as reason:
                    verdict, note = "FAILED", str(reason)
                    stream.write(f"{reason}\n")
                    count = run.count or Count()
                    count.failed = max(count.failed, 1)
                except OSError as reason:  # a tool that is not there
                    verdict, note, count = "FAILED", str(reason), Count(failed=1)
        seconds = time.monotonic() - start
        verdicts[stage.name] = verdict
        total.passed += count.passed
        total.failed += count.failed
        cpu = cpu_seconds() - used
        rows.append(f"  {stage.name:<16}{seconds:7.1f} s  {cpu:7.1f} s CPU   {verdict:<8} {note[:150]}".rstrip())
        print(f"{verdict} ({seconds:.1f} s)", flush=True)
        if verdict == "FAILED":
            show_failure(log)

    print("\nSummary")
    print("\n".join(rows))
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
