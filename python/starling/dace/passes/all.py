"""All passes, in order."""

from __future__ import annotations

import copy

from starling.dace.ir import Program, statements
from starling.dace.passes.barriers import add_barriers, add_block_syncs
from starling.dace.passes.bind import bind
from starling.dace.passes.credits import add_credits
from starling.dace.passes.exchange import exchange
from starling.dace.passes.fuse import fuse
from starling.dace.passes.generations import generations, turned
from starling.dace.passes.in_place import split_in_place
from starling.dace.passes.packets import mark_packets
from starling.dace.passes.place import place
from starling.dace.passes.resolve import resolve
from starling.dace.passes.types import check_types
from starling.dace.passes.uses import written_by

__all__ = ["all_passes"]


def all_passes(p: Program) -> Program:
    """What the front end has made, ready to be written in C++.

    Raises:
        ProgramError: Something in it is outside of the language.
    """
    check_types(p)
    resolve(p)
    fuse(p)
    split_in_place(p)
    p = _with_communication(p)
    add_barriers(p)
    add_block_syncs(p)
    for _, s in statements(p.body):
        for name in written_by(s) & set(p.arrays):
            p.arrays[name].written = True
    return p


def _with_communication(p: Program) -> Program:
    """The program with its arrays placed and what PEs tell each other; with two generations where these need no
    credits."""
    without: frozenset[str] = frozenset()
    while True:
        made = copy.deepcopy(p)
        generations(made, without)
        place(made)
        bind(made)
        exchange(made)
        add_credits(made)
        if not turned(made):
            mark_packets(made)
            return made
        without |= turned(made)
