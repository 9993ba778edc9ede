"""Result files of `auto` beside every variant, on one device, and their table."""

from __future__ import annotations

import statistics
from pathlib import Path

import plot
import results_page
from results_page import ABSENT, head, machine_table, row, shown

AUTO = "auto"
PLAIN = "cpu_free"  # what `auto` is never to be clearly slower than
MODEL_ERROR = 0.3  # cost_model_error in apps/stencil/plan/cost_model.hpp


class AutoResults(results_page.Results):
    """One result file: the least time of a step by domain, type and variant, and what `auto` did."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.times: dict[tuple[str, str], dict[str, float]] = {}
        self.choices: dict[tuple[str, str], dict] = {}
        for line in self.lines:
            if not {"domain", "type", "variant"} <= line.keys():
                continue
            case = (line["domain"], line["type"])
            times = self.times.setdefault(case, {})
            times[line["variant"]] = min(plot.best(line), times.get(line["variant"], float("inf")))
            if line["variant"] == AUTO:
                self.choices[case] = line

    def best(self, case: tuple[str, str]) -> tuple[str, float] | None:
        """The best of the variants that somebody can name, and its time."""
        named = {v: us for v, us in self.times.get(case, {}).items() if v != AUTO}
        return min(named.items(), key=lambda item: item[1]) if named else None

    def over(self, case: tuple[str, str], us: float | None) -> float | None:
        """How much longer `auto` took, as a part of this time."""
        ours = self.times.get(case, {}).get(AUTO)
        return ours / us - 1 if ours and us else None


def percent(part: float | None) -> str:
    return ABSENT if part is None else f"{100 * part:+.0f} %"


def rows(r: AutoResults) -> list[str]:
    """A row for each domain and type."""
    table = head("domain", "type", "`auto`", "it ran", "expected", "the best", "its time", "`cpu_free`",
                 "over the best", "over `cpu_free`", "by built-in costs")  # fmt: skip
    for case, times in r.times.items():
        name, least = r.best(case) or (ABSENT, None)
        choice = r.choices.get(case, {})
        table.append(row(*case, shown(times.get(AUTO)), choice.get("ran", ABSENT), shown(choice.get("expected")), name,
                         shown(least), shown(times.get(PLAIN)), percent(r.over(case, least)),
                         percent(r.over(case, times.get(PLAIN))), choice.get("built_in", ABSENT)))  # fmt: skip
    return table


def summary(r: AutoResults) -> list[str]:
    """How far `auto` is from the best, and from `cpu_free`, of all rows."""
    best = {case: r.best(case) for case in r.times}
    over_best = [o for case, b in best.items() if b and (o := r.over(case, b[1])) is not None]
    over_plain = [o for case, t in r.times.items() if (o := r.over(case, t.get(PLAIN))) is not None]
    if not over_best or not over_plain:
        return []
    within = sum(o <= MODEL_ERROR for o in over_best)
    half = max(statistics.median(over_best), 0)
    return [
        f"Of {len(over_best)} rows `auto` is within the model's error, {100 * MODEL_ERROR:.0f} %, of the best in",
        f"{within}; half of them are within {100 * half:.0f} %, the worst is {100 * max(over_best):.0f} % above it.",
        f"Beside `cpu_free` the worst is {percent(max(over_plain))}.",
        "",
    ]


def section(r: AutoResults) -> list[str]:
    parts = [f"{r.name()}, one device, `bench/cpu_free_stencil/run.py --auto`, by costs measured just before:"]
    return [*parts, "", *machine_table(r.machine), "", *rows(r), "", *summary(r)]
