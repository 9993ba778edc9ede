"""Which array elements lie together: temporaries are shared out as the arrays that they are computed from.

Element k of an array, along an axis, belongs to the owner of layer k + shift of a length. PEs share the axes of split
arrays, one for each axis of their grid; blocks share what a PE has of the first. What is written is computed by its
owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from starling.dace.ir import Array, Compute, Dealt, Program, Read, Reduce, Statement, reads_of, same, statements, symbol
from starling.dace.program_error import Place, ProgramError

__all__ = ["Along", "Owner", "offset_of", "owner_of", "place"]


@dataclass(frozen=True)
class Along:
    """Layer scale * parameter + shift of a length; without a parameter, layer `shift`."""

    length: Any
    parameter: str
    scale: int
    shift: Any

    @property
    def layer(self) -> Any:
        return self.scale * symbol(self.parameter) + self.shift if self.parameter else self.shift


@dataclass(frozen=True)
class Owner:
    """Who does a statement: who has a layer along each axis that is shared out."""

    split: bool
    along: tuple[Along, ...]

    @property
    def everywhere(self) -> bool:
        """Whether it follows a parameter along all of them."""
        return all(x.parameter for x in self.along)

    def alike(self, a: Array) -> bool:
        """Whether an array is shared out over the same lengths."""
        return self.split == a.split and all(same(x.length, d.length) for x, d in zip(self.along, a.dealt, strict=True))


def owner_of(s: Statement, p: Program) -> Owner | None:
    """Who does a computation or a reduction; None: its array has no axis to share."""
    if isinstance(s, Compute):
        return _owner(p.arrays[s.target], s.index, {q.name for q in s.params})
    if isinstance(s, Reduce):
        found = [_owner(p.arrays[r.array], r.index, {q.name for q in s.params}) for r in reads_of(s.value)]
        dealt = [o for o in found if o is not None and (o.split or o.everywhere)]
        return max(dealt, key=lambda o: (o.split, o.everywhere), default=None)
    return None


def _owner(a: Array, index: tuple[Any, ...], params: set[str]) -> Owner | None:
    if a.scalar:
        return None
    found = [_along(d, index[d.axis], params) for d in a.dealt]
    along = [x for x in found if x is not None]
    followed = [x.parameter for x in along if x.parameter]
    if len(along) != len(found) or len(set(followed)) != len(followed):
        return None
    return Owner(a.split, tuple(along))


def _along(d: Dealt, index: Any, params: set[str]) -> Along | None:
    at = sympy.expand(sympy.sympify(index))
    names = {str(n) for n in at.free_symbols} & params
    if not names:
        return Along(d.length, "", 1, sympy.expand(at + d.shift))
    if len(names) != 1:
        return None
    (name,) = names
    scale = at.coeff(symbol(name))
    rest = sympy.expand(at - scale * symbol(name))
    if not scale.is_Integer or scale < 1 or name in {str(n) for n in rest.free_symbols}:
        return None
    return Along(d.length, name, int(scale), sympy.expand(rest + d.shift))


def offset_of(r: Read, owner: Owner, p: Program) -> tuple[int, ...] | None:
    """How many layers what is read lies beyond those of who reads it; None: these are no constant numbers."""
    a = p.arrays[r.array]
    if a.scalar or not owner.alike(a):
        return None
    distances = [
        sympy.expand(sympy.sympify(r.index[d.axis]) + d.shift - x.layer)
        for d, x in zip(a.dealt, owner.along, strict=True)
    ]
    return tuple(int(d) for d in distances) if all(d.is_Integer for d in distances) else None


def place(p: Program) -> None:
    """Decides for all arrays.

    Raises:
        ProgramError: Split arrays differ in the number of axes that are split, or in their lengths.
    """
    _check_lengths(p)
    while _place_some(p):
        pass
    for a in p.arrays.values():
        a.dealt = a.dealt or [Dealt(0, a.shape[0])]


def _check_lengths(p: Program) -> None:
    place = Place(p.file, p.line)
    split = [a for a in p.arrays.values() if a.split]
    for a in split[1:]:
        if len(a.dealt) != len(split[0].dealt):
            raise ProgramError.at(
                place,
                a.name,
                f"is split along {len(a.dealt)} axes, {split[0].name} along {len(split[0].dealt)}; split arrays of one "
                "program must be split along equally many",
            )
        for x, first in zip(a.dealt, split[0].dealt, strict=True):
            if not same(x.length, first.length):
                raise ProgramError.at(
                    place,
                    a.name,
                    f"its split axis {x.axis} has length {x.length}, that of {split[0].name} {first.length}; split "
                    "arrays of one program must have the same length",
                )
    p.grid = max([p.grid, *(len(a.dealt) for a in split)])


def _place_some(p: Program) -> bool:
    """Places one temporary: with its like, by who reads it, else by what it is made of."""
    for a in p.arrays.values():
        if a.like and not a.dealt and p.arrays[a.like].dealt:
            a.split, a.dealt = (
                p.arrays[a.like].split,
                [Dealt(d.axis, d.length, d.shift) for d in p.arrays[a.like].dealt],
            )
            return True
    for _, s in statements(p.body):
        if isinstance(s, Compute) and p.arrays[s.target].dealt:
            owner = owner_of(s, p)
            for r in reads_of(s.value):
                if not p.arrays[r.array].dealt and owner and _put_with(_leading(p, r.array), r.index, owner):
                    return True
    for _, s in statements(p.body):
        if isinstance(s, Compute) and not p.arrays[s.target].dealt:
            owners = [
                _owner(p.arrays[r.array], r.index, {q.name for q in s.params})
                for r in reads_of(s.value)
                if p.arrays[r.array].dealt
            ]
            found = [o for o in owners if o is not None and all(x.scale == 1 for x in o.along)]
            found = [o for o in found if o.split] or found
            found = [o for o in found if o.everywhere] or found
            if found and _put_with(_leading(p, s.target), s.index, _middle(found)):
                return True
    return False


def _leading(p: Program, name: str) -> Array:
    """The array whose place decides that of an array."""
    return p.arrays[p.arrays[name].like or name]


def _middle(owners: list[Owner]) -> Owner:
    def key(o: Owner) -> Any:
        return [(x.parameter, sympy.default_sort_key(x.shift)) for x in o.along]

    return sorted(owners, key=key)[len(owners) // 2]


def _put_with(a: Array, index: tuple[Any, ...], owner: Owner) -> bool:
    """Lets elements of a temporary belong to an owner; False: its index does not follow the parameters."""
    if a.scalar:
        return False
    found = [_dealt_with(a, index, x) for x in owner.along]
    dealt = [d for d in found if d is not None]
    if len(dealt) != len(found) or len({d.axis for d in dealt}) != len(dealt):
        return False
    a.split, a.dealt = owner.split, dealt
    return True


def _dealt_with(a: Array, index: tuple[Any, ...], along: Along) -> Dealt | None:
    """The axis whose index follows the parameter; without one, is at a constant distance from the layer."""
    if along.scale != 1:
        return None
    for axis, i in enumerate(index):
        spare = sympy.expand(along.length - a.shape[axis])
        shift = sympy.expand(along.layer - i)
        if spare.is_Integer and spare >= 0 and shift.is_Integer:
            nearest = min(max(shift, sympy.Integer(0)), spare)  # every element has an owner
            if along.parameter or shift == nearest:
                return Dealt(axis, along.length, nearest)
    return None
