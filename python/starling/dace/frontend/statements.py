"""Statements of Python, one after the other."""

from __future__ import annotations

import ast
import builtins

from starling.dace.frontend import assignments, branches
from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.expressions.operators import truth
from starling.dace.frontend.loops import loop
from starling.dace.frontend.scopes.joins import End, join_behind
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import Outside
from starling.dace.ir import Apply, Break, Continue, If, Number, Stop
from starling.dace.program_error import Place

__all__ = ["block", "condition_of"]

REFUSED = {
    ast.With: "with",
    ast.Try: "try",
    ast.FunctionDef: "a function in a function",
    ast.ClassDef: "a class",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
    ast.Delete: "del",
    ast.Import: "import",
    ast.ImportFrom: "import",
    ast.Match: "match",
}


def block(t: Translation, body: list[ast.stmt]) -> None:
    """Translates statements up to one behind which nothing is reached."""
    for k, s in enumerate(body):
        if not t.reached:
            return
        t.place = Place(t.frame.file, t.frame.first + s.lineno)
        if isinstance(s, (ast.For, ast.While)):
            states = loop.loop(t, s)
            if states:
                _in_each_state(t, states, body[k + 1 :], body[-1])
                return
        else:
            _statement(t, s)


def _in_each_state(t: Translation, states: list[loop.State], rest: list[ast.stmt], last: ast.stmt) -> None:
    """What follows a loop that leaves names for other arrays, depending on how many passes there were."""
    made = If(place=t.place)
    ends: list[End] = []
    place = t.place
    t.body.append(made)
    for k, state in enumerate(states):
        inner: list[object] = []
        made.branches.append((None if k == len(states) - 1 else state.condition, inner))  # type: ignore[arg-type]
        t.frame.env, t.reached, t.place = dict(state.env), True, place
        with t.into(inner):  # type: ignore[arg-type]
            block(t, rest)
        if t.reached:
            ends.append(End(inner, t.frame.env))  # type: ignore[arg-type]
    t.reached = bool(ends)
    if ends:
        join_behind(t, t.frame.live.behind[last], ends, "a loop has an even number of passes")


def _statement(t: Translation, s: ast.stmt) -> None:
    t.value_name = ""
    if isinstance(s, ast.Assign):
        t.whole_value = s.value
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            t.value_name = s.targets[0].id
        assignments.assign(t, s)
    elif isinstance(s, ast.AnnAssign):
        if s.value is not None:
            t.whole_value = s.value
            assignments.assign_to(t, s.target, assignments.fixed(t, expressions.evaluate(t, s.value), [s.target]), s)
    elif isinstance(s, ast.AugAssign):
        t.whole_value = s.value
        assignments.augment(t, s)
    elif isinstance(s, ast.If):
        branches.branch(t, s)
    elif isinstance(s, ast.Expr):
        _expression(t, s)
    elif isinstance(s, ast.Pass):
        pass
    elif isinstance(s, (ast.Break, ast.Continue)):
        _leave(t, s)
    elif isinstance(s, ast.Return):
        _return(t, s)
    elif isinstance(s, ast.Raise):
        _raise(t, s)
    elif isinstance(s, ast.Assert):
        _assert(t, s)
    else:
        what = REFUSED.get(type(s), type(s).__name__.lower())
        raise t.error(ast.unparse(s).splitlines()[0].rstrip(":"), f"is {what}, which a program cannot have")


def condition_of(t: Translation, node: ast.expr) -> object:
    """A condition as an expression of the program."""
    t.conditions += 1
    t.whole_value = node
    found = truth(t, expressions.evaluate(t, node), node)
    t.conditions -= 1
    return found


def _expression(t: Translation, s: ast.Expr) -> None:
    """A call for what it does; a text is a comment."""
    if isinstance(s.value, ast.Constant) and (isinstance(s.value.value, str) or s.value.value is Ellipsis):
        return
    t.whole_value = s.value
    before = len(t.body)
    found = expressions.evaluate(t, s.value)
    if isinstance(found, Outside) and found.value is None:
        return
    called = isinstance(s.value, ast.Call)
    if not called or len(t.body) == before:
        raise t.error(s.value, "has no effect; assign it to a name or to a part of an array")


def _leave(t: Translation, s: ast.Break | ast.Continue) -> None:
    inner = t.frame.loops[-1] if t.frame.loops else None
    word = "break" if isinstance(s, ast.Break) else "continue"
    if inner is None:
        raise t.error(word, "stands in a loop that is written out pass by pass; put what follows under if")
    made = Break() if isinstance(s, ast.Break) else Continue()
    t.add(made)
    inner.leave(word, t.body, made, t.env)
    t.reached = False


def _return(t: Translation, s: ast.Return) -> None:
    nothing = s.value is None or (isinstance(s.value, ast.Constant) and s.value.value is None)
    if len(t.frames) > 1:
        if s is not t.frame.tree.body[-1]:
            raise t.error("return", "stands before the end of a function that is called; put what follows under else")
        if not nothing:
            assert s.value is not None
            t.whole_value = s.value
            t.frame.returned = expressions.evaluate(t, s.value)
        return
    if not nothing:
        assert s.value is not None
        raise t.error(
            f"return {ast.unparse(s.value)}",
            "gives a value, which a program cannot; write it into an argument, such as result[0] = ... or "
            "result[:] = ...",
        )
    if s is not t.frame.tree.body[-1]:
        t.add(Stop(number=0))
    t.reached = False


def _message(t: Translation, node: ast.expr | None) -> str:
    """A text that stands in the source, also in pieces that are numbers from outside."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return str(node.value)
    raise t.error(node, "is a message that is computed; a program raises with a literal text")


def _raise(t: Translation, s: ast.Raise) -> None:
    name, message = s.exc, ""
    if isinstance(name, ast.Call):
        if len(name.args) > 1 or name.keywords:
            raise t.error(name, "has several arguments; a program raises with one literal text")
        message = _message(t, name.args[0] if name.args else None)
        name = name.func
    kind = getattr(builtins, name.id, None) if isinstance(name, ast.Name) else None
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        raise t.error(ast.unparse(s), "raises what is no exception of Python's own, such as ValueError")
    t.add(t.stop(kind.__name__, message))
    t.reached = False


def _assert(t: Translation, s: ast.Assert) -> None:
    e = condition_of(t, s.test)
    message = _message(t, s.msg)
    if isinstance(e, Number):
        if not e.value:
            t.add(t.stop("AssertionError", message))
            t.reached = False
        return
    t.guard(Apply("not", (e,)), "AssertionError", message)  # type: ignore[arg-type]
