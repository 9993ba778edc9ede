"""The schedule tree as statements."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import sympy
from dace.sdfg.analysis.schedule_tree import treenodes as tn
from dace.transformation.passes.analysis import loop_analysis

from dace import data, subsets
from starling.dace.frontend.communication import communication
from starling.dace.frontend.expressions import DTYPES, expression_of, index_of
from starling.dace.frontend.library import library
from starling.dace.frontend.parallel_loops import parallel_loop
from starling.dace.frontend.parse import Parsed, called_back
from starling.dace.frontend.single_elements import refuse_single_elements
from starling.dace.frontend.subsets import as_long, count_of, element_of, ranges_of, reduction_of
from starling.dace.ir import (
    Apply,
    Array,
    Assign,
    Body,
    Compute,
    Dealt,
    Expression,
    For,
    If,
    Index,
    Param,
    Program,
    Read,
    Reduce,
    Statement,
    Value,
    While,
    substitute,
    symbol,
)
from starling.dace.program_error import Place, ProgramError

__all__ = ["Lowering", "lower"]


def lower(parsed: Parsed, name: str) -> Program:
    """The program of a schedule tree.

    Raises:
        ProgramError: A node is outside of the subset.
    """
    return Lowering(parsed, name).program


class Lowering:
    """Reads one tree."""

    def __init__(self, parsed: Parsed, name: str) -> None:
        self.tree = parsed.tree
        self.place = parsed.place
        self.typed_numbers = parsed.typed_numbers
        self.fresh = itertools.count()
        self.views: dict[str, tn.ViewNode] = {}
        self.flags: dict[str, int] = {}  # arrays of flags, and the number of the first
        self.program = Program(name, parsed.place.file, parsed.place.line, {}, {}, {}, [], parsed.arguments, [])
        self.containers(parsed)
        while self.tree.children and _is_return(self.tree.children[-1]):
            self.tree.children.pop()  # nothing follows
        self.program.body = self.children(self.tree)
        refuse_single_elements(self.program, self.program.body, set())
        self.program.per_pe = any(a.parts for a in self.program.arrays.values())

    # ---- what there is ----

    def containers(self, parsed: Parsed) -> None:
        p = self.program
        for name, desc in self.tree.containers.items():
            dtype = desc.dtype.to_string()

            argument = name in parsed.arguments
            if isinstance(desc, data.View):
                continue
            if desc.transient and dtype == "uint64":  # nothing else is: the user may have named it anew
                self.flags[name] = p.flags
                p.flags += int(desc.shape[0])
                continue
            if dtype not in DTYPES:
                raise ProgramError.at(self.place, name, f"holds {dtype}; must be one of {', '.join(DTYPES)}")
            if isinstance(desc, data.Scalar):
                (p.scalars if argument else p.variables)[name] = dtype
                continue
            if not isinstance(desc, data.Array):
                raise ProgramError.at(self.place, name, f"is a {type(desc).__name__}; must be an array or a scalar")
            shape = tuple(index_of(n) for n in desc.shape)
            if not argument and all(n == 1 for n in shape):
                p.variables[name] = dtype
                continue
            axes = parsed.splits.get(name, (0,) if argument else ())
            p.arrays[name] = Array(
                name, dtype, shape, argument, name in parsed.splits, [Dealt(k, shape[k]) for k in axes]
            )
        arguments = [a for a in p.arrays.values() if a.argument]
        parts = not parsed.splits
        for a in arguments:
            a.parts = parts
        p.sizes = sorted({str(s) for a in arguments for n in a.shape for s in n.free_symbols})

    def element(self, name: str, index: tuple[Any, ...], place: Place) -> Expression:
        """What an element of an array, a view or a scalar is."""
        while name in self.views:
            name, index = self.through(name, index, place)
        p = self.program
        if name in p.arrays:
            return Read(name, index)
        if name in p.scalars or name in p.variables:
            return Value(name)
        raise ProgramError.at(place, name, "is not an array of numbers")

    def through(self, view: str, index: tuple[Any, ...], place: Place) -> tuple[str, tuple[Any, ...]]:
        """The same element in what a view shows."""
        node = self.views[view]
        ranges = [tuple(index_of(x) for x in r) for r in ranges_of(node.memlet.subset)]
        kept = list(range(len(ranges)))
        if len(ranges) != len(index):
            kept = [k for k, (begin, end, _) in enumerate(ranges) if begin != end]
            if len(index) == 1 and not kept:
                kept = [len(ranges) - 1]
        if len(kept) != len(index):
            raise ProgramError.at(place, node.source, "is seen in another shape; index the array itself")
        result = [begin for begin, _, _ in ranges]
        for k, i in zip(kept, index, strict=True):
            result[k] = sympy.expand(ranges[k][0] + ranges[k][2] * i)
        return node.source, tuple(result)

    def children(self, scope: Any) -> Body:
        body: Body = []
        for node in scope.children:
            if isinstance(node, (tn.ElifScope, tn.ElseScope)):
                before = body[-1] if body else None
                if not isinstance(before, If):
                    raise ProgramError.at(self.place, "else", "stands without its if")
                condition = None if isinstance(node, tn.ElseScope) else self.condition(node.condition, before.place)
                before.branches.append((condition, self.children(node)))
            else:
                body.extend(self.statement(node))
        return body

    def statement(self, node: Any) -> Body:
        place = self.place_of(node)
        if isinstance(node, tn.ViewNode):
            self.views[node.target] = node
            return []
        if isinstance(node, tn.TaskletNode):
            return [self.tasklet(node, place)]
        if isinstance(node, tn.CopyNode):
            return [self.copy(node, place)]
        if isinstance(node, tn.MapScope):
            return parallel_loop(self, node, place)
        if isinstance(node, tn.LibraryCall):
            if type(node.node).__name__ == "Communication":
                return communication(self, node, place)
            return library(self, node, place)
        if isinstance(node, tn.ForScope):
            return [self.loop(node, place)]
        if isinstance(node, tn.WhileScope):
            return [While(place, self.condition(node.loop.loop_condition, place), self.children(node))]
        if isinstance(node, tn.IfScope) and not isinstance(node, tn.StateIfScope):
            return [If(place, [(self.condition(node.condition, place), self.children(node))])]
        if isinstance(node, tn.AssignNode):
            self.program.variables.setdefault(node.name, "int64")
            return [Assign(place, node.name, self.condition(node.value, place))]
        if _is_return(node):
            raise ProgramError.at(place, "return", "stands before the end of the program; put what follows under else")
        if isinstance(node, tn.NamedRegionScope):
            return self.children(node)
        kind = type(node).__name__.removesuffix("Node").removesuffix("Scope")
        raise ProgramError.at(place, kind.lower(), "is outside of the subset; see docs/dace.md")

    def condition(self, code: Any, place: Place) -> Expression:
        """A condition or value between states."""
        text = code if isinstance(code, str) else code.as_string
        return expression_of(ast.parse(text.strip(), mode="eval"), lambda n: None, place)

    def place_of(self, node: Any) -> Place:
        """The line of a node, or of the first below it that has one."""
        line = 0
        if isinstance(node, (tn.TaskletNode, tn.LibraryCall)):
            info = node.node.debuginfo
            line = info.start_line if info else 0
        elif isinstance(node, tn.MapScope):
            info = node.node.map.debuginfo
            line = info.start_line if info else 0
        elif isinstance(node, (tn.CopyNode, tn.ViewNode)):
            info = node.memlet.debuginfo
            line = info.start_line if info else 0
        elif isinstance(node, tn.LoopScope):
            info = getattr(node.loop, "debuginfo", None)
            line = info.start_line if info else 0
        if not line and isinstance(node, tn.ScheduleTreeScope):
            lines = [self.place_of(c).line for c in node.children]
            line = min((n for n in lines if n), default=0)
        if line:
            self.place = Place(self.program.file, line)
        return self.place

    def tasklet_value(self, node: Any, place: Place, inside: dict[str, Expression]) -> Expression:
        """What a tasklet computes. `inside`: scalars that the surrounding map has computed before."""
        code = node.node.code
        tree = code.code
        if _calls_back(node):
            raise called_back(place)
        if node.node.language.name != "Python" or len(tree) != 1 or not isinstance(tree[0], ast.Assign):
            raise ProgramError.at(place, node.node.name, "is no single assignment of Python")
        operands = {name: self.operand(m, place, inside) for name, m in node.in_memlets.items()}

        def named(name: str) -> Expression | None:
            if name in operands:
                return operands[name]
            if name in self.program.scalars or name in self.program.variables:
                return inside.get(name, Value(name))
            return Index(symbol(name))

        return expression_of(tree[0].value, named, place, self.own_casts(node, tree[0].value))

    def own_casts(self, node: Any, value: ast.AST) -> bool:
        """Whether casts of operands are the user's, and not made by DaCe, which has operands named so.

        A literal may be a number that the function takes from outside; where these have types of NumPy, DaCe's casts
        tell of them.
        """
        if not all(name.startswith("__in") for name in node.in_memlets):
            return True
        power = isinstance(value, ast.BinOp) and isinstance(value.op, ast.Pow)
        literal = any(isinstance(n, ast.Constant) for n in ast.walk(value))
        return self.typed_numbers and literal and not power

    def operand(self, memlet: Any, place: Place, inside: dict[str, Expression]) -> Expression:
        index = element_of(memlet.subset)
        if index is None:
            raise ProgramError.at(place, memlet.data, "is read as a whole by one operation; index its elements")
        return inside.get(memlet.data) or self.element(memlet.data, index, place)

    def tasklet(self, node: Any, place: Place) -> Statement:
        if _calls_back(node):
            raise called_back(place)
        if len(node.out_memlets) != 1:
            raise ProgramError.at(place, node.node.name, "has several results")
        (out,) = node.out_memlets.values()
        self.note_result(node)
        return self.store(out, self.tasklet_value(node, place, {}), [], {}, place)

    def note_result(self, node: Any) -> bool:
        """Whether a tasklet is an operation, and not an assignment; what it gives is noted."""
        (out,) = node.out_memlets.values()
        operation = not isinstance(node.node.code.code[0].value, (ast.Name, ast.Constant))
        if operation:
            self.program.results.add(out.data)
        return operation

    def store(
        self, out: Any, value: Expression, params: list[Param], changes: dict[Any, Any], place: Place
    ) -> Statement:
        """The statement that leaves a value where a memlet points, with its symbols changed."""
        index = element_of(out.subset)
        if index is None:
            raise ProgramError.at(place, out.data, "is written as a whole by one operation; index its elements")
        target = substitute(self.element(out.data, index, place), changes)
        if out.wcr is not None:
            return self.accumulate(target, out, value, params, place)
        if isinstance(target, Value):
            if params:
                raise ProgramError.at(place, out.data, "is written by all iterations of a parallel loop")
            return Assign(place, target.name, value)
        assert isinstance(target, Read)
        return Compute(place, params, target.array, tuple(sympy.expand(i) for i in target.index), value)

    def accumulate(self, target: Expression, out: Any, value: Expression, params: list[Param], place: Place) -> Reduce:
        op = reduction_of(out.wcr)
        if op is None:
            raise ProgramError.at(place, out.data, f"is updated by {out.wcr}; sums, max and min are possible")
        free = {str(s) for i in (target.index if isinstance(target, Read) else ()) for s in i.free_symbols}
        if free & {p.name for p in params}:
            raise ProgramError.at(
                place,
                out.data,
                "is summed into at several places by a parallel loop; sum into one element, or use np.sum",
            )
        total = f"total_{next(self.fresh)}"
        self.program.variables[total] = self.dtype_of(target)
        return Reduce(place, total, op, params, value, target)

    def dtype_of(self, e: Expression) -> str:
        p = self.program
        if isinstance(e, Read):
            return p.arrays[e.array].dtype
        assert isinstance(e, Value)
        return p.scalars.get(e.name) or p.variables[e.name]

    def combined(self, reduce: Reduce) -> Body:
        """A reduction, and the statement that joins its total with the element that it updates."""
        target = reduce.into
        assert target is not None
        op = {"sum": "+", "max": "maximum", "min": "minimum"}[reduce.op]
        joined = Apply(op, (target, Value(reduce.name)))
        if isinstance(target, Value):
            return [reduce, Assign(reduce.place, target.name, joined)]
        assert isinstance(target, Read)
        return [reduce, Compute(reduce.place, [], target.array, target.index, joined)]

    def copy(self, node: Any, place: Place) -> Statement:
        """A copy between two places outside of maps."""
        source = ranges_of(node.memlet.subset or subsets.Range.from_array(self.tree.containers[node.memlet.data]))
        if node.memlet.wcr is not None:
            raise ProgramError.at(place, node.target, "is copied to with an update")
        if node.memlet.subset is None:  # np.copy
            self.program.results.add(node.target)
        if node.memlet.other_subset is not None:
            target = ranges_of(node.memlet.other_subset)
        else:
            desc = self.tree.containers[node.target]
            target = ranges_of(subsets.Range.from_array(desc))
        long = [k for k, (b, e, _) in enumerate(source) if b != e]
        wide = [k for k, (b, e, _) in enumerate(target) if b != e]
        if len(long) != len(wide):
            raise ProgramError.at(place, node.target, "is copied to in another shape")
        params: list[Param] = []
        read, written = [r[0] for r in source], [r[0] for r in target]
        for k, w in zip(long, wide, strict=True):
            if not as_long(source[k], target[w]):
                raise ProgramError.at(
                    place,
                    node.target,
                    f"gets {count_of(source[k])} elements for {count_of(target[w])}; lengths must be equal",
                )
            name = f"i{len(params)}"
            begin, end, step = (index_of(x) for x in source[k])
            params.append(
                Param(name, sympy.Integer(0), sympy.floor((end - begin) / step) + 1 if step != 1 else end - begin + 1)
            )
            read[k] = begin + step * symbol(name)
            begin, _, step = (index_of(x) for x in target[w])
            written[w] = begin + step * symbol(name)
        value = self.element(node.memlet.data, tuple(index_of(i) for i in read), place)
        to = self.element(node.target, tuple(index_of(i) for i in written), place)
        if isinstance(to, Value):
            return Assign(place, to.name, value)
        assert isinstance(to, Read)
        return Compute(place, params, to.array, to.index, value)

    def loop(self, node: Any, place: Place) -> For:
        loop = node.loop
        begin = loop_analysis.get_init_assignment(loop)
        end = loop_analysis.get_loop_end(loop)
        step = loop_analysis.get_loop_stride(loop)
        if begin is None or end is None or step is None or not sympy.sympify(step).is_Integer:
            raise ProgramError.at(place, f"loop over {loop.loop_variable}", "has no range with a constant step")
        step = int(step)
        self.program.defined.add(loop.loop_variable)
        last = index_of(end) + (1 if step > 0 else -1)
        return For(place, loop.loop_variable, index_of(begin), last, step, self.children(node))


def _is_return(node: Any) -> bool:
    return isinstance(node, tn.GotoNode) and node.target is None


def _calls_back(node: Any) -> bool:
    """Whether a tasklet is a call of Python."""
    return bool(node.node.name.startswith("callback") or node.node.side_effects)
