"""Random programs against NumPy, and in check mode."""

from __future__ import annotations

import importlib.util
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import starling
from dace_random_programs import RandomProgram, random_program
from starling.dace import Program, ProgramError
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
# Each takes some three seconds, most of them for the compilers.
PROGRAMS = int(os.environ.get("STARLING_DACE_PROGRAMS", "25"))
SHAPES = ((1, 2), (2, 3), (3, 1), (4, 2))
Devices = Callable[[int], Machine]
CHECKED_SHAPE = (3, 2)
SEEDS = 40


def program_of(made: RandomProgram, folder: Path) -> Program:
    path = folder / "made.py"
    path.write_text(made.text)
    spec = importlib.util.spec_from_file_location("made", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program = module.made
    assert isinstance(program, Program)
    return program


def run_beside_numpy(made: RandomProgram, program: Program, m: Machine, blocks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (23,) if made.rank == 1 else ((23, 9) if made.axis == 0 else (9, 23))
    arrays: list[Any] = [2 * rng.random(shape) - 1 for _ in range(made.arrays)] + [np.zeros(2)]
    want = [a.copy() for a in arrays]
    k = int(rng.integers(6))
    program.function(*want, k)
    program(*arrays, k, machine=m, blocks=blocks)
    for have, wanted in zip(arrays, want, strict=True):
        if made.summed:
            np.testing.assert_allclose(have, wanted, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(have, wanted)


@pytest.mark.skipif(not COMPLETE, reason="compiles many programs: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.timeout(36000)
def test_random_programs(tmp_path: Path, devices: Devices) -> None:
    given = os.environ.get("STARLING_DACE_SEED")
    first = int(given) if given else secrets.randbits(30)
    refused: list[str] = []
    for seed in range(first, first + PROGRAMS):
        made = random_program(seed)
        print(f"STARLING_DACE_SEED={seed}\n{made.text}")
        folder = tmp_path / str(seed)
        folder.mkdir()
        program = program_of(made, folder)
        try:
            program.explain()
        except ProgramError as problem:
            refused.append(f"{seed}: {problem}")
            continue
        for pes, blocks in SHAPES:
            run_beside_numpy(made, program, devices(pes), blocks, seed)
        pes, blocks = CHECKED_SHAPE
        run = lambda m: run_beside_numpy(made, program, m, blocks, seed)  # noqa: E731, B023
        found = starling.check(run, devices=pes, seeds=SEEDS)
        assert found.accesses_seen
    assert len(refused) <= PROGRAMS // 10, refused


def test_a_seed_means_a_program() -> None:
    texts = [random_program(seed).text for seed in range(50)]
    assert texts == [random_program(seed).text for seed in range(50)]
    assert len(set(texts)) == 50
    for words in ("np.where", "np.sum", "np.max", "if ", "else:", "+=", "for u0", "], 1)"):
        assert any(words in text for text in texts), words
