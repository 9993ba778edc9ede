"""Figures of PROACT that one machine gives: what each measures, line by line, and its table.

A figure has a function that yields lines, `(where, short, end)` in, and one that makes a row of a table of a line. What
`paced` links slow down says "simulated".
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import starling
from starling import graph, machine
from starling._microbenchmark import Microbenchmark
from starling.graph import Measuring

MB = 2**20
RATE, LATENCY = 365e9, 1e-6
"""Of a link between two H200, which figures 4 and 9 simulate where PEs share a GPU: bytes a second, seconds."""
PACED = Measuring(bytes_per_second=RATE, latency=LATENCY)
SIMULATED = {"bytes_per_second": RATE, "latency": LATENCY}
FLIT, PCIE_EXTRA = 16, 24
"""Bytes: a store on NVLink has two flits besides its data; on PCIe so many (model of figure 2)."""
THREADS = 256
Line = dict[str, Any]


@dataclass(frozen=True)
class Where:
    """What is measured on: so many devices of a kind, by these agents."""

    kind: str
    devices: int
    agents: tuple[str, ...]

    def machine(self) -> machine.Machine:
        return machine.named(self.kind, self.devices)


def attempted(line: Line, measure: Callable[[], Line]) -> Line:
    """The line with what was measured, or with the error that came instead."""
    try:
        return {**line, **measure()}
    except starling.errors.Error as problem:
        return {**line, "error": str(problem)}


def microseconds(seconds: tuple[float, ...]) -> list[float]:
    return [1e6 * s for s in seconds]


def powers(least: int, most: int, factor: int = 2) -> list[int]:
    sizes = [least]
    while sizes[-1] * factor <= most:
        sizes.append(sizes[-1] * factor)
    return sizes


def goodput(where: Where, short: bool, end: float) -> Iterator[Line]:
    """Figure 2: bytes a second by the size of stores, beside what packets of links allow."""
    probe = Microbenchmark(where.machine(), MB // 4 if short else 256 * MB)
    for size in powers(4, 64 if short else 4096):
        if time.monotonic() > end:
            return
        line = {"what": "goodput", "to": probe.to, "devices": where.devices, "bytes": probe.size, "store_bytes": size}
        yield attempted(
            line, lambda size=size: {"us": microseconds(tuple(probe.store_seconds(size) for _ in range(3)))}
        )


def overlap(where: Where, short: bool, end: float) -> Iterator[Line]:
    """Figure 6: the microbenchmark by chunk; computing takes as long as the copies, so that 2 is the most."""
    probe = Microbenchmark(where.machine(), MB // 8 if short else 256 * MB)
    work = probe.balanced_work()
    compute = 1e6 * probe.compute_seconds(work)
    for agent in where.agents:
        for chunk in powers(4096, probe.size, 4):
            if time.monotonic() > end:
                return
            line = {
                "what": "overlap", "to": probe.to, "devices": where.devices, "bytes": probe.size, "work": work,
                "agent": agent, "chunk": chunk, "compute_us": compute,
            }  # fmt: skip
            yield attempted(line, lambda a=agent, c=chunk: ran(probe, work, agent=a, chunk=c))


def ran(probe: Microbenchmark, work: int, **how: Any) -> Line:
    how.setdefault("measuring", Measuring(timed=True))
    run = probe.run(work, deadline=20, **how)
    return {
        "us": microseconds(run.seconds), "copy_us": microseconds(run.copy_seconds), "right": run.right,
        "blocks": run.blocks, "threads": run.threads,
        "arrivals": [[a.kernel, a.first, a.last, a.after_end] for a in run.arrivals],
    }  # fmt: skip


def heat(where: Where, short: bool, end: float) -> Iterator[Line]:
    """Figure 4: the microbenchmark by chunk and by the agent's threads, over simulated links."""
    probe = Microbenchmark(where.machine(), MB // 8 if short else 256 * MB)
    copies = probe.size / max(where.devices, 1) / RATE if not short else None
    work = probe.balanced_work(copies)
    for blocks in powers(1, 2 if short else 32):
        for chunk in powers(4096, 16384 if short else 16 * MB, 4):
            if time.monotonic() > end:
                return
            line = {
                "what": "heat", "to": probe.to, "devices": where.devices, "bytes": probe.size, "work": work,
                "agent": "polling", "chunk": chunk, "agent_threads": blocks * THREADS, "simulated": SIMULATED,
            }  # fmt: skip
            yield attempted(line, lambda b=blocks, c=chunk: ran(probe, work, agent_blocks=b, chunk=c, measuring=PACED))


def tracking(case: Any, where: Where, repetitions: int) -> Iterator[Line]:
    """Figure 8: an iteration whose commits are counted, and one of which nothing is."""
    line = {"what": "tracking", "application": case.application, "graph": case.graph, "devices": where.devices}

    def measure() -> Line:
        us: dict[str, list[float]] = {"track_only": [], "untracked": []}
        for _ in range(repetitions):
            for sending, times in us.items():
                times.append(iteration(case, where, "polling", Measuring(sending=sending)))  # type: ignore[arg-type]
        return {"us": us["track_only"], "untracked_us": us["untracked"]}

    yield attempted(line, measure)


def hidden(case: Any, where: Where, repetitions: int, simulated: bool) -> Iterator[Line]:
    """Figure 9: how much of what copies would take is hidden: 1 - (run - run without data) / copies."""
    for agent in ("polling",) if simulated else where.agents:
        line: Line = {
            "what": "hidden", "application": case.application, "graph": case.graph, "devices": where.devices,
            "agent": agent,
        }  # fmt: skip
        if simulated:
            line["simulated"] = SIMULATED

        def measure(agent: str = agent) -> Line:
            links: dict[str, Any] = SIMULATED if simulated else {}
            # Without data the links take no time either: what is left is the protocol and the waits for one another.
            whole = [report(case, where, agent, Measuring(**links)) for _ in range(repetitions)]
            bare = [report(case, where, agent, Measuring(sending="elide_stores")) for _ in range(repetitions)]
            most = max(max(row) for row in whole[0].bytes_sent) / max(whole[0].iterations, 1)
            return {
                "us": [r.microseconds_per_iteration for r in whole],
                "elided_us": [r.microseconds_per_iteration for r in bare],
                "copy_us": 1e6 * (LATENCY + most / RATE), "bytes_on_a_link": most,
            }  # fmt: skip

        yield attempted(line, measure)


def stores(case: Any, where: Where) -> Iterator[Line]:
    """How many pieces of 128-byte lines an iteration sends, stored inline and by chunks; worked out, not measured."""
    line = {"what": "stores", "application": case.application, "graph": case.graph, "devices": where.devices}

    def measure() -> Line:
        inline, by_chunk = report(case, where, "polling", None).line_stores
        return {"inline": inline, "by_chunk": by_chunk}

    yield attempted(line, measure)


def chosen(program: str, name: str, a: Any, where: Where, seconds: float) -> Iterator[Line]:
    """Table II: what the tuner takes, and how near it comes to the best of all settings."""
    line = {"what": "chosen", "application": program, "graph": name, "devices": where.devices}

    def measure() -> Line:
        m = where.machine()
        every = graph.tune(program, a, machine=m, every=True, seconds=seconds)  # type: ignore[arg-type]
        start = time.monotonic()
        found = graph.tune(program, a, machine=m, seconds=seconds)  # type: ignore[arg-type]
        took = time.monotonic() - start
        times = {t.setting: t.microseconds for t in every.trials}
        mine = times[found.trials[-1].setting]
        return {"agent": found.agent, "chunk": found.chunk, "us": mine, "best_us": min(times.values()), "seconds": took}

    yield attempted(line, measure)


def report(case: Any, where: Where, agent: str, measuring: Measuring | None) -> Any:
    return case.run(devices=where.devices, machine=where.kind, agent=agent, deadline=20, measuring=measuring)


def iteration(case: Any, where: Where, agent: str, measuring: Measuring) -> float:
    return float(report(case, where, agent, measuring).microseconds_per_iteration)


APPLICATION = ("application", "graph", "devices", "agent", "chunk", "us", "G entries/s")
HEADS = {
    "iterations": APPLICATION,
    "rival": APPLICATION,
    "goodput": ("to", "store bytes", "GB/s", "of NVLink, model", "of PCIe, model"),
    "overlap": ("to", "devices", "agent", "chunk", "us", "compute us", "copy us", "of 2"),
    "heat": ("devices", "links", "agent threads", "chunk", "us"),
    "tracking": ("application", "graph", "devices", "tracked us", "untracked us", "overhead"),
    "hidden": ("application", "graph", "devices", "links", "agent", "us", "without data us", "hidden"),
    "stores": ("application", "graph", "devices", "inline", "by chunk", "ratio"),
    "chosen": ("application", "graph", "devices", "agent", "chunk", "us", "of the best", "search s"),
}


def row(line: Line) -> tuple[object, ...]:
    """A line's cells, in the order of its head."""
    if "error" in line:
        known = ("to", "application", "graph", "devices", "agent", "chunk")
        return *(line[key] for key in known if key in line), line["error"]
    us = statistics.median(line["us"]) if isinstance(line.get("us"), list) else line.get("us", 0.0)
    links = "simulated" if "simulated" in line else "real"
    match line["what"]:
        case "iterations":
            what = (line["application"], line["graph"], line["devices"], line["agent"], line["chunk"])
            return *what, f"{us:.4g}", f"{line['entries'] / us / 1e3:.3g}"
        case "rival":
            return line["application"], line["graph"], 1, line["rival"], "-", f"{us:.4g}"
        case "goodput":
            s = line["store_bytes"]
            flits = FLIT * (2 + -(-s // FLIT))
            return line["to"], s, f"{line['bytes'] / us / 1e3:.3g}", f"{s / flits:.1%}", f"{s / (s + PCIE_EXTRA):.1%}"
        case "overlap":
            copy = statistics.median(line["copy_us"])
            gain = (line["compute_us"] + copy) / us
            cells = (f"{us:.4g}", f"{line['compute_us']:.4g}", f"{copy:.4g}", f"{gain:.3g}")
            return line["to"], line["devices"], line["agent"], line["chunk"], *cells
        case "heat":
            return line["devices"], links, line["agent_threads"], line["chunk"], f"{us:.4g}"
        case "tracking":
            bare = statistics.median(line["untracked_us"])
            what = (line["application"], line["graph"], line["devices"])
            return *what, f"{us:.4g}", f"{bare:.4g}", f"{us / bare - 1:.1%}"
        case "hidden":
            bare = statistics.median(line["elided_us"])
            part = 1 - (us - bare) / line["copy_us"]
            what = (line["application"], line["graph"], line["devices"], links, line["agent"])
            return *what, f"{us:.4g}", f"{bare:.4g}", f"{part:.0%}"
        case "stores":
            ratio = line["inline"] / max(line["by_chunk"], 1)
            what = (line["application"], line["graph"], line["devices"])
            return *what, line["inline"], line["by_chunk"], f"{ratio:.3g}"
        case "chosen":
            what = (line["application"], line["graph"], line["devices"], line["agent"], line["chunk"])
            return *what, f"{us:.4g}", f"{us / line['best_us']:.3g}", f"{line['seconds']:.3g}"
    raise ValueError(line["what"])


def table(lines: list[Line]) -> list[str]:
    """Lines of one figure, as a table."""
    if not lines:
        return []
    head = HEADS[lines[0]["what"]]
    text = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for line in lines:
        cells = [str(cell) for cell in row(line)]
        text.append(f"| {' | '.join(cells + ['-'] * (len(head) - len(cells)))} |")
    return text
