"""Random statements with all kinds of indices, compiled, beside the same ones carried out one by one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import starling
from dace_interpreter import interpret
from dace_made import compiled, placed
from dace_random.running import quick_compiler
from dace_random_statements import random_inputs, random_statements
from starling.dace import ProgramError
from starling.dace.build import compiler as building
from starling.machine import Machine

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
SEED = os.environ.get("STARLING_DACE_SEED")
PROGRAMS = int(os.environ.get("STARLING_DACE_PROGRAMS", "60" if COMPLETE else "5"))
PLACES = {False: ((1, 1), (1, 2), (1, 3)), True: ((1, 1), (1, 3), (2, 2), (3, 1))}  # PEs and blocks, for split arrays
ALL_PACKETS = 1 << 18
CHECKED_EVERY = 10
SEEDS = 10
Devices = Callable[[int], Machine]


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(building, "FLAGS", building.FLAGS)  # which quick_compiler changes
    monkeypatch.setattr("starling.dace.run.compiler", quick_compiler(tmp_path, optimised=False))


def run_beside_interpreter(seed: int, devices: Devices) -> bool:
    """False: the program is refused."""
    split = seed % 2 == 1
    given = random_inputs(seed)
    want = {n: a.copy() for n, a in given.items()}
    found = interpret(random_statements(seed, split), want)
    try:
        c = compiled(random_statements(seed, split))
    except ProgramError:
        return False

    def run(m: Machine, blocks: int, control: str = "device") -> None:
        have = {n: a.copy() for n, a in given.items()}
        kept = placed(c, m, have, blocks=blocks, control=control, packet_bytes=ALL_PACKETS if seed % 4 == 1 else 0)
        kept.run({})
        kept.store()
        for n, a in have.items():
            np.testing.assert_array_equal(a, want[n], err_msg=f"STARLING_DACE_SEED={seed} {m.size} {blocks} {n}")
        assert (kept.stopped is None) == (found.number == 0)

    for pes, blocks in PLACES[split]:
        run(devices(pes), blocks)
    pes, blocks = PLACES[split][-2]
    if COMPLETE:
        for control in ("stream", "call"):
            run(devices(pes), blocks, control)
    if COMPLETE and seed % CHECKED_EVERY == 0:
        assert starling.check(lambda m: run(m, blocks), devices=pes, seeds=SEEDS).accesses_seen
    return True


@pytest.mark.usefixtures("quickly")
@pytest.mark.timeout(36000)
def test_random_statements(devices: Devices) -> None:
    first = int(SEED) if SEED else secrets.randbits(30)
    print(f"STARLING_DACE_SEED={first} STARLING_DACE_PROGRAMS={PROGRAMS}")
    refused = [s for s in range(first, first + PROGRAMS) if not run_beside_interpreter(s, devices)]
    assert len(refused) <= PROGRAMS // 4 + 1, refused
