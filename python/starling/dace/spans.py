"""The values that index expressions may have in a call, where loop variables and parameters have ranges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import sympy

from starling.dace.ir import symbol

__all__ = ["Known", "Span", "Variable"]

Span = tuple[int, int]  # the least and the greatest value


@dataclass(frozen=True)
class Variable:
    """A loop variable or parameter: bounds of its values, each an expression of what is known without it."""

    name: str
    at_least: tuple[Any, ...]
    at_most: tuple[Any, ...]


@dataclass(frozen=True)
class Known:
    """What is known at a place of a program: numbers by name, and variables, the innermost last."""

    numbers: dict[Any, Any]
    variables: tuple[Variable, ...] = ()

    @staticmethod
    def of(values: dict[str, int]) -> Known:
        """Numbers alone."""
        return Known({symbol(n): sympy.Integer(v) for n, v in values.items()})

    def within(self, name: str, begin: Any, end: Any, step: Any = 1) -> Known | None:
        """The same within a loop from begin by step, before end; None: it has no passes."""
        begin, last = self._number(begin), self._number(end) - (1 if step > 0 else -1)
        passes = (last - begin) if step > 0 else (begin - last)
        most = self.extreme(passes, True)
        if most is not None and most < 0:
            return None
        if sympy.expand(passes).is_Integer:  # the last pass may begin before the end
            last = begin + step * (sympy.expand(passes) // abs(step))
        low, high = (begin, last) if step > 0 else (last, begin)
        at = symbol(name)
        outer = tuple(
            v
            for v in self.variables
            if v.name != name and not any(at in x.free_symbols for x in v.at_least + v.at_most)
        )
        return replace(self, variables=(*outer, Variable(name, (low,), (high,))))

    def where(self, facts: Iterable[Any]) -> Known | None:
        """The same where these expressions are not negative; None: that cannot be."""
        variables = list(self.variables)
        for fact in map(self._number, facts):
            most = self.extreme(fact, True)
            if most is not None and most < 0:
                return None
            for k in reversed(range(len(variables))):
                v = variables[k]
                if (at := symbol(v.name)) in fact.free_symbols:
                    scale, rest = _linear(fact, at)
                    if scale is not None and scale > 0:
                        variables[k] = replace(v, at_least=(*v.at_least, -sympy.floor(rest / scale)))
                    elif scale is not None:
                        variables[k] = replace(v, at_most=(*v.at_most, sympy.floor(rest / -scale)))
                    break
        return replace(self, variables=tuple(variables))

    def span(self, e: Any) -> Span | None:
        """The values of an expression; None: they depend on what is computed."""
        ends = self.extreme(e, False), self.extreme(e, True)
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])

    def extreme(self, e: Any, most: bool) -> int | None:
        """What an expression is at least, or with `most` at most; None: that is not known."""
        total, linear = 0, sympy.Integer(0)
        for term in sympy.Add.make_args(self._number(e)):
            scale, rest = term.as_coeff_Mul()
            if rest == 1 or rest.is_Symbol:
                linear += term
                continue
            end = self._of_atom(rest, most == bool(scale > 0))
            if end is None or not scale.is_Integer:
                return None
            total += int(scale) * end
        end = self._of_linear(linear, most)
        return None if end is None else total + end

    def _number(self, e: Any) -> Any:
        try:
            return sympy.expand(sympy.sympify(e).xreplace(self.numbers))
        except ZeroDivisionError:  # a remainder, of which the program itself sees to it that it is not computed
            return symbol("unknown'")

    def _of_linear(self, e: Any, most: bool) -> int | None:
        if e.is_Integer:
            return int(e)
        for k in reversed(range(len(self.variables))):
            v = self.variables[k]
            if (at := symbol(v.name)) not in e.free_symbols:
                continue
            scale, rest = _linear(e, at)
            if scale is None:
                return None
            outer = replace(self, variables=self.variables[:k])
            ends = v.at_most if most == bool(scale > 0) else v.at_least
            found = [n for n in (outer.extreme(rest + scale * x, most) for x in ends) if n is not None]
            return (min if most else max)(found, default=None)
        return None

    def _of_atom(self, e: Any, most: bool) -> int | None:
        """Of what is no sum and no multiple."""
        if isinstance(e, (sympy.Min, sympy.Max)):
            ends = [self.extreme(a, most) for a in e.args]
            known = [n for n in ends if n is not None]
            choose = min if isinstance(e, sympy.Min) else max
            one_is_enough = most == isinstance(e, sympy.Min)
            return choose(known) if known and (one_is_enough or len(known) == len(ends)) else None
        if isinstance(e, sympy.Mod):
            return self._of_remainder(e.args[0], e.args[1], most)
        if isinstance(e, (sympy.floor, sympy.ceiling)):
            over, under = sympy.fraction(sympy.together(e.args[0]))
            end = self.extreme(over, most)
            if end is None or not under.is_Integer or under < 1:
                return None
            return end // int(under) if isinstance(e, sympy.floor) else -(-end // int(under))
        if e.is_Mul or (e.is_Pow and e.exp.is_Integer and e.exp > 0):
            factors = list(e.args) if e.is_Mul else [e.base] * int(e.exp)
            return self._of_product(factors, most)
        return None

    def _of_remainder(self, a: Any, n: Any, most: bool) -> int | None:
        by, of = self.span(n), self.span(a)
        if by is None or by[0] < 1:
            return None
        if of is not None and by[0] == by[1] and of[0] // by[0] == of[1] // by[0]:
            return of[most] % by[0]
        return by[1] - 1 if most else 0

    def _of_product(self, factors: list[Any], most: bool) -> int | None:
        corners = [1]
        for f in factors:
            ends = self.span(f)
            if ends is None:
                return None
            corners = [c * n for c in corners for n in ends]
        return max(corners) if most else min(corners)


def _linear(e: Any, at: Any) -> tuple[Any, Any]:
    """What a symbol is multiplied by, and the rest; (None, None): e is not linear in it."""
    scale = sympy.expand(e).coeff(at)
    rest = sympy.expand(e - scale * at)
    known = scale.is_Integer and scale != 0 and at not in rest.free_symbols
    return (scale, rest) if known else (None, None)
