"""What puts to another host take by way of network cards, by who asks for them and who carries them out.

    python bench/gio/run.py [--bin build/cuda/bin] [--out bench/gio/results]
    python bench/gio/run.py --machine host --bin build/host/bin
    python bench/gio/run.py --from FILE.json

Two PEs on one GPU that play two hosts: the wire takes no time, so that what is measured is the way from the block to
the card and back. `apps/gio/measure.hpp` says what the ways are. Draws figures 5a and 5b of the publication on GIO.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LATENCY = "bench_gio_latency"
WAYS = ("gio", "ikn", "inter_k", "inter_k_empty")


def chosen(lines: list[dict], what: str, way: str) -> dict[int, float]:
    """The least time by size, of one measurement and way."""
    return {line["bytes"]: min(line["us"]) for line in lines if line["what"] == what and line["way"] == way}


def table(lines: list[dict], what: str, title: str) -> list[str]:
    """A row for each size, a column for each way that was measured."""
    ways = [way for way in WAYS if chosen(lines, what, way)]
    text = [f"| {title} | {' | '.join(ways)} | gio / ikn |", "| ---: |" + " ---: |" * (len(ways) + 1)]
    for size in sorted(chosen(lines, what, ways[0])):
        times = [chosen(lines, what, way).get(size) for way in ways]
        by = dict(zip(ways, times, strict=True))
        ratio = f"{by['gio'] / by['ikn']:.2f}" if by.get("gio") and by.get("ikn") else ""
        text.append(f"| {size} | {' | '.join(f'{t:.2f}' if t else '' for t in times)} | {ratio} |")
    return text


def rates(lines: list[dict]) -> list[str]:
    """Millions of puts of 8 bytes a second, by queues."""
    found = {
        (line["way"], line["queues"]): max(line["millions_per_second"]) for line in lines if line["what"] == "rate"
    }
    ways = [way for way in WAYS if any(name == way for name, _ in found)]
    queues = sorted({n for _, n in found})
    text = [f"| queues | {' | '.join(ways)} |", "| ---: |" + " ---: |" * len(ways)]
    text += [f"| {n} | {' | '.join(f'{found[way, n]:.2f}' for way in ways)} |" for n in queues]
    return text


def by_blocks(lines: list[dict], way: str) -> list[str]:
    """Put and quiet by one way: a row for each number of blocks that put at the same time, a column for each size."""
    found = {(line["blocks"], line["bytes"]): min(line["us"]) for line in lines
             if line["what"] == "blocks" and line["way"] == way}  # fmt: skip
    found |= {(1, size): us for size, us in chosen(lines, "quiet", way).items()}
    sizes = sorted({size for _, size in found})
    text = [f"| blocks | {' | '.join(map(str, sizes))} |", "| ---: |" + " ---: |" * len(sizes)]
    for n in sorted({blocks for blocks, _ in found}):
        text.append(f"| {n} | {' | '.join(f'{found[n, s]:.2f}' if (n, s) in found else '' for s in sizes)} |")
    return text


def cycles(lines: list[dict]) -> list[str]:
    """From the call to the doorbell."""
    text = ["| entry | until it is written | record and doorbell | in all |", "| --- | ---: | ---: | ---: |"]
    text += [
        f"| {line['entry']} | {line['to_entry']} | {line['tell']} | {line['to_doorbell']} |"
        for line in lines
        if line["what"] == "cycles"
    ]
    return text


def sections(lines: list[dict]) -> str:
    """All tables, as Markdown."""
    return "\n".join(
        [
            "From the call until payload and signal are seen at the target, half a round trip, in us:",
            "",
            *table(lines, "latency", "bytes"),
            "",
            "Put and quiet, from the call to the return of quiet, in us:",
            "",
            *table(lines, "quiet", "bytes"),
            "",
            "The same by several blocks of gio at a time, each with a queue of its own, by bytes, in us:",
            "",
            *by_blocks(lines, "gio"),
            "",
            "Millions of puts of 8 bytes a second; each block has a queue:",
            "",
            *rates(lines),
            "",
            "Cycles of the thread that posts, an idle queue, the least of many:",
            "",
            *cycles(lines),
            "",
        ]
    )


def draw(lines: list[dict], results: Path) -> None:
    """Figures 5a and 5b: latency by size and way, and puts a second by queues."""
    # Here, because it takes long to load.
    import plot
    from matplotlib import pyplot

    figure, (latency, rate) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    for way in WAYS:
        times = chosen(lines, "latency", way) or chosen(lines, "quiet", way)
        if times:
            latency.loglog(*zip(*sorted(times.items()), strict=True), marker="o", label=way)
        found = [(line["queues"], max(line["millions_per_second"])) for line in lines
                 if line["what"] == "rate" and line["way"] == way]  # fmt: skip
        if found:
            rate.loglog(*zip(*sorted(found), strict=True), marker="o", label=way)
    latency.set(xlabel="bytes", ylabel="us", title="a put to another host")
    rate.set(xlabel="queues", ylabel="millions a second", title="puts of 8 bytes")
    latency.legend()
    figure.tight_layout()
    print(f"wrote {plot.saved(figure, results, 'puts')}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the program is")
    parser.add_argument("--machine", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--from", dest="made", type=Path, metavar="FILE.json", help="tables and picture of results")
    o = parser.parse_args()
    if o.made is None:
        if not (o.bin / LATENCY).is_file():
            parser.error(f"--bin {o.bin}: {LATENCY} is not there; build the benchmarks first (make gpu)")
        lines = programs.run(o.bin / LATENCY, ["--machine", o.machine], 240).lines
        results = programs.keep_results(o.out, {**facts.machine(), "pes_per_gpu": 2}, [2], lines)
    else:
        results = o.made
        lines = json.loads(results.read_text())["results"]
    if not lines:
        return 1
    draw(lines, results)
    print(sections(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
