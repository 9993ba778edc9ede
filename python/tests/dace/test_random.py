"""Random programs against NumPy, and in check mode."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import math
import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import starling
from dace_random_programs import RandomProgram, random_program
from starling.dace import Program, ProgramError
from starling.dace.build import compiler as building
from starling.dace.build import sources
from starling.dace.build.cache import built
from starling.dace.emit.communication import packet_channels
from starling.dace.emit.kernel import USUAL_THREADS
from starling.dace.run import builder
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
SEED = os.environ.get("STARLING_DACE_SEED")
PROGRAMS = int(os.environ.get("STARLING_DACE_PROGRAMS", "40" if COMPLETE else "20"))
TOGETHER = 20  # programs that are compiled at the same time
CHECKED_EVERY = 10  # one of so many is compiled again for check mode, which takes longer than all else
HOSTED_EVERY = 5  # one of so many is compiled again with its time loop on the host
AGAIN_EVERY = 3  # one of so many runs twice, with its arrays on the devices
SEEDS = 40
Devices = Callable[[int], Machine]


@pytest.fixture
def quick_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs are compiled with the headers read once, without the optimisations that take long, and not kept.

    Their maps go in vectors and in several rows, as on GPUs. Check mode sees them element by element.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if not COMPLETE:
        monkeypatch.setattr(building, "FLAGS", (*building.FLAGS, "-O1"))
    found = building.compiler(False)
    header = "starling/program/kernel.hpp"
    compiled = tmp_path / "headers" / f"{header}.gch"
    compiled.parent.mkdir(parents=True)
    folders = [f"-I{found.folders[0]}", *(f"-isystem{f}" for f in found.folders[1:])]
    command = (*found.command, "-DSTARLING_MAPS_IN_STEPS")
    sources.run([*command, *building.FLAGS, *folders, "-x", "c++-header", str(found.folders[0] / header),
                 "-o", str(compiled)])  # fmt: skip
    ready = dataclasses.replace(found, command=command, folders=(tmp_path / "headers", *found.folders))
    monkeypatch.setattr("starling.dace.run.compiler", lambda checked: building.compiler(checked) if checked else ready)


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


def packet_bytes(seed: int) -> int:
    """Up to which layers of the program travel as packets: of every second one all, where PEs have neighbours."""
    return 1 << 18 if seed % 2 else 0


def run_beside_numpy(
    made: RandomProgram, program: Program, m: Machine, grid: Any, blocks: int, seed: int, control: str = "device"
) -> None:
    arguments = made.inputs(np.random.default_rng(seed))
    arrays, k = arguments[:-1], arguments[-1]
    want = [a.copy() for a in arrays]
    run = program.on(m, *arrays, grid=grid, blocks=blocks, control=control, packet_bytes=packet_bytes(seed))
    for _ in range(2 if seed % AGAIN_EVERY == 0 and not made.sums_used else 1):
        program.function(*want, k)
        run(k=k)
    run.store()
    *fields, s, _ = zip(arrays, want, strict=True)
    epsilon = 0.0 if made.dtype.startswith("int") else float(np.finfo(made.dtype).eps)
    for have, wanted in fields:
        if made.sums_used:
            np.testing.assert_allclose(have, wanted, rtol=1e6 * epsilon, atol=1e5 * epsilon)
        else:
            np.testing.assert_array_equal(have, wanted)
    elements = fields[0][1].size
    scale = max([1.0, *(float(np.abs(wanted).max()) for _, wanted in fields)]) if made.summed else 0.0
    slack = (1e5 if made.sums_used else 1.0) * elements * epsilon * scale**2
    np.testing.assert_allclose(s[0], s[1], rtol=0, atol=slack)


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
                    whole = program.compiled()
                    packets = packet_channels(whole.program) if packet_bytes(seed) else ()
                    source = whole.source_for(USUAL_THREADS, frozenset(packets))
                except ProgramError as problem:
                    refused.append(f"{seed}: {problem}\n{made.text}")
                    continue
                ready.append((seed, made, program, pool.submit(built, source, builder(m))))
            for seed, made, program, done in ready:
                done.result()
                yield seed, made, program


@pytest.mark.usefixtures("quick_compiler")
@pytest.mark.timeout(36000)
def test_random_programs(tmp_path: Path, devices: Devices) -> None:
    first = int(SEED) if SEED else secrets.randbits(30)
    refused: list[str] = []
    for seed, made, program in compiled(first, tmp_path, devices(1), refused):
        print(f"STARLING_DACE_SEED={seed} STARLING_DACE_PROGRAMS=1\n{made.text}")
        for grid, blocks in made.grids:
            if packet_bytes(seed) == 0 or math.prod(grid) > 1:
                run_beside_numpy(made, program, devices(math.prod(grid)), grid, blocks, seed)
        if COMPLETE and seed % HOSTED_EVERY == 0:
            for control, (grid, blocks) in itertools.product(("stream", "call"), made.grids):
                run_beside_numpy(made, program, devices(math.prod(grid)), grid, blocks, seed, control)
        if COMPLETE and seed % CHECKED_EVERY == 0:
            grid, blocks = made.grids[-2]
            run = lambda m: run_beside_numpy(made, program, m, grid, blocks, seed)  # noqa: E731, B023
            assert starling.check(run, devices=math.prod(grid), seeds=SEEDS).accesses_seen
    assert len(refused) <= PROGRAMS // 10, "\n".join(refused)


def test_a_seed_means_a_program() -> None:
    texts = [random_program(seed).text for seed in range(200)]
    assert texts == [random_program(seed).text for seed in range(200)]
    assert len(set(texts)) == 200
    for words in ("np.where", "np.sum", "np.max", "if ", "else:", "+=", "for u0", "], 1)", "], (1, 0))", "[K, M, N]",
                  "while", "inner(", "zeros_like", "::2]", "x0 =", "int32", "float32", "elif", ", -1)"):  # fmt: skip
        assert any(words in text for text in texts), words
