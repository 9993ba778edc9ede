"""Random programs on a machine, beside NumPy: what the tests and the sweep by hand share."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import starling
from dace_random.program import Grid, RandomProgram
from starling import errors
from starling.dace import Program
from starling.dace.build import compiler as building
from starling.dace.build import sources
from starling.dace.build.compiler import Compiler
from starling.dace.emit.communication import packet_channels
from starling.dace.emit.kernel import USUAL_THREADS
from starling.machine import Machine

__all__ = ["examine", "program_of", "quick_compiler", "repeats", "source_of"]

CHECKED_EVERY = 10  # one of so many is compiled again for check mode, which takes longer than all else
HOSTED_EVERY = 5  # one of so many is compiled again with its time loop on the host
AGAIN_EVERY = 3  # one of so many runs twice, with its arrays on the devices; the next one is called
SCHEDULES = 40
Devices = Callable[[int], Machine]


def quick_compiler(folder: Path, *, optimised: bool) -> Callable[[bool], Compiler]:
    """What stands for the function that finds the compiler of virtual devices: one that has read the headers once.

    Maps go in vectors and in several rows, as on GPUs; check mode sees them element by element.
    """
    if not optimised:
        setattr(building, "FLAGS", (*building.FLAGS, "-O1"))  # noqa: B010
    found = building.compiler(False)
    header = "starling/program/kernel.hpp"
    compiled = folder / "headers" / f"{header}.gch"
    compiled.parent.mkdir(parents=True)
    folders = [f"-I{found.folders[0]}", *(f"-isystem{f}" for f in found.folders[1:])]
    command = (*found.command, "-DSTARLING_MAPS_IN_STEPS")
    sources.run([*command, *building.FLAGS, *folders, "-x", "c++-header", str(found.folders[0] / header),
                 "-o", str(compiled)])  # fmt: skip
    ready = dataclasses.replace(found, command=command, folders=(folder / "headers", *found.folders))
    return lambda checked: building.compiler(checked) if checked else ready


def repeats(seed: int) -> str:
    """How to repeat the test of a seed."""
    return f"STARLING_DACE_SEED={seed} STARLING_DACE_PROGRAMS=1"


def program_of(made: RandomProgram, folder: Path) -> Program:
    """The program, whose text is in a file of a folder."""
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


def source_of(program: Program, seed: int) -> str:
    """What the program becomes.

    Raises:
        ProgramError: It is refused.
    """
    compiled = program.compiled()
    packets = packet_channels(compiled.program) if packet_bytes(seed) else ()
    return compiled.source_for(USUAL_THREADS, frozenset(packets))


def _outcome(call: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[str, str] | None:
    """The exception of a program, by type and text; None where it ends as others do. Of an index that is too large the
    text is that which NumPy's and the program's have in common.

    Raises:
        Error: It is the compiler's or the machine's.
    """
    try:
        with np.errstate(all="ignore"):
            call(*arguments, **named)
    except errors.Error:
        raise
    except Exception as raised:
        beyond = re.search(r"out of bounds for axis \d+", str(raised))
        return type(raised).__name__, beyond[0] if beyond else str(raised)
    return None


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Says of a difference where it was seen."""
    try:
        yield
    except AssertionError as problem:
        raise AssertionError(f"{what}: {problem}") from problem


def beside_numpy(
    made: RandomProgram, program: Program, m: Machine, grid: Grid, blocks: int, seed: int, control: str = "device"
) -> None:
    """Runs the program and plain Python on the same arrays, once or twice; compares how they end and what they leave.

    Raises:
        AssertionError: They differ.
        ProgramError: The call is refused.
    """
    have, k = made.inputs(np.random.default_rng(seed))
    want, plain = [a.copy() for a in have], made.plain()
    options: dict[str, Any] = {"grid": grid, "blocks": blocks, "control": control, "packet_bytes": packet_bytes(seed)}
    if seed % AGAIN_EVERY == 1:
        wanted = _outcome(plain, *want, k)
        ended = _outcome(program, *have, k, machine=m, **options)
        assert ended == wanted, f"ends by {ended}, not {wanted}"
    else:
        run = program.on(m, *have, **options)
        for _ in range(2 if seed % AGAIN_EVERY == 0 and not made.sums_used else 1):
            wanted = _outcome(plain, *want, k)
            ended = _outcome(run, **{made.number: k})
            assert ended == wanted, f"ends by {ended}, not {wanted}"
        run.store()
    made.compare(have, want)


def examine(made: RandomProgram, program: Program, devices: Devices, seed: int, *, complete: bool) -> None:
    """Runs a program on grids of all shapes; some seeds also with the time loop on the host, and, where it is to be
    complete, in check mode.

    Raises:
        AssertionError: A result is not NumPy's.
        ProgramError: A call is refused.
        StallError: A wait has passed its deadline.
    """
    for grid, blocks in made.grids:
        if packet_bytes(seed) == 0 or math.prod(grid) > 1:
            with _named(f"{grid} x {blocks}"):
                beside_numpy(made, program, devices(math.prod(grid)), grid, blocks, seed)
    if seed % HOSTED_EVERY == 0:
        for control in ("stream", "call"):
            for grid, blocks in made.grids if complete else made.grids[1:2]:
                with _named(f"{grid} x {blocks}, control={control!r}"):
                    beside_numpy(made, program, devices(math.prod(grid)), grid, blocks, seed, control)
    if complete and seed % CHECKED_EVERY == 0:
        grid, blocks = made.grids[-2]
        with _named(f"{grid} x {blocks}, check mode"):
            run = lambda m: beside_numpy(made, program, m, grid, blocks, seed)  # noqa: E731
            assert starling.check(run, devices=math.prod(grid), seeds=SCHEDULES).accesses_seen
