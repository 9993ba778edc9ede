"""All passes, in order."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

from starling.dace.emit.hosted import Hosted, emit_hosted
from starling.dace.emit.kernel import MOST_THREADS, USUAL_THREADS, emit
from starling.dace.explain import Explanation, explain
from starling.dace.exponents import given_exponents
from starling.dace.frontend.lower import lower
from starling.dace.frontend.parse import parse
from starling.dace.ir import Program, statements
from starling.dace.passes.barriers import add_barriers, add_block_syncs
from starling.dace.passes.bind import bind
from starling.dace.passes.credits import add_credits
from starling.dace.passes.exchange import exchange
from starling.dace.passes.fuse import fuse, split_in_place, written_by
from starling.dace.passes.generations import generations, turned
from starling.dace.passes.packets import mark_packets
from starling.dace.passes.place import place
from starling.dace.passes.resolve import resolve
from starling.dace.passes.types import check_types
from starling.dace.program_error import Place

__all__ = ["Compiled", "compile_program"]


class Compiled:
    """A program with its source."""

    def __init__(self, program: Program, source: str, explanation: Explanation) -> None:
        self.program = program
        self.source = source
        self.explanation = explanation
        self.inside: set[tuple[tuple[str, int], ...]] = (
            set()
        )  # sizes and scalars that are known to stay inside of arrays

    @functools.cached_property
    def exponents(self) -> list[tuple[str, Place]]:
        """The arguments that every call checks for negative exponents."""
        return given_exponents(self.program)

    @functools.cached_property
    def hosted(self) -> Hosted:
        """The same program with its time loop on the host."""
        return emit_hosted(self.program)

    def source_for(self, threads: int, packets: frozenset[int] = frozenset()) -> str:
        """The source, for blocks of so many threads and with packets on these channels."""
        most = USUAL_THREADS if threads <= USUAL_THREADS else MOST_THREADS
        return emit(self.program, most, packets) if packets or most != USUAL_THREADS else self.source

    def hosted_for(self, threads: int) -> Hosted:
        """The same with the time loop on the host."""
        return self.hosted if threads <= USUAL_THREADS else emit_hosted(self.program, MOST_THREADS)

    def explained(self, control: str, packets: frozenset[int] | None = None) -> Explanation:
        """What the program becomes where the time loop is run so. `packets`: the channels that use them; None: that is
        not known."""
        if control == "device":
            if packets is None:
                return self.explanation
            return explain(self.program, _without_lines(self.source_for(USUAL_THREADS, packets)), control, packets)
        return explain(self.program, _without_lines(self.hosted.source), control)


def _without_lines(source: str) -> str:
    """The source without the lines of the user's file that it names."""
    return "".join(n for n in source.splitlines(keepends=True) if not n.startswith("#line"))


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


def compile_program(function: Callable[..., Any], inner: Callable[[Any], Callable[..., Any] | None]) -> Compiled:
    """The program of a Python function.

    Raises:
        ProgramError: Something in it is outside of the subset.
    """
    p = lower(parse(function, inner), function.__name__)
    resolve(p)
    check_types(p)
    fuse(p)
    split_in_place(p)
    p = _with_communication(p)
    add_barriers(p)
    add_block_syncs(p)
    for _, s in statements(p.body):
        for name in written_by(s) & set(p.arrays):
            p.arrays[name].written = True
    source = emit(p)
    return Compiled(p, source, explain(p, _without_lines(source)))
