"""Runs a program on a machine: lays arrays out on the PEs, starts the kernel, brings arrays back."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from starling._native import native
from starling.dace.arguments import Arguments, shape_of
from starling.dace.bounds import check_bounds
from starling.dace.build.cache import built
from starling.dace.build.compiler import compiler
from starling.dace.build.nvcc import nvcc
from starling.dace.build.sources import Builder
from starling.dace.compile import Compiled
from starling.dace.ir import Array, Put, statements
from starling.dace.program_error import Place, ProgramError
from starling.machine import Machine

__all__ = ["Placed", "load"]

MOST_BLOCKS = 2**20

_loaded: dict[str, Any] = {}


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


def share(n: int, parts: int, which: int) -> tuple[int, int]:
    """Begin and end of a part, as share() of base/index.hpp."""
    each, more = divmod(n, parts)
    begin = which * each + min(which, more)
    return begin, begin + each + (which < more)


class Placed:
    """A program and its arrays on the PEs of a machine."""

    def __init__(
        self, compiled: Compiled, machine: Machine, arguments: Arguments, blocks: int | None, threads: int
    ) -> None:
        self.compiled = compiled
        self.machine = machine
        self.arguments = arguments
        self.threads = threads
        most = self._most_blocks()
        self.loaded = load(compiled.source, builder(machine))
        self.blocks = min(most, self._blocks_by_itself() if blocks is None else blocks)
        self.memories = {a.name: self._memory(a) for a in compiled.program.arrays.values()}
        for name, parts in arguments.arrays.items():
            for pe in range(machine.size):
                self._store(compiled.program.arrays[name], pe, parts[pe if len(parts) > 1 else 0])

    def _blocks_by_itself(self) -> int:
        if self.machine.kind == "host":
            return 1
        layers = [shape_of((a.length,), self.arguments.sizes)[0] for a in self.compiled.program.arrays.values()]
        return min(max([1, *layers]), int(self.loaded.blocks_that_fit(self.machine, self.threads)))

    def _most_blocks(self) -> int:
        """As many as have enough layers each."""
        p = self.compiled.program
        place = Place(p.file, p.line)
        blocks = MOST_BLOCKS
        for a in p.arrays.values():
            if a.split is None:
                continue
            (n,) = shape_of((a.length,), self.arguments.sizes)
            least = n // self.machine.size
            if least < 1:
                raise ProgramError.at(
                    place, a.name, f"has {n} layers along axis {a.split} for {self.machine.size} PEs; use fewer devices"
                )
            blocks = min(blocks, least)
        for _, s in statements(p.body):
            if not isinstance(s, Put) or s.channel < 0:
                continue
            for name in {s.array, s.source} - {""}:
                a = p.arrays[name]
                (n,) = shape_of((a.length,), self.arguments.sizes)
                rows = n // self.machine.size if a.split is not None else n
                if rows < s.least and self.machine.size > 1:
                    raise ProgramError.at(
                        s.place,
                        name,
                        f"has {rows} layers on a PE and {s.least} are exchanged; use fewer devices or more layers",
                    )
                blocks = min(blocks, max(1, rows // max(s.width, 1)))
        return blocks

    def _local_shape(self, a: Array) -> tuple[int, ...]:
        shape = list(shape_of(a.shape, self.arguments.sizes))
        if a.split is not None:
            (n,) = shape_of((a.length,), self.arguments.sizes)
            shape[a.split] = -(-n // self.machine.size) + a.low + a.high
        return tuple(shape)

    def _memory(self, a: Array) -> Any:
        count = int(np.prod(self._local_shape(a)))
        return native.ProgramMemory(self.machine, max(count, 1) * np.dtype(a.dtype).itemsize)

    def _rows(self, a: Array, pe: int, halo: bool) -> tuple[int, int, int]:
        """Begin and end of what a PE has of a split argument, and the layer where its memory begins."""
        n = shape_of(a.shape, self.arguments.sizes)[a.dealt]
        begin, end = share(n, self.machine.size, pe)
        first = begin - a.low
        return (max(0, first), min(n, end + a.high), first) if halo else (begin, end, first)

    def _store(self, a: Array, pe: int, value: np.ndarray[Any, Any]) -> None:
        memory = self.memories[a.name]
        if a.split is None:
            memory.write(pe, 0, value)
            return
        begin, end, first = self._rows(a, pe, True)
        if a.split == 0:
            memory.write(pe, (begin - first) * value[0].nbytes, value[begin:end])
            return
        local = np.zeros(self._local_shape(a), a.dtype)
        at: list[slice] = [slice(None)] * value.ndim
        here = list(at)
        at[a.split], here[a.split] = slice(begin, end), slice(begin - first, end - first)
        local[tuple(here)] = value[tuple(at)]
        memory.write(pe, 0, local)

    def _load(self, a: Array, pe: int, value: np.ndarray[Any, Any]) -> None:
        memory = self.memories[a.name]
        if a.split is None:
            memory.read(pe, 0, value)
            return
        begin, end, first = self._rows(a, pe, False)
        if a.split == 0:
            memory.read(pe, (begin - first) * value[0].nbytes, value[begin:end])
            return
        local = np.empty(self._local_shape(a), a.dtype)
        memory.read(pe, 0, local)
        at: list[slice] = [slice(None)] * value.ndim
        here = list(at)
        at[a.split], here[a.split] = slice(begin, end), slice(begin - first, end - first)
        value[tuple(at)] = local[tuple(here)]

    def run(self, scalars: dict[str, int | float], deadline: float = 0.0) -> None:
        """Runs the program once on what the arrays hold."""
        p = self.compiled.program
        whole = {n: int(v) for n, v in scalars.items() if p.scalars[n].startswith("int")}
        key = tuple(sorted({**self.arguments.sizes, **whole}.items()))
        if key not in self.compiled.inside:
            check_bounds(p, dict(key))
            self.compiled.inside.add(key)
        words = b""
        for name in p.arrays:
            words += struct.pack("<Qq", *self.memories[name].words)
        for name in p.sizes:
            words += struct.pack("<q", self.arguments.sizes[name])
        for name, dtype in p.scalars.items():
            words += struct.pack("<q" if dtype.startswith("int") else "<d", scalars[name])
        self.loaded.run(
            self.machine,
            roles=self.roles(),
            threads=self.threads,
            deadline=deadline,
            signals=2 * p.channels,
            words=words,
        )

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
            pes = range(self.machine.size) if a.split is not None or len(parts) > 1 else range(1)
            for pe in pes:
                self._load(a, pe, parts[pe if len(parts) > 1 else 0])
