"""Which part of each array a PE has, and how it lies in its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from starling.dace.arguments import shape_of
from starling.dace.grid import Grid, place_in, share
from starling.dace.ir import Array, Dealt, Program, Put, statements
from starling.dace.ir.names import shown
from starling.dace.program_error import Place, ProgramError

__all__ = ["Layout", "most_blocks"]

MOST_BLOCKS = 2**20
VECTOR_BYTES = 16
SHORT_ROW = 4  # vectors

Slices = tuple[slice, ...]


class Layout:
    """The arrays of a program on a grid of PEs, for the sizes of a call."""

    def __init__(self, p: Program, sizes: dict[str, int], grid: Grid) -> None:
        self.program = p
        self.sizes = sizes
        self.grid = grid
        self._shapes = {a.name: shape_of(a.shape, sizes) for a in p.arrays.values()}
        self._memory_shapes = {a.name: self._in_memory(a) for a in p.arrays.values()}

    def length(self, d: Dealt) -> int:
        """How many layers an axis has that is shared out."""
        return shape_of((d.length,), self.sizes)[0]

    def fewest(self, a: Array, axis: int) -> int:
        """How many layers of such an axis the PE has that has the fewest."""
        n = self.length(a.dealt[axis])
        return n // self.grid[axis] if a.split else n

    def bytes_of(self, a: Array) -> int:
        """The memory that each PE needs for an array."""
        return max(int(np.prod(self.memory_shape(a))), 1) * np.dtype(a.dtype).itemsize

    def memory_shape(self, a: Array) -> tuple[int, ...]:
        """The shape of a PE's memory for an array, the last of which is its pitch: rows that are pitched are whole
        vectors, unless they are short."""
        return self._memory_shapes[a.name]

    def _in_memory(self, a: Array) -> tuple[int, ...]:
        shape = list(self._shapes[a.name])
        for d, pes in zip(a.dealt if a.split else [], self.grid, strict=False):
            shape[d.axis] = -(-self.length(d) // pes) + d.low + d.high
        lanes = VECTOR_BYTES // np.dtype(a.dtype).itemsize
        if a.pitched and shape[-1] >= SHORT_ROW * lanes:
            shape[-1] = -(-shape[-1] // lanes) * lanes
        return tuple(shape)

    def _slices(self, a: Array, pe: int, halo: bool) -> tuple[Slices, Slices]:
        """What a PE has of a split argument: in the whole array, and in the PE's memory."""
        whole = [slice(0, n) for n in self._shapes[a.name]]
        here = list(whole)
        for d, pes, at in zip(a.dealt, self.grid, place_in(self.grid, pe), strict=True):
            n = self.length(d)
            begin, end = share(n, pes, at)
            first = begin - d.low
            if halo:
                begin, end = max(0, first), min(n, end + d.high)
            whole[d.axis], here[d.axis] = slice(begin, end), slice(begin - first, end - first)
        return tuple(whole), tuple(here)

    def store(self, a: Array, memory: Any, pe: int, value: np.ndarray[Any, Any]) -> None:
        """Brings an argument to a PE, halo included."""
        if not a.split:
            memory.write(pe, 0, value)
            return
        whole, here = self._slices(a, pe, True)
        if self._in_one_piece(a):
            memory.write(pe, here[0].start * value[0].nbytes, value[whole])
            return
        local = np.zeros(self.memory_shape(a), a.dtype)
        local[here] = value[whole]
        memory.write(pe, 0, local)

    def load(self, a: Array, memory: Any, pe: int, value: np.ndarray[Any, Any]) -> None:
        """Brings what a PE owns back."""
        if not a.split:
            memory.read(pe, 0, value)
            return
        whole, here = self._slices(a, pe, False)
        if self._in_one_piece(a):
            memory.read(pe, here[0].start * value[0].nbytes, value[whole])
            return
        local = np.empty(self.memory_shape(a), a.dtype)
        memory.read(pe, 0, local)
        value[whole] = local[here]

    def _in_one_piece(self, a: Array) -> bool:
        """Whether what a PE has of a split argument lies so, as it does in the whole array."""
        return [d.axis for d in a.dealt] == [0] and self.memory_shape(a)[1:] == self._shapes[a.name][1:]


def most_blocks(p: Program, layout: Layout) -> int:
    """As many as have enough layers each.

    Raises:
        ProgramError: A PE has no layers of an array, or fewer than are exchanged.
    """
    blocks = MOST_BLOCKS
    for a in p.arrays.values():
        for axis, d in enumerate(a.dealt if a.split else []):
            least = layout.fewest(a, axis)
            if least < 1:
                raise ProgramError.at(
                    Place(p.file, p.line),
                    shown(a.name),
                    f"has {layout.length(d)} layers along axis {d.axis} for {layout.grid[axis]} PEs; {_remedy(layout)}",
                )
            if axis == 0:
                blocks = min(blocks, least)
    for _, s in statements(p.body):
        if isinstance(s, Put) and s.channel >= 0:
            for name in sorted({s.array, s.source} - {""}):
                blocks = min(blocks, _blocks_for(s, p.arrays[name], layout))
    return blocks


def _blocks_for(s: Put, a: Array, layout: Layout) -> int:
    """How many blocks of a PE can make and await a put."""
    for axis, least in enumerate(s.least):
        # Without a PE beyond, nothing is exchanged.
        alone = layout.grid[axis] == 1 if a.split else np.prod(layout.grid) == 1 and not s.ring
        layers = layout.fewest(a, axis)
        if layers < least and not alone and a.parts:
            raise ProgramError.at(
                s.place,
                shown(a.name),
                f"has {layers} layers along axis {a.dealt[axis].axis} in a part, and the put, with what is read of it, "
                f"reaches over {least}; pass parts of at least {least} layers",
            )
        if layers < least and not alone:
            raise ProgramError.at(
                s.place,
                shown(a.name),
                f"has {layers} layers along axis {a.dealt[axis].axis} on a PE and {least} are exchanged; "
                f"{_remedy(layout, 'more layers')}",
            )
    return max(1, layout.fewest(a, 0) // max(s.width, 1))


def _remedy(layout: Layout, *more: str) -> str:
    ways = ["fewer devices", *([f"another grid than {layout.grid}"] if len(layout.grid) > 1 else []), *more]
    return f"use {', '.join(ways[:-1])}{' or ' if len(ways) > 1 else ''}{ways[-1]}"
