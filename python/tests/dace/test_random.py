"""Random programs against NumPy, and in check mode."""

from __future__ import annotations

import os
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

from dace_random import RandomProgram, features, random_program
from dace_random.constructs import CONSTRUCTS
from dace_random.running import examine, program_of, quick_compiler, repeats, source_of
from starling.dace import Program, ProgramError
from starling.dace.build import compiler as building
from starling.dace.build.cache import built
from starling.dace.run import builder
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
# Here the same in each run, so that a failure is that of a change; random_sweep.py and `make test-all` draw new ones.
FIRST = int(os.environ.get("STARLING_DACE_SEED", "1"))
PROGRAMS = int(os.environ.get("STARLING_DACE_PROGRAMS", "100" if COMPLETE else "20"))
TOGETHER = 20  # programs that are compiled at the same time
FEW = 3  # programs that may be refused, however few there are
Devices = Callable[[int], Machine]


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs are compiled with the headers read once, without the optimisations that take long, and not kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(building, "FLAGS", building.FLAGS)  # which quick_compiler changes
    monkeypatch.setattr("starling.dace.run.compiler", quick_compiler(tmp_path, optimised=False))


def compiled(first: int, folder: Path, m: Machine, refused: list[str]) -> Iterator[tuple[int, RandomProgram, Program]]:
    """Programs from a seed on that are in the subset, compiled; the others are refused."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for begin in range(first, first + PROGRAMS, TOGETHER):
            ready = []
            for seed in range(begin, min(begin + TOGETHER, first + PROGRAMS)):
                made = random_program(seed)
                place = folder / str(seed)
                place.mkdir()
                program = program_of(made, place)
                try:
                    source = source_of(program, seed)
                except ProgramError as problem:
                    refused.append(f"{seed}: {problem}\n{made.text}")
                except Exception:
                    fail(seed, made)
                else:
                    ready.append((seed, made, program, pool.submit(built, source, builder(m))))
            for seed, made, program, done in ready:
                if done.exception() is not None:
                    fail(seed, made, str(done.exception()))
                yield seed, made, program


def fail(seed: int, made: RandomProgram, why: str = "") -> None:
    """Fails with a program, and with the exception that is handled."""
    pytest.fail(f"{repeats(seed)}\n{made.text}\n{why or traceback.format_exc()}", pytrace=False)


@pytest.mark.usefixtures("quickly")
@pytest.mark.timeout(36000)
def test_random_programs(tmp_path: Path, devices: Devices) -> None:
    refused: list[str] = []
    for seed, made, program in compiled(FIRST, tmp_path, devices(1), refused):
        try:
            examine(made, program, devices, seed, complete=COMPLETE)
        except ProgramError as problem:
            refused.append(f"{seed}: {problem}\n{made.text}")
        except Exception:
            fail(seed, made)
    assert len(refused) <= PROGRAMS // 10 + FEW, "\n".join([f"{len(refused)} of {PROGRAMS} are refused", *refused])


def test_a_seed_means_a_program() -> None:
    programs = [random_program(seed) for seed in range(400)]
    assert programs == [random_program(seed) for seed in range(400)]
    texts = [made.text for made in programs]
    assert len(set(texts)) == len(texts)
    missing = [name for name, pattern in CONSTRUCTS.items() if not any(re.search(pattern, t) for t in texts)]
    assert missing == []
    made = Counter(name for program in programs for name in set(program.features))
    assert [f.name for f in features() if made[f.name] == 0] == []
    lines = sorted(text.split("def made")[1].count("\n") - 1 for text in texts)
    assert lines[0] >= 5
    assert lines[len(lines) * 9 // 10] <= 35


def test_programs_are_plain_numpy() -> None:
    """They end as they say, and no number grows too large to be compared."""
    ended: Counter[str] = Counter()
    for seed in range(300):
        made = random_program(seed)
        arrays, k = made.inputs(np.random.default_rng(seed))
        for _ in range(2):
            try:
                with np.errstate(all="raise", under="ignore"):
                    made.plain()(*arrays, k)
            except Exception as raised:
                if str(raised) not in made.messages:
                    fail(seed, made)
                ended[type(raised).__name__] += 1
        for a in arrays:
            largest = float(np.abs(a.astype("float64")).max())
            assert largest < 1e16, f"{repeats(seed)}\n{made.text}"
    assert {"AssertionError", "ValueError"} <= set(ended)
