"""Directed programs: each gives what its plain function gives, or raises that, or is refused with the table's words."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import starling.dace as sd
from dace_random.running import quick_compiler
from starling import machine
from starling.dace import run as running
from starling.dace.build import compiler as building

sys.path.insert(0, str(Path(__file__).parent))

from directed import PROGRAMS, Directed, arrays_of, bits

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
# One of so many programs is run; STARLING_TEST_DIRECTED=all: every one.
STEP = 1 if os.environ.get("STARLING_TEST_DIRECTED") == "all" else 4 if COMPLETE else 10
MACHINES = ((1, 1), (1, 3), (2, 2), (3, 1), (4, 2))  # PEs, and blocks of each
HOSTED = ((2, 2), (3, 1))

RECORDS = {
    (record["program"], record["seed"]): record
    for record in json.loads((Path(__file__).parent / "directed/values.json").read_text())
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Programs are compiled with the headers read once, without the optimisations that take long, and not kept."""
    folder = tmp_path_factory.mktemp("directed")
    before, flags = running.compiler, building.FLAGS
    setattr(running, "compiler", quick_compiler(folder, optimised=False))  # noqa: B010
    yield folder
    setattr(running, "compiler", before)  # noqa: B010
    setattr(building, "FLAGS", flags)  # noqa: B010


@pytest.fixture(autouse=True)
def compiled_quickly(quick: Path, programs_in_build_folder: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(quick))


def named(programs: list[Directed]) -> list[Any]:
    """With those of which it is known what is wrong as failures that are expected: no longer failing is a failure."""
    found = []
    for one in programs:
        kind = sd.ProgramError if one.known.startswith("refused") else AssertionError
        marks = [pytest.mark.xfail(reason=one.known, raises=kind, strict=True)] if one.known else []
        found.append(pytest.param(one, id=one.name, marks=marks))
    return found


TAKEN = [program for program in PROGRAMS if not program.refused]
REFUSED = [program for program in PROGRAMS if program.refused]


def equal(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], rounded: bool) -> bool:
    if rounded and wanted.dtype.kind == "f":
        size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
        return bool(np.allclose(found, wanted, rtol=1e-12, atol=1e-14 * size, equal_nan=True))
    return bits(found) == bits(wanted)


def run(directed: Directed, case: int, pes: int, blocks: int, control: str) -> tuple[list[Any], BaseException | None]:
    """The arrays after the compiled program, and what it raised."""
    arguments = directed.arguments(case)
    try:
        directed.program(*arguments, machine=machine.host(pes), blocks=blocks, control=control)
    except Exception as error:
        return arrays_of(arguments), error
    return arrays_of(arguments), None


def check(directed: Directed, case: int, pes: int, blocks: int, control: str) -> None:
    wanted, raised = directed.under_numpy(case)
    found, error = run(directed, case, pes, blocks, control)
    where = f"{directed.name}, size {directed.sizes[case]}, {pes} PEs, {blocks} blocks, {control}"
    if isinstance(error, sd.ProgramError):
        if raised is not None or (pes > 1 and "use fewer devices" in str(error)):
            return
        raise error
    assert type(error) is type(raised), f"{where}: raises {error!r} for {raised!r}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert equal(one, other, directed.rounded), f"{where}: array {number} is {one} for {other}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("directed", named(TAKEN[::STEP]))
def test_program_gives_numpys_values(directed: Directed) -> None:
    for pes, blocks in MACHINES:
        for case in range(len(directed.sizes)):
            check(directed, case, pes, blocks, "device")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("control", ["stream", "call"])
@pytest.mark.parametrize("directed", named([one for one in TAKEN[:: 4 * STEP] if not one.known]))
def test_program_gives_numpys_values_from_the_host(directed: Directed, control: str) -> None:
    for pes, blocks in HOSTED:
        for case in range(len(directed.sizes)):
            check(directed, case, pes, blocks, control)


@pytest.mark.parametrize("directed", named(REFUSED[::STEP]))
def test_program_is_refused(directed: Directed) -> None:
    errors = [run(directed, case, 2, 2, "device")[1] for case in range(len(directed.sizes))]
    refusals = [error for error in errors if isinstance(error, sd.ProgramError)]
    assert refusals, f"{directed.name} is taken"
    for refusal in refusals:
        assert directed.refused in str(refusal)
        assert refusal.line > 0
    for case, error in enumerate(errors):
        if not isinstance(error, sd.ProgramError):  # its arguments make no difference
            check(directed, case, 2, 2, "device")


@pytest.mark.parametrize("directed", [pytest.param(one, id=one.name) for one in PROGRAMS[::STEP]])
def test_numpy_still_gives_the_kept_values(directed: Directed) -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("types of results are those of NumPy 2")
    for case in range(len(directed.sizes)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = directed.record(case)
        wanted = RECORDS[directed.name, case]
        if "sums" in wanted:
            np.testing.assert_allclose(found.pop("sums"), wanted["sums"], rtol=1e-9, atol=1e-9)
        assert found.get("raises") == wanted.get("raises")
        assert found.get("sha256") == wanted.get("sha256")


def test_kept_values_are_those_of_the_programs() -> None:
    assert set(RECORDS) == {(one.name, case) for one in PROGRAMS for case in range(len(one.sizes))}
    assert len({one.name for one in PROGRAMS}) == len(PROGRAMS)
