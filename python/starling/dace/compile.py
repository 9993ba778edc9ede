"""All passes, in order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from starling.dace.emit.hosted import Hosted, emit_hosted
from starling.dace.emit.kernel import MOST_THREADS, USUAL_THREADS, emit
from starling.dace.explain import Explanation, explain
from starling.dace.exponents import given_exponents
from starling.dace.frontend.outside import is_as_before
from starling.dace.frontend.program import translate
from starling.dace.frontend.translation import Outsiders
from starling.dace.ir import Program
from starling.dace.passes.all import all_passes
from starling.dace.program_error import Place

__all__ = ["Compiled", "compile_program"]


class Compiled:
    """A program with its source."""

    def __init__(self, program: Program, source: str, explanation: Explanation, outside: Outsiders) -> None:
        self.program = program
        self._outside = outside
        self.source = source
        self.explanation = explanation
        self.inside: set[tuple[tuple[str, int], ...]] = (
            set()
        )  # sizes and scalars that are known to stay inside of arrays

    def holds(self) -> bool:
        """Whether all that the function takes from outside is what it was."""
        return is_as_before(self._outside)

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


def compile_program(function: Callable[..., Any], numbers: Mapping[str, str]) -> Compiled:
    """The program of a Python function.

    Args:
        function: What the user wrote.
        numbers: The types of arguments that are numbers of NumPy. All others are Python's own.

    Raises:
        ProgramError: Something in it is outside of the language.
    """
    translated = translate(function, numbers)
    p = all_passes(translated.program)
    source = emit(p)
    return Compiled(p, source, explain(p, _without_lines(source)), translated.outside)
