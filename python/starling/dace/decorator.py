"""The decorator, and what it makes of a function."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from starling import machine as machines
from starling._arguments import finite_number, whole_number
from starling.dace.arguments import check_arguments, scalar_value
from starling.dace.compile import Compiled, compile_program
from starling.dace.emit.kernel import MOST_THREADS
from starling.dace.explain import Explanation
from starling.dace.exponents import check_exponents
from starling.dace.frontend.source import place_of
from starling.dace.grid import grid_of
from starling.dace.program_error import Place, ProgramError
from starling.dace.run import Placed
from starling.errors import Unsupported
from starling.machine import Machine

__all__ = ["Program", "Report", "Run", "program"]

CONTROLS = ("device", "stream", "call")
MOST_VERSIONS = 16  # of a program that are kept, for numbers from outside that change


@dataclass(frozen=True)
class Report:
    """How a call went.

    Attributes:
        seconds: Time in the program, all PEs, without copies of its arguments.
        machine: What it ran on.
        grid: PEs along each axis that they share.
        blocks, threads: Of each PE, and of each block.
        control: Who ran the time loop.
        explanation: What the program became, for the sizes of the call.
    """

    seconds: float
    machine: str
    grid: tuple[int, ...]
    blocks: int
    threads: int
    control: str
    explanation: Explanation


class Run:
    """A program whose arrays stay on the devices between calls; made by :meth:`Program.on`."""

    def __init__(self, program: Program, placed: Placed) -> None:
        self._program = program
        self._placed = placed

    def __call__(self, *, deadline: float = 0.0, **scalars: float) -> None:
        """Runs it once.

        Args:
            deadline: Seconds that a wait may last; 0: those of the machine.
            scalars: All arguments that are no arrays, by name.

        Raises:
            ProgramError: A scalar is missing or unknown, or has no such value.
            StallError: A wait has passed its deadline.
        """
        p = self._placed.compiled.program
        self._program._names(set(scalars), set(p.scalars), "scalar")
        values = check_scalars(self._placed, scalars)
        self._placed.run(values, finite_number("deadline", deadline, least=0.0))
        self._placed.raise_stopped()

    @property
    def blocks(self) -> int:
        """Of each PE."""
        return self._placed.blocks

    @property
    def threads(self) -> int:
        """Of each block, on GPUs."""
        return self._placed.threads

    def store(self) -> None:
        """Copies what the program writes into the arrays that :meth:`Program.on` was given."""
        self._placed.store()


def check_scalars(placed: Placed, scalars: dict[str, Any]) -> dict[str, int | float]:
    """Scalars of a run, as numbers."""
    p = placed.compiled.program
    return {n: scalar_value(n, scalars[n], p, Place(p.file, p.line)) for n in p.scalars}


class Program:
    """A Python function that is compiled to one persistent kernel for every PE."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._compiled: dict[tuple[tuple[str, str], ...], list[Compiled]] = {}
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<starling.dace.program {self.function.__qualname__}>"

    def __call__(
        self,
        *arguments: Any,
        machine: Machine | str | None = None,
        devices: int | None = None,
        grid: Sequence[int] | None = None,
        blocks: int | None = None,
        threads: int | None = None,
        control: str = "device",
        packet_bytes: int | None = None,
        deadline: float = 0.0,
        report: bool = False,
        **named: Any,
    ) -> Report | None:
        """Runs it once, in place: arrays that it writes hold the result afterwards.

        Args:
            arguments: The arguments of the function. Arrays are C-contiguous NumPy arrays of the types and shapes of
                the annotations: whole ones, or for a program that communicates itself a list with one for each PE.
            machine: Where it runs: a machine, or the name of its kind, ``"host"``, ``"cuda"`` or ``"auto"``. None: as
                ``"auto"``.
            devices: How many PEs there are. None: all of `machine`; of a kind as many as a list of parts has, else
                those that :func:`starling.machine.named` takes.
            grid: Rows and columns of PEs, ``(2, 2)``, where arrays are split along two axes or neighbours are named
                along two. None: as many rows as columns, or the fewest more.
            blocks: Of each PE; fewer are used where there are fewer layers. None: 1 on virtual devices, on GPUs
                as many as fit.
            threads: Of each block, on GPUs, at most 1024. None: 512.
            control: Who runs the time loop. ``"device"``: one kernel on every PE does. ``"stream"``: the host, which
                launches a kernel for each loop over elements in a stream of each PE, orders PEs by events, and waits
                only for numbers that it needs. ``"call"``: the host, which waits for each launch and each copy.
            packet_bytes: Up to so many bytes what a PE puts travels as packets, with ``"device"``. None: 16384 on GPUs,
                2048 where PEs share one, 0 on virtual devices.
            deadline: Seconds that a wait may last; 0: those of the machine.
            report: Whether to return a :class:`Report`.
            named: Arguments by name.

        Raises:
            ArgumentError: There is no such machine, or it has another number of devices.
            ProgramError: The program is outside of the language, or an argument is not what it wants.
            StallError: A wait has passed its deadline.
            Unsupported: There is no C++ compiler, or no nvcc for GPUs.
        """
        given = self._bind(arguments, named)
        missing = [n for n in self._parameters() if n not in given]
        if missing:
            raise ProgramError.at(place_of(self.function), missing[0], "is missing")
        m = _machine(machine, devices, given)
        placed = self._place(m, given, grid, blocks, threads, control, packet_bytes)
        begin = time.perf_counter()
        placed.run(placed.arguments.scalars, finite_number("deadline", deadline, least=0.0))
        seconds = time.perf_counter() - begin
        placed.store()
        placed.raise_stopped()
        if not report:
            return None
        explanation = placed.compiled.explained(control, placed.packets)
        return Report(seconds, m.summary, placed.layout.grid, placed.blocks, placed.threads, control, explanation)

    def on(
        self,
        machine: Machine | str | None,
        *arguments: Any,
        devices: int | None = None,
        grid: Sequence[int] | None = None,
        blocks: int | None = None,
        threads: int | None = None,
        control: str = "device",
        packet_bytes: int | None = None,
        **named: Any,
    ) -> Run:
        """Puts the arrays on the devices of a machine, where they stay between runs.

        Args:
            machine: Where it runs, as for a call. It may be closed before the run ends.
            arguments: The arrays of the program, in order, without its scalars.
            devices, grid, blocks, threads, control, packet_bytes: As for a call.
            named: Arrays by name.

        Raises:
            ArgumentError, ProgramError: As for a call.
        """
        p = self.compiled().program
        arrays = [n for n in p.order if n in p.arrays]
        if len(arguments) > len(arrays):
            raise ProgramError.at(place_of(self.function), p.name, f"has {len(arrays)} arrays, not {len(arguments)}")
        given = {**dict(zip(arrays, arguments, strict=False)), **named}
        self._names(set(given), set(arrays), "array")
        m = _machine(machine, devices, given)
        return Run(self, self._place(m, given, grid, blocks, threads, control, packet_bytes))

    def explain(self, *_: Any, control: str = "device", **__: Any) -> Explanation:
        """What the program became: phases, barriers, puts, waits, credits, exchanges, and its source.

        Takes the arguments of a call, of which `control` alone changes something: a program is compiled once for all
        sizes and devices.

        Raises:
            ProgramError: The program is outside of the language, or there is no such control.
        """
        self._check_control(control)
        return self.compiled().explained(control)

    def compiled(self, numbers: Mapping[str, str] | None = None) -> Compiled:
        """The program after all passes; compiled again when something that it takes from outside has changed.

        Args:
            numbers: The types of arguments that are numbers of NumPy. All others are Python's own.
        """
        types = dict(numbers or {})
        known = self._compiled.setdefault(tuple(sorted(types.items())), [])
        for made in known:
            if made.holds():
                return made
        known.insert(0, compile_program(self.function, types))
        del known[MOST_VERSIONS:]
        return known[0]

    def _parameters(self) -> list[str]:
        return list(inspect.signature(self.function).parameters)

    def _bind(self, arguments: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        names = self._parameters()
        place = place_of(self.function)
        if len(arguments) > len(names):
            raise ProgramError.at(place, self.function.__name__, f"has {len(names)} arguments, not {len(arguments)}")
        given = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name not in names or name in given:
                raise ProgramError.at(place, name, "is given twice" if name in given else "is no argument")
            given[name] = value
        return given

    def _names(self, given: set[str], wanted: set[str], what: str) -> None:
        place = place_of(self.function)
        for name in sorted(given - wanted):
            raise ProgramError.at(place, name, f"is no {what} of the program")
        for name in sorted(wanted - given):
            raise ProgramError.at(place, name, f"is missing; give every {what}")

    def _check_control(self, control: str) -> None:
        if control not in CONTROLS:
            wanted = f"= {control!r}; must be one of {', '.join(CONTROLS)}"
            raise ProgramError.at(place_of(self.function), "control", wanted)

    def _place(
        self,
        m: Machine,
        given: dict[str, Any],
        grid: Sequence[int] | None,
        blocks: int | None,
        threads: int | None,
        control: str,
        packet_bytes: int | None,
    ) -> Placed:
        self._check_control(control)
        types = {n: str(v.dtype) for n, v in given.items() if isinstance(v, np.generic)}
        for name, dtype in types.items():
            if dtype not in ("int32", "int64", "float32", "float64"):
                raise ProgramError.at(
                    place_of(self.function),
                    name,
                    f"is a {dtype} of NumPy; pass int32, int64, float32, float64 or a number of Python",
                )
        compiled = self.compiled(types)
        if m.processes > 1:
            raise Unsupported("programs of starling.dace run in one process; pass machine=starling.machine.host(n)")
        arguments = check_arguments(compiled.program, given, m.size)
        check_exponents(compiled.exponents, arguments)
        return Placed(
            compiled,
            m,
            arguments,
            grid_of(compiled.program, grid, m.size),
            blocks=None if blocks is None else whole_number("blocks", blocks),
            threads=None if threads is None else whole_number("threads", threads, most=MOST_THREADS),
            control=control,
            packet_bytes=None if packet_bytes is None else whole_number("packet_bytes", packet_bytes, least=0),
        )


def _machine(machine: Machine | str | None, devices: int | None, given: dict[str, Any]) -> Machine:
    """The machine of a call, open until what is made on it is gone."""
    parts = [len(v) for v in given.values() if isinstance(v, (list, tuple))]
    if devices is None and parts and not isinstance(machine, Machine):
        devices = parts[0]
    return machines.of(machine, devices)


def program(function: Callable[..., Any]) -> Program:
    """Compiles a function, whose arguments are annotated with types of DaCe, at its first call.

    Source: CPU-free execution, 5.

    Raises:
        ProgramError: It is no function.
    """
    if not inspect.isfunction(function):
        raise ProgramError(f"program: {function!r} is no function; use @program on a function", node="program")
    _evaluate_annotations(function, sys._getframe(1).f_locals)
    return Program(function)


def _evaluate_annotations(function: Callable[..., Any], names: dict[str, Any]) -> None:
    """Annotations that are text mean what they mean where the function stands; those without a meaning stay text."""
    for name, hint in function.__annotations__.items():
        if isinstance(hint, str):
            with contextlib.suppress(Exception):
                function.__annotations__[name] = eval(hint, function.__globals__, names)
