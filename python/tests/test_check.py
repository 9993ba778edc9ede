"""Check mode from Python and from the command line."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import starling
from starling import errors
from starling.cli.check import totals

HERE = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(starling.__file__).parents[1])])}


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "starling", "check", *words],
        env={**HERE, **environment},
        capture_output=True,
        text=True,
        timeout=150,
    )


def script(text: str, folder: Path) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return str(path)


STENCIL = """
import numpy as np, starling
u = np.random.default_rng(3).random((24, 20), dtype="float32")
got = starling.stencil.jacobi(u, steps=4, variant={variant!r})
want = u.copy()
for _ in range(4):
    inner = want[1:-1, 1:-1] * 0 + 0.25 * (want[:-2, 1:-1] + want[2:, 1:-1] + want[1:-1, :-2] + want[1:-1, 2:])
    want = want.copy()
    want[1:-1, 1:-1] = inner
assert np.allclose(got, want, atol=1e-5)
"""


@pytest.mark.parametrize("variant", ["resident", "temporal", "cpu_free", "graph", "copy", "overlap", "p2p"])
def test_stencils_pass_and_give_the_right_result(variant: str, tmp_path: Path) -> None:
    done = command(
        "--seeds", "30", "--devices", "3", "--", sys.executable, script(STENCIL.format(variant=variant), tmp_path)
    )
    assert done.returncode == 0, done.stderr
    assert "nothing found" in done.stderr
    assert "schedules" in done.stderr
    # Where the module whose accesses are seen is built, it is the one that was loaded.
    assert ("calls alone" in done.stderr) == (find_spec("starling._starling_checked") is None)


def test_function_explores_every_program() -> None:
    u = np.random.default_rng(1).random((16, 12))
    results = []

    def run(m: starling.Machine) -> None:
        results.append(starling.stencil.jacobi(u, steps=3, machine=m))

    found = starling.check(run, devices=2, seeds=20)
    assert found.programs >= 1
    assert found.schedules == 21 * found.programs
    assert found.calls > found.schedules
    assert found.deliveries > 0
    assert found.seconds > 0
    assert np.array_equal(results[0], starling.stencil.jacobi(u, steps=3, machine="host", devices=2))


def test_wrong_arguments() -> None:
    with pytest.raises(errors.ElementTypeError, match="function"):
        starling.check(3)  # type: ignore[arg-type]
    with pytest.raises(errors.ArgumentError, match="seeds = 0"):
        starling.check(lambda m: None, seeds=0)
    with pytest.raises(errors.ArgumentError, match="devices = 0"):
        starling.check(lambda m: None, devices=0)


def test_threads_of_a_block(tmp_path: Path) -> None:
    words = ["--devices", "2", "--", sys.executable, script(STENCIL.format(variant="cpu_free"), tmp_path)]
    seen = find_spec("starling._starling_checked") is not None
    for options, threads in ((["--seeds", "5", "--threads", "3"], 3), (["--seeds", "24"], 32)):  # 32: as a seed says
        done = command(*options, *words)
        assert done.returncode == 0, done.stderr
        assert f"blocks of up to {threads if seen else 1} threads" in done.stderr.replace("\n", " ")
    with pytest.raises(errors.ArgumentError, match="threads"):
        starling.check(lambda m: None, threads=1025)


def test_error_keeps_its_data() -> None:
    e = errors.CheckError("text", "deadlock", 7, [{"pe": 0}])
    assert isinstance(e, RuntimeError)
    again = pickle.loads(pickle.dumps(e))
    assert (str(again), again.kind, again.seed, again.blocks) == ("text", "deadlock", 7, [{"pe": 0}])


def test_command_that_runs_nothing() -> None:
    done = command("--", sys.executable, "-c", "pass")
    assert done.returncode == 1
    assert "nothing was checked" in " ".join(done.stderr.split())  # lines are wrapped


def test_exit_code_of_the_command_is_passed_on(tmp_path: Path) -> None:
    text = STENCIL.format(variant="cpu_free") + "raise SystemExit(5)"
    assert command("--seeds", "2", "--", sys.executable, script(text, tmp_path)).returncode == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seed", "1", "--seeds", "2", "--", "true"], "give one"),
        (["--seeds", "0", "--", "true"], "seeds = 0"),
        (["--devices", "-1", "--", "true"], "devices = -1"),
        (["--", "no_such_program_here"], "cannot be run"),
    ],
)
def test_wrong_use(words: list[str], said: str) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert said in done.stderr


def test_totals_add_runs() -> None:
    counts = {"programs": 1, "schedules": 10, "calls": 1, "deliveries": 2, "seconds": 0.5}
    entry = {**counts, "accesses_seen": True, "threads_seen": 3}
    assert totals([entry, entry, {**entry, "schedules": 7, "accesses_seen": False, "threads_seen": 1}]) == {
        "programs": 3,
        "schedules": 27,
        "calls": 3,
        "deliveries": 6,
        "seconds": 1.5,
        "accesses_seen": False,
        "threads_seen": 3,
    }
    assert totals([entry, entry])["accesses_seen"] is True
