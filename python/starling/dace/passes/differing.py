"""What may differ between PEs: numbers, and with them the branches that PEs take.

PEs that have taken different branches cannot communicate: one would wait for what another one does not do.
"""

from __future__ import annotations

from collections.abc import Iterator

from starling.dace.ir import (
    Body,
    Break,
    Collective,
    Compute,
    Continue,
    Expression,
    For,
    If,
    Index,
    Program,
    Put,
    Reduce,
    Statement,
    Stop,
    Wait,
    While,
    reads_of,
    statements,
    values_of,
)
from starling.dace.ir.names import shown
from starling.dace.ir.pes import PE, is_neighbour
from starling.dace.passes.flow import Flow
from starling.dace.passes.uses import expressions_of, indices_of, written_by
from starling.dace.program_error import ProgramError

__all__ = ["check_branches"]

REDUCE_IT = "reduce the condition over all PEs first, such as with MaxReduce, so that they {} together"


class _Differing:
    """Scalars and arrays of a program that may have other values on other PEs, and statements that only some reach."""

    def __init__(self, p: Program) -> None:
        self.p = p
        self.names = {a.name for a in p.arrays.values() if a.parts and not _is_told(a.name, p)}
        self.under: dict[Statement, Statement] = {}  # statements that only some PEs reach: the outermost reason
        self.left: dict[Statement, Statement] = {}  # loops that only some PEs leave: by this Break or Continue
        size = -1
        while size != (size := len(self.names) + len(self.under) + len(self.left)):
            self._walk(p.body, None, None)

    def of(self, e: Expression) -> bool:
        """Whether an expression may have other values on other PEs."""
        names = values_of(e) | {r.array for r in reads_of(e) if not self.p.arrays[r.array].split}
        return bool(names & self.names) or any(n == PE or is_neighbour(n) for n in names)

    def _walk(self, body: Body, reason: Statement | None, loop: Statement | None) -> None:
        """`reason`: why only some PEs come here; `loop`: the innermost around."""
        for s in body:
            if reason is not None:
                self.under.setdefault(s, reason)
                if isinstance(s, (Break, Continue)) and loop is not None:
                    self.left.setdefault(loop, s)
            here = reason or (s if any(map(self.of, _deciding(s))) else None)
            if isinstance(s, (For, While)):
                self._walk(s.body, here or self.left.get(s), s)
            elif isinstance(s, If):
                for _, inner in s.branches:
                    self._walk(inner, here, loop)
            of_others = isinstance(s, (Put, Wait)) or (isinstance(s, Collective) and s.verb == "Getmem")
            if of_others or (here is not None and not isinstance(s, Collective)):
                self.names |= {n for n in written_by(s) if n not in self.p.arrays or not self.p.arrays[n].split}


def _deciding(s: Statement) -> Iterator[Expression]:
    """What decides which branch a statement takes, and what it writes."""
    yield from (Index(i) for i in indices_of(s))
    yield from expressions_of(s)


def _is_told(name: str, p: Program) -> bool:
    """Whether an array has one element, which the program makes."""
    return all(n == 1 for n in p.arrays[name].shape) and any(name in written_by(s) for _, s in statements(p.body))


def _is_joint(s: Statement, p: Program) -> bool:
    """Whether PEs take part in it together."""
    if isinstance(s, (Compute, Reduce)):
        arrays = {r.array for r in reads_of(s.value)} | (written_by(s) & set(p.arrays))
        return any(p.arrays[n].split for n in arrays)
    return isinstance(s, (Put, Wait, Collective))


def check_branches(p: Program) -> None:
    """Checks that all PEs come to what they do together.

    Raises:
        ProgramError: A condition that may differ between PEs decides it.
    """
    found = _Differing(p)
    flow = Flow(p.body)
    for s, reason in found.under.items():
        if isinstance(s, Stop) and flow.reaches([reason], lambda n: _is_joint(n, p), lambda n: False):
            raise ProgramError.at(
                s.place,
                _word(s, p),
                "ends the program under a condition that may differ between PEs, and others would wait for this one; "
                + REDUCE_IT.format("end"),
            )
        if _is_joint(s, p):
            raise _refusal(s, reason)


def _word(s: Stop, p: Program) -> str:
    """What ends the program, in the words of its source."""
    if s.number == 0:
        return "return"
    reason = p.stops[s.number - 1]
    return reason.message.partition(": ")[0] if reason.exception == "ProgramError" else reason.exception


def _refusal(s: Statement, reason: Statement) -> ProgramError:
    if isinstance(reason, (Break, Continue)):
        word = "break" if isinstance(reason, Break) else "continue"
        return ProgramError.at(
            reason.place,
            word,
            "in a loop in which PEs communicate stands under a condition that may differ between them; "
            + REDUCE_IT.format(word),
        )
    if isinstance(s, (Compute, Reduce)):
        node = shown(next(iter(written_by(s))))
        words = "is computed by all PEs together, and stands under a condition that may differ between them"
        return ProgramError.at(s.place, node, f"{words}; {REDUCE_IT.format('come here')}")
    verb = s.verb if isinstance(s, (Put, Collective)) else "SignalWait"
    return ProgramError.at(
        s.place, verb, "stands under a condition that may differ between PEs; let peer be NOBODY instead"
    )
