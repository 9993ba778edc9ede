"""What the names of :mod:`starling.dace` mean to DaCe's parser.

The parser hands over (array, subset) only for names in ``dace.comm``, so the calls are known to it by such names.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from dace.frontend.common.op_repository import Replacements

import dace
from dace import Memlet, subsets, symbolic
from starling.dace.frontend.nodes import Communication
from starling.dace.frontend.types import MOST_AXES
from starling.dace.program_error import ProgramError

__all__ = ["CALLS", "FLAGS", "N_PES", "PE", "PREFIX", "is_neighbour", "neighbour_of", "register"]

PREFIX = "dace.comm.nvshmem."
HERE = "starling.dace."
CALLS = "starling.dace.nvshmem"
PE = "st_pe"
N_PES = "st_n_pes"
NEIGHBOUR = "st_neighbour_"
FLAGS = "st_flags"


def _region(sdfg: Any, what: Any, call: str, argument: str) -> tuple[str, Any]:
    """The array and the subset of an argument."""
    if isinstance(what, tuple) and len(what) == 2 and isinstance(what[0], str):
        return what[0], copy.deepcopy(what[1])
    if isinstance(what, str) and what in sdfg.arrays:
        return what, subsets.Range.from_array(sdfg.arrays[what])
    raise ProgramError(f"{call}: {argument} = {what}; pass an array or a part of one, such as A[1]", node=call)


class _Builder:
    """Adds one call to the graph."""

    def __init__(self, visitor: Any, sdfg: Any, state: Any, verb: str) -> None:
        self.sdfg = sdfg
        self.state = state
        self.node = Communication(verb)
        self.node.debuginfo = copy.deepcopy(visitor.current_lineinfo)
        self.node.verb = verb
        state.add_node(self.node)
        self.verb = verb

    def reads(self, what: Any, connector: str, argument: str) -> None:
        name, subset = _region(self.sdfg, what, self.verb, argument)
        self.node.add_in_connector(connector)
        self.state.add_edge(self.state.add_read(name), None, self.node, connector, Memlet(data=name, subset=subset))

    def writes(self, what: Any, connector: str, argument: str) -> None:
        name, subset = _region(self.sdfg, what, self.verb, argument)
        self.node.add_out_connector(connector)
        self.state.add_edge(self.node, connector, self.state.add_write(name), None, Memlet(data=name, subset=subset))

    def scalar(self, what: Any, name: str) -> None:
        """A number: a scalar of the program by a connector, anything else by the property."""
        if isinstance(what, list) and len(what) == 1:  # what a call gives
            (what,) = what
        if (isinstance(what, tuple) and what[0] in self.sdfg.arrays) or (
            isinstance(what, str) and what in self.sdfg.arrays
        ):
            self.reads(what, f"_{name}", name)
        elif what is not None:
            setattr(self.node, name, what)


def _put_signal(
    visitor: Any, sdfg: Any, state: Any, dest: Any, source: Any, flag: Any, value: Any, peer: Any, op: Any = "set"
) -> None:
    b = _Builder(visitor, sdfg, state, "PutmemSignal")
    b.reads(source, "_source", "source")
    b.reads(flag, "_flag", "flag")
    b.scalar(value, "value")
    b.scalar(peer, "peer")
    b.node.detail = str(op)
    b.writes(dest, "_dest", "dest")


def _signal_wait(visitor: Any, sdfg: Any, state: Any, flag: Any, value: Any, peer: Any = None) -> None:
    b = _Builder(visitor, sdfg, state, "SignalWait")
    b.reads(flag, "_flag", "flag")
    b.scalar(value, "value")
    b.node.peer = None
    b.scalar(peer, "peer")


def _signal_op(visitor: Any, sdfg: Any, state: Any, flag: Any, value: Any, peer: Any, op: Any = "set") -> None:
    b = _Builder(visitor, sdfg, state, "SignalOp")
    b.reads(flag, "_flag", "flag")
    b.scalar(value, "value")
    b.scalar(peer, "peer")
    b.node.detail = str(op)


def _moving(verb: str) -> Any:
    def call(visitor: Any, sdfg: Any, state: Any, dest: Any, source: Any, peer: Any) -> None:
        b = _Builder(visitor, sdfg, state, verb)
        b.reads(source, "_source", "source")
        b.scalar(peer, "peer")
        b.writes(dest, "_dest", "dest")

    return call


def _p(visitor: Any, sdfg: Any, state: Any, dest: Any, value: Any, peer: Any) -> None:
    b = _Builder(visitor, sdfg, state, "P")
    b.scalar(value, "value")
    b.scalar(peer, "peer")
    b.writes(dest, "_dest", "dest")


def _alone(verb: str) -> Any:
    def call(visitor: Any, sdfg: Any, state: Any) -> None:
        _Builder(visitor, sdfg, state, verb)

    return call


def _combining(verb: str) -> Any:
    def call(visitor: Any, sdfg: Any, state: Any, dest: Any, source: Any) -> None:
        b = _Builder(visitor, sdfg, state, verb)
        b.reads(source, "_source", "source")
        b.writes(dest, "_dest", "dest")

    return call


def _flags(_: Any, sdfg: Any, __: Any, n: Any) -> str:
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ProgramError(f"flags({n}): the number of flags must be a constant of at least 1", node="flags")
    name, _desc = sdfg.add_transient(FLAGS, [n], dace.uint64, find_new_name=True)
    return str(name)


def _scalar(sdfg: Any, state: Any, symbol: str) -> str:
    """A scalar of the program that holds a number which a symbol stands for; conditions take scalars alone."""
    if symbol not in sdfg.symbols:
        sdfg.add_symbol(symbol, dace.int64)
    name, _desc = sdfg.add_scalar(symbol.replace("st_", "told_"), dace.int64, transient=True, find_new_name=True)
    tasklet = state.add_tasklet(symbol, {}, {"__out"}, f"__out = {symbol}")
    state.add_edge(tasklet, "__out", state.add_write(name), None, Memlet(f"{name}[0]"))
    return str(name)


def _number(symbol: str) -> Any:
    def call(_: Any, sdfg: Any, state: Any) -> str:
        return _scalar(sdfg, state, symbol)

    return call


def _neighbour(_: Any, sdfg: Any, state: Any, step: Any, axis: Any = 0, ring: Any = False) -> str:
    call = f"neighbour({step}, axis={axis})"
    if not isinstance(step, int):
        raise ProgramError(f"{call}: the step must be a constant", node="neighbour")
    if not isinstance(axis, int) or not 0 <= axis < MOST_AXES:
        raise ProgramError(f"{call}: the axis must be 0 or 1, the rows or the columns of the grid", node="neighbour")
    sign = "m" if step < 0 else "p"
    return _scalar(sdfg, state, f"{NEIGHBOUR}{axis}_{'ring_' if ring else ''}{sign}{abs(step)}")


def _quotient(form: str) -> Any:
    def printed(self: Any, printer: Any) -> str:
        return f"({form.format(*(f'({printer._print(a)})' for a in self.args))})"

    return printed


def is_neighbour(name: str) -> bool:
    """Whether a symbol stands for a PE that neighbour() has named."""
    return name.startswith(NEIGHBOUR)


def neighbour_of(name: str) -> tuple[int, int, bool]:
    """Axis, step and ring of the call that such a symbol stands for."""
    found = re.fullmatch(NEIGHBOUR + r"(\d)_(ring_)?([mp])(\d+)", name)
    assert found is not None
    return int(found[1]), int(found[4]) * (-1 if found[3] == "m" else 1), found[2] is not None


def register() -> None:
    """Tells the parser. A second time changes nothing."""
    known = Replacements._rep
    known[PREFIX + "PutmemSignal"] = _put_signal
    known[PREFIX + "SignalWait"] = _signal_wait
    known[PREFIX + "SignalOp"] = _signal_op
    known[PREFIX + "P"] = _p
    known[PREFIX + "flags"] = _flags
    for verb in ("Putmem", "Iput", "Getmem", "Broadcast"):
        known[PREFIX + verb] = _moving(verb)
    for verb in ("Quiet", "Fence", "Barrier"):
        known[PREFIX + verb] = _alone(verb)
    for verb in ("SumReduce", "MaxReduce", "MinReduce"):
        known[PREFIX + verb] = _combining(verb)
    known[HERE + "neighbour"] = _neighbour
    known[HERE + "my_pe"] = _number(PE)
    known[HERE + "n_pes"] = _number(N_PES)
    # DaCe prints what is computed of sizes and loop variables by SymPy, which asks its own functions how.
    symbolic.int_floor._pythoncode = _quotient("{0} // {1}")
    symbolic.int_ceil._pythoncode = _quotient("-(-{0} // {1})")
