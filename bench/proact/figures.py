"""Figures of PROACT that one machine gives: what each measures, line by line, and its table.

A figure has a function that yields lines, `(where, short, budget)` in, and one that makes a row of a table of a line.
What `paced` links slow down says "simulated".
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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


@dataclass
class Budget:
    """The seconds that a run may take."""

    seconds: float
    start: float = field(default_factory=time.monotonic)
    ran_out: bool = False
    """Whether something was left out for it."""

    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.start)

    def over(self) -> bool:
        """Asked before each measurement, which is left out then."""
        self.ran_out = self.ran_out or self.left() <= 0
        return self.ran_out

    def tell(self, text: str) -> None:
        """What is done next, beside the time so far."""
        print(f"{time.monotonic() - self.start:6.1f} s  {text}", file=sys.stderr, flush=True)


class OutOfTime(Exception):
    """The budget ended a measurement of many parts."""


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


def goodput(where: Where, short: bool, budget: Budget) -> Iterator[Line]:
    """Figure 2: bytes a second by the size of stores, beside what packets of links allow."""
    probe = Microbenchmark(where.machine(), MB // 4 if short else 256 * MB)
    for size in powers(4, 64 if short else 4096):
        if budget.over():
            return
        line = {"what": "goodput", "to": probe.to, "devices": where.devices, "bytes": probe.size, "store_bytes": size}
        yield attempted(
            line, lambda size=size: {"us": microseconds(tuple(probe.store_seconds(size) for _ in range(3)))}
        )


def overlap(where: Where, short: bool, budget: Budget) -> Iterator[Line]:
    """Figure 6: the microbenchmark by chunk; computing takes as long as the copies, so that 2 is the most."""
    probe = Microbenchmark(where.machine(), MB // 8 if short else 256 * MB)
    budget.tell(f"{where.devices} devices: the work that takes as long as the copies")
    work = probe.balanced_work()
    compute = 1e6 * probe.compute_seconds(work)
    for agent in where.agents:
        for chunk in powers(4096, probe.size, 4):
            if budget.over():
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


def heat(where: Where, short: bool, budget: Budget) -> Iterator[Line]:
    """Figure 4: the microbenchmark by chunk and by the agent's threads, over simulated links."""
    probe = Microbenchmark(where.machine(), MB // 8 if short else 256 * MB)
    copies = probe.size / max(where.devices, 1) / RATE if not short else None
    budget.tell(f"{where.devices} devices: the work that takes as long as the copies")
    work = probe.balanced_work(copies)
    for blocks in powers(1, 2 if short else 32):
        for chunk in powers(4096, 16384 if short else 16 * MB, 4):
            if budget.over():
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


def hidden(case: Any, where: Where, repetitions: int, simulated: bool, budget: Budget) -> Iterator[Line]:
    """Figure 9: how much of what copies take is hidden: 1 - (run - run without data) / copies. Simulated links carry
    the data of an iteration in its bytes by their rate, and a latency; of real ones the plain copies are measured."""
    for agent in ("polling",) if simulated else where.agents:
        if budget.over():
            return
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
            copies = LATENCY + most / RATE if simulated else plain_copies(where, most)
            found: Line = {
                "us": [r.microseconds_per_iteration for r in whole],
                "elided_us": [r.microseconds_per_iteration for r in bare],
                "copy_us": 1e6 * copies, "bytes_on_a_link": most,
            }  # fmt: skip
            reason = unresolved(found)
            return {**found, "refused": reason} if reason else found

        yield attempted(line, measure)


def plain_copies(where: Where, bytes_on_a_link: float) -> float:
    """Seconds that a copy of so much from each device to each other one takes, all at the same time."""
    elements = max(1, int(bytes_on_a_link) // 4) * where.devices
    probe = Microbenchmark(where.machine(), 4 * elements)
    return min(probe.run(0, measuring=Measuring(sending="untracked")).copy_seconds)


def unresolved(line: Line) -> str:
    """Why figure 9 says nothing of these measurements: the copies are too short to be seen; empty where they are not.

    What is hidden is a part of the copies' time, found from the difference of two runs. So that time has to be more
    than a link's latency, which no size of data changes, and more than runs differ that do the same.
    """
    data_us = 1e6 * line["bytes_on_a_link"] / RATE
    if data_us < 1e6 * LATENCY:
        return f"{line['bytes_on_a_link']:.0f} bytes on a link: less time than its latency"
    differ = max(max(us) - min(us) for us in (line["us"], line["elided_us"]))
    if line["copy_us"] < 2 * differ:
        return f"copies of {line['copy_us']:.3g} us, and runs that differ by {differ:.3g} us"
    return ""


def stores(case: Any, where: Where) -> Iterator[Line]:
    """How many pieces of 128-byte lines an iteration sends, stored inline and by chunks; worked out, not measured."""
    line = {"what": "stores", "application": case.application, "graph": case.graph, "devices": where.devices}

    def measure() -> Line:
        inline, by_chunk = report(case, where, "polling", None).line_stores
        return {"inline": inline, "by_chunk": by_chunk}

    yield attempted(line, measure)


def chosen(program: str, name: str, a: Any, where: Where, seconds: float, budget: Budget) -> Iterator[Line]:
    """Table II: what the tuner takes, then the best of all settings, and how near the tuner came to it. Each search may
    take so many seconds, and half of what is left."""
    line = {"what": "chosen", "application": program, "graph": name, "devices": where.devices}
    found: Any = None

    def search(every: bool) -> tuple[Any, float]:
        def measured(trial: Any) -> None:
            budget.tell(f"{name}: {trial.setting.agent} {trial.setting.chunk} {trial.microseconds:.4g} us")
            if budget.over():
                raise OutOfTime

        start = time.monotonic()
        most = max(0.1, min(seconds, budget.left() / 2))
        tuning = graph.tune(program, a, machine=where.machine(), every=every, seconds=most, progress=measured)  # type: ignore[arg-type]
        return tuning, time.monotonic() - start

    def setting_of(tuning: Any) -> Line:
        return {"agent": tuning.agent, "chunk": tuning.chunk, "agent_blocks": tuning.agent_blocks}

    def by_tuner() -> Line:
        nonlocal found
        found, took = search(every=False)
        return {**setting_of(found), "us": found.trials[-1].microseconds, "seconds": took}

    def of_all() -> Line:
        every, took = search(every=True)
        us = {t.setting: t.microseconds for t in every.trials}
        more = {"tuner_us": us[found.trials[-1].setting]} if found is not None else {}
        return {**setting_of(every), "us": min(us.values()), "seconds": took, **more}

    for how, measure in (("tuner", by_tuner), ("all settings", of_all)):
        if budget.over():
            return
        try:
            yield attempted({**line, "how": how}, measure)
        except OutOfTime:
            yield {**line, "how": how, "error": f"no end within {budget.seconds:.0f} s in all"}


def report(case: Any, where: Where, agent: str, measuring: Measuring | None) -> Any:
    return case.run(devices=where.devices, machine=where.kind, agent=agent, deadline=20, measuring=measuring)


def iteration(case: Any, where: Where, agent: str, measuring: Measuring) -> float:
    return float(report(case, where, agent, measuring).microseconds_per_iteration)


APPLICATION = ("application", "graph", "devices", "agent", "chunk", "iterations", "us of each", "G entries/s")
HEADS = {
    "iterations": APPLICATION,
    "rival": APPLICATION,
    "goodput": ("to", "store bytes", "GB/s", "of NVLink, model", "of PCIe, model"),
    "overlap": ("to", "devices", "agent", "chunk", "us", "compute us", "copy us", "of 2"),
    "heat": ("devices", "links", "agent threads", "chunk", "us"),
    "tracking": ("application", "graph", "devices", "tracked us", "untracked us", "overhead"),
    "hidden": ("application", "graph", "devices", "links", "agent", "us", "without data us", "copies us", "hidden"),
    "stores": ("application", "graph", "devices", "inline", "by chunk", "ratio"),
    "speedup": ("application", "graph", "devices", "way", "us of each", "of one device", "of the bound"),
    "chosen": (
        "application",
        "graph",
        "devices",
        "search",
        "agent",
        "chunk",
        "its blocks",
        "us",
        "search s",
        "tuner, of the best",
    ),
}


def row(line: Line) -> tuple[object, ...]:
    """A line's cells, in the order of its head."""
    if "error" in line:
        known = ("to", "application", "graph", "devices", "way", "how", "agent", "chunk")
        return *(line[key] for key in known if key in line), line["error"]
    us = statistics.median(line["us"]) if isinstance(line.get("us"), list) else line.get("us", 0.0)
    links = "simulated" if "simulated" in line else "real"
    match line["what"]:
        case "iterations":
            what = (line["application"], line["graph"], line["devices"])
            sends = (line["agent"], line["chunk"]) if line["devices"] > 1 else ("-", "-")
            return *what, *sends, line["iterations"], f"{us:.4g}", f"{line['entries'] / us / 1e3:.3g}"
        case "rival":
            return line["application"], line["graph"], 1, line["rival"], "-", "-", f"{us:.4g}"
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
            part = line.get("refused") or f"{1 - (us - bare) / line['copy_us']:.0%}"
            what = (line["application"], line["graph"], line["devices"], links, line["agent"])
            return *what, f"{us:.4g}", f"{bare:.4g}", f"{line['copy_us']:.4g}", part
        case "stores":
            ratio = line["inline"] / max(line["by_chunk"], 1)
            what = (line["application"], line["graph"], line["devices"])
            return *what, line["inline"], line["by_chunk"], f"{ratio:.3g}"
        case "speedup":
            what = (line["application"], line["graph"], line["devices"])
            faster = f"{line.get('one_us', us) / us:.2f}"
            part = (f"{line['bound_us'] / us:.0%}",) if "bound_us" in line else ()
            return *what, line["way"], f"{us:.4g}", faster, *part
        case "chosen":
            what = (line["application"], line["graph"], line["devices"], line["how"], line["agent"], line["chunk"])
            blocks = line.get("agent_blocks") or "as chosen"
            near = (f"{line['tuner_us'] / us:.3g}",) if "tuner_us" in line else ()
            return *what, blocks, f"{us:.4g}", f"{line['seconds']:.3g}", *near
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
