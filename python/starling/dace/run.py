"""Runs a program on a machine: lays arrays out on the PEs, starts it there, brings arrays back."""

from __future__ import annotations

import atexit
import struct
from typing import Any

import numpy as np

from starling._native import native
from starling.dace.arguments import Arguments
from starling.dace.bounds import check_bounds
from starling.dace.build.cache import built
from starling.dace.build.compiler import compiler
from starling.dace.build.nvcc import nvcc
from starling.dace.build.sources import Builder
from starling.dace.compile import Compiled
from starling.dace.emit.communication import channels_of
from starling.dace.emit.hosted import Hosted
from starling.dace.emit.kernel import USUAL_THREADS
from starling.dace.grid import Grid
from starling.dace.ir import StopReason
from starling.dace.layout import Layout, most_blocks
from starling.dace.packets import most_packet_bytes, packet_slots, packets_on
from starling.dace.stops import exception_of
from starling.machine import Machine

__all__ = ["Placed", "load"]

_loaded: dict[str, Any] = {}
atexit.register(_loaded.clear)  # before the native module goes


def builder(machine: Machine) -> Builder:
    """What compiles programs for a machine.

    Raises:
        Unsupported: It is not there.
    """
    if machine.kind == "cuda":
        return nvcc(min(d.compute_capability for d in machine.devices))
    return compiler(bool(native.checking(machine)))


def load(source: str, how: Builder) -> Any:
    """The compiled program of a source, once a process."""
    path = str(built(source, how))
    if path not in _loaded:
        _loaded[path] = native.LoadedProgram(path, for_gpus=how.for_gpus)
    return _loaded[path]


def load_hosted(hosted: Hosted, how: Builder) -> Any:
    """A compiled program whose time loop the host runs, once a process: its phases, and what the host does."""
    path = str(built(hosted.source, how))
    if path not in _loaded:
        host_path = str(built(hosted.source, compiler(False))) if how.for_gpus else path
        _loaded[path] = native.HostedProgram(path, host_path, for_gpus=how.for_gpus, phases=hosted.phases)
    return _loaded[path]


class Placed:
    """A program and its arrays on the PEs of a machine."""

    def __init__(
        self,
        compiled: Compiled,
        machine: Machine,
        arguments: Arguments,
        grid: Grid,
        *,
        blocks: int | None,
        threads: int | None,
        control: str,
        packet_bytes: int | None,
    ) -> None:
        self.compiled = compiled
        self.machine = machine
        self.arguments = arguments
        self.control = control
        self.layout = Layout(compiled.program, arguments.sizes, grid)
        self.threads = USUAL_THREADS if threads is None else threads
        most = most_blocks(compiled.program, self.layout)
        how = builder(machine)
        if packet_bytes is None:
            packet_bytes = most_packet_bytes(machine)
        self.packets = packets_on(compiled.program, self.layout, packet_bytes)
        self.loaded = (
            load(compiled.source_for(self.threads, self.packets), how)
            if control == "device"
            else load_hosted(compiled.hosted_for(self.threads), how)
        )
        self.blocks = min(most, self._blocks_by_itself() if blocks is None else blocks)
        self._hosts = None if control == "device" else self._start_hosts()
        self.memories = {
            a.name: native.ProgramMemory(machine, self.layout.bytes_of(a)) for a in compiled.program.arrays.values()
        }
        p = compiled.program
        self.stopped: StopReason | None = None
        self._reasons = native.ProgramMemory(machine, 8) if p.raises else None  # the number of that on each PE
        self._pitches = [self.layout.memory_shape(p.arrays[alike[0]])[-1] for alike in p.pitches()]
        for name, parts in arguments.arrays.items():
            a = p.arrays[name]
            for pe in range(machine.size):
                for generation in [name, *([a.next] if a.next else [])]:
                    self.layout.store(a, self.memories[generation], pe, parts[pe if len(parts) > 1 else 0])
                if a.turn:
                    self.memories[a.turn].write(pe, 0, np.zeros(1, "int64"))

    def _blocks_by_itself(self) -> int:
        if self.machine.kind == "host":
            return 1
        layers = [self.layout.length(a.dealt[0]) for a in self.compiled.program.arrays.values()]
        return min(max([1, *layers]), int(self.loaded.blocks_that_fit(self.machine, self.threads)))

    def run(self, scalars: dict[str, int | float], deadline: float = 0.0) -> None:
        """Runs the program once on what the arrays hold. `stopped` says afterwards whether it came to its end."""
        self._check(scalars)
        self.stopped = None
        if self._hosts is not None:
            self._hosts.run(deadline=deadline, words=self._words(scalars))
        else:
            self._run_on_devices(scalars, deadline)
        if self._reasons is not None:
            self.stopped = self._reason(self._reasons)

    def raise_stopped(self) -> None:
        """Raises the exception for which the last run has ended before its end, if it has."""
        if self.stopped is not None:
            raise exception_of(self.stopped)

    def _check(self, scalars: dict[str, int | float]) -> None:
        """Checks what no call with these numbers was checked for before."""
        p = self.compiled.program
        whole = {n: int(v) for n, v in scalars.items() if p.scalars[n].startswith("int")}
        key = tuple(sorted({**self.arguments.sizes, **whole}.items()))
        if key not in self.compiled.inside:
            check_bounds(p, dict(key))
            self.compiled.inside.add(key)

    def _run_on_devices(self, scalars: dict[str, int | float], deadline: float) -> None:
        p = self.compiled.program
        narrow, wide = channels_of(p)
        places, slots = packet_slots(p, self.layout, self.packets, self.blocks)
        self.loaded.run(
            self.machine,
            roles=self.roles(),
            threads=self.threads,
            deadline=deadline,
            signals=2 * (len(narrow) + len(wide) * self.blocks),
            packets=slots,
            words=b"".join(struct.pack("<qq", *place) for place in places) + self._words(scalars),
        )

    def _reason(self, memory: Any) -> StopReason | None:
        """Why the first PE has stopped that has."""
        number = np.empty(1, "int64")
        for pe in range(self.machine.size):
            memory.read(pe, 0, number)
            if number[0]:
                return self.compiled.program.stops[int(number[0]) - 1]
        return None

    def take_one_thread(self) -> None:
        """From now on one thread of the host drives all PEs, each until it waits for another one: for measurements."""
        if self._hosts is not None:
            self._hosts = self._start_hosts(one_thread=True)

    def _start_hosts(self, *, one_thread: bool = False) -> Any:
        return native.ProgramHosts(
            self.machine,
            self.loaded,
            control=self.control,
            one_thread=one_thread,
            blocks=self.blocks,
            threads=self.threads,
            signals=2 * self.compiled.program.channels,
        )

    def _words(self, scalars: dict[str, int | float]) -> bytes:
        """The program's data, as emit_fields declares it behind signals, slots and packets."""
        p = self.compiled.program
        words = b""
        if p.grid > 1:
            words += struct.pack("<q", self.layout.grid[1])
        for name in p.arrays:
            words += struct.pack("<Qq", *self.memories[name].words)
        if self._reasons is not None:
            words += struct.pack("<Qq", *self._reasons.words)
        for pitch in self._pitches:
            words += struct.pack("<q", pitch)
        for name in p.sizes:
            words += struct.pack("<q", self.arguments.sizes[name])
        for name, dtype in p.scalars.items():
            words += struct.pack("<q" if dtype.startswith("int") else "<d", scalars[name])
        return words

    def roles(self) -> list[tuple[str, int]]:
        """The roles of the blocks and how many have each: those at the ends of a PE communicate."""
        if self.blocks == 1 or self.compiled.explanation.roles == ("all",):
            return [("all", self.blocks)]
        inner = [("inner", self.blocks - 2)] if self.blocks > 2 else []
        return [("first", 1), *inner, ("last", 1)]

    def store(self) -> None:
        """Brings what the program writes back into the arrays of the call."""
        for name, parts in self.arguments.arrays.items():
            a = self.compiled.program.arrays[name]
            if not a.written:
                continue
            memory = self.memories[a.next if a.turn and self._turned(a.turn) else name]
            pes = range(self.machine.size) if a.split or len(parts) > 1 else range(1)
            for pe in pes:
                self.layout.load(a, memory, pe, parts[pe if len(parts) > 1 else 0])

    def _turned(self, turn: str) -> bool:
        """Whether an array is its second generation now, which is so on all PEs or none."""
        number = np.empty(1, "int64")
        self.memories[turn].read(0, 0, number)
        return bool(number[0])
