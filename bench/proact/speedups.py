"""Figures 7 and 10 of PROACT: how much faster several devices are than one, by how data is duplicated, beside what an
infinitely fast interconnect would give.

Of applications that do a fixed number of iterations: those that end by their values would do other work without data.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import figures
from figures import Budget, Line, Where

from starling.graph import Measuring

FIXED = ("pagerank", "jacobi")
BULK = "computing, then plain copies"
INFINITE = "infinitely fast links"


def speedups(
    case: Any,
    kind: str,
    devices: list[int],
    agents: tuple[str, ...],
    repetitions: int,
    budget: Budget,
    rival: Callable[[int], list[Any]] | None,
) -> Iterator[Line]:
    """Lines of one application on one input; `rival(n)`: ways of other libraries on n devices."""
    line: Line = {"what": "speedup", "application": case.application, "graph": case.graph}
    alone = partial(own, case, Where(kind, 1, agents), "polling", None, repetitions)
    one = figures.attempted({**line, "devices": 1, "way": "one device"}, alone)
    yield one
    if "us" not in one:
        return
    known = {"one_us": statistics.median(one["us"])}
    for n in devices:
        where = Where(kind, n, agents)
        here = {**line, "devices": n, **known}
        if case.application in FIXED:
            if budget.over():
                return
            bound = figures.attempted({**here, "way": INFINITE}, partial(infinite, case, where, repetitions))
            yield bound
            yield figures.attempted({**here, "way": BULK}, partial(bulk, case, where, bound))
            if "us" in bound:
                here["bound_us"] = statistics.median(bound["us"])
        for agent in agents:
            if budget.over():
                return
            yield figures.attempted({**here, "way": agent}, partial(own, case, where, agent, None, repetitions))
        if rival is not None and not budget.over():
            for found in others(rival, n):
                yield {**here, **found}


def own(case: Any, where: Where, agent: str, measuring: Measuring | None, repetitions: int) -> Line:
    reports = [figures.report(case, where, agent, measuring) for _ in range(repetitions)]
    most = max(max(row) for row in reports[0].bytes_sent) / max(reports[0].iterations, 1)
    return {
        "us": [r.microseconds_per_iteration for r in reports], "iterations": reports[0].iterations,
        "chunk": reports[0].chunk_bytes, "bytes_on_a_link": most,
    }  # fmt: skip


def infinite(case: Any, where: Where, repetitions: int) -> Line:
    """The better of two: nothing tracked and nothing sent; or all of the protocol, with stores to peers left out."""
    found = [own(case, where, "polling", Measuring(sending=how), repetitions) for how in ("untracked", "elide_stores")]
    return min(found, key=lambda f: statistics.median(f["us"]))


def bulk(case: Any, where: Where, bound: Line) -> Line:
    """Bulk-synchronous at its best: the bound, and then the same bytes by copies between all devices at the same time,
    without what launches and waits between the two would take."""
    most = own(case, where, "polling", None, 1)["bytes_on_a_link"]
    copies = 1e6 * figures.plain_copies(where, most)
    return {"us": [us + copies for us in bound["us"]], "copy_us": copies, "bytes_on_a_link": most}


def others(rival: Callable[[int], list[Any]], n: int) -> Iterator[Line]:
    try:
        for r in rival(n):
            yield {"way": r.name, "us": r.us} if r.us else {"way": r.name, "error": "see the name of the way"}
    except Exception as problem:  # of libraries that are not ours; the other lines stay
        yield {"way": "other libraries", "error": f"{type(problem).__name__}: {problem}"}
