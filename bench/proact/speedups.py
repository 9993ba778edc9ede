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
            if "us" in bound:
                here["bound_us"] = statistics.median(bound["us"])
        sent = 0.0
        for agent in agents:
            if budget.over():
                return
            found = figures.attempted({**here, "way": agent}, partial(own, case, where, agent, None, repetitions))
            sent = found.get("bytes_on_a_link", sent)
            yield found
        if "bound_us" in here and sent > 0:
            yield figures.attempted({**here, "way": BULK}, partial(bulk, where, bound, sent))
        if rival is not None and not budget.over():
            for line_of_rival in others(rival, n):
                yield {**here, **line_of_rival}


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


def bulk(where: Where, bound: Line, bytes_on_a_link: float) -> Line:
    """Bulk-synchronous at its best: the bound, and then the same bytes by copies between all devices at the same time,
    without what launches and waits between the two would take."""
    copies = 1e6 * figures.plain_copies(where, bytes_on_a_link)
    return {"us": [us + copies for us in bound["us"]], "copy_us": copies, "bytes_on_a_link": bytes_on_a_link}


def others(rival: Callable[[int], list[Any]], n: int) -> Iterator[Line]:
    try:
        for r in rival(n):
            way, _, problem = r.name.partition(": ")
            yield {"way": r.name, "us": r.us} if r.us else {"way": way, "error": problem}
    except Exception as failure:  # of libraries that are not ours; the other lines stay
        yield {"way": "other libraries", "error": f"{type(failure).__name__}: {failure}"}
