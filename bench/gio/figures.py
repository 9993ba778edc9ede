"""Tables and pictures of a grid that is cut in two dimensions: figures 6 to 8 of the publication on GIO, and the same
with a grid that does not grow. Of lines that `bench/gio/grid.cpp` prints."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for plot

NOTE = "Hosts are played by PEs of one machine and cards are models: wire time is the model's, none."
WAYS = ("gio", "ikn", "inter_k", "inter_k_overlap")
PARTS = ("computing", "communication", "launching")


def least(lines: list[dict], **wanted: object) -> float | None:
    """The least time of the one result that has these values; None: it is not there."""
    found = [line for line in lines if all(line.get(key) == value for key, value in wanted.items())]
    return min(found[-1]["us"]) if found else None


def values(lines: list[dict], key: str, **wanted: object) -> list[int]:
    return sorted({line[key] for line in lines if all(line.get(name) == value for name, value in wanted.items())})


def by_devices(lines: list[dict], scaling: str, side: int) -> dict[str, dict[int, float]]:
    """Microseconds a step by way and number of hosts: figure 6 where the grid grows with them."""
    devices = values(lines, "devices", scaling=scaling, side=side)
    return _found(lines, devices, lambda n: {"devices": n, "scaling": scaling, "side": side})


def by_side(lines: list[dict], devices: int) -> dict[str, dict[int, float]]:
    """The same by the side of each host's part: figure 8."""
    sides = values(lines, "side", scaling="weak", devices=devices)
    return _found(lines, sides, lambda n: {"side": n, "scaling": "weak", "devices": devices})


def _found(lines, numbers, wanted) -> dict[str, dict[int, float]]:
    times = {way: {n: least(lines, way=way, **wanted(n)) for n in numbers} for way in WAYS}
    return {way: {n: t for n, t in of.items() if t is not None} for way, of in times.items() if any(of.values())}


def breakdown(lines: list[dict], devices: int, side: int) -> dict[str, dict[str, float]]:
    """Figure 7: parts of a step, of inter_k as 1.

    Of inter_k: launching is what empty kernels take, computing what kernels without copies take beyond that,
    communication the rest. The other ways overlap theirs and have one part.
    """
    wanted = {"devices": devices, "side": side, "scaling": "weak"}
    whole, computes, empty = (
        least(lines, way=way, **wanted) for way in ("inter_k", "inter_k_no_copies", "inter_k_empty")
    )
    if whole is None or computes is None or empty is None:
        return {}
    parts = dict(zip(PARTS, (max(computes - empty, 0), max(whole - computes, 0), min(empty, whole)), strict=True))
    result = {"inter_k": {name: time / whole for name, time in parts.items()}}
    for way in ("gio", "ikn", "inter_k_overlap"):
        time = least(lines, way=way, **wanted)
        if time is not None:
            result[way] = {"in all": time / whole}
    return result


def _hosts(n: int) -> str:
    return "1 host" if n == 1 else f"{n} hosts"


def table(times: dict[str, dict[int, float]], rows: str) -> list[str]:
    ways = list(times)
    text = [f"| {rows} | {' | '.join(ways)} |", "| ---: |" + " ---: |" * len(ways)]
    for n in sorted({n for of in times.values() for n in of}):
        text.append(f"| {n} | {' | '.join(f'{times[w][n]:.1f}' if n in times[w] else '' for w in ways)} |")
    return text


def sections(lines: list[dict]) -> str:
    """All tables, as Markdown."""
    text = [NOTE, ""]
    for scaling, what in (("weak", "each host's part"), ("strong", "the whole grid")):
        for side in values(lines, "side", scaling=scaling):
            text += [f"{side} x {side} cells are {what}: us a step, by hosts", ""]
            text += [*table(by_devices(lines, scaling, side), "hosts"), ""]
    for devices in values(lines, "devices", scaling="weak"):
        text += [f"{_hosts(devices)}: us a step, by the side of each part", ""]
        text += [*table(by_side(lines, devices), "side"), ""]
        for side in values(lines, "side", scaling="weak", devices=devices):
            parts = breakdown(lines, devices, side)
            if not parts:
                continue
            text += [f"{_hosts(devices)}, side {side}: parts of a step, of inter_k as 1", ""]
            text += ["| way | part | share |", "| --- | --- | ---: |"]
            text += [f"| {way} | {part} | {share:.2f} |" for way, of in parts.items() for part, share in of.items()]
            text.append("")
    return "\n".join(text)


def draw(lines: list[dict], results: Path) -> list[Path]:
    """Figures 6, 7 and 8, and strong scaling, each that there are results for, beside the file."""
    # Here, because it takes long to load.
    from matplotlib import pyplot

    made = []
    most = max(values(lines, "devices"), default=0)
    drawings: list[tuple[str, str, str, dict[str, dict[int, float]]]] = []
    for scaling, number in (("weak", "figure-6"), ("strong", "strong")):
        for side in values(lines, "side", scaling=scaling):
            found = by_devices(lines, scaling, side)
            if scaling == "strong" or side == middle(lines):
                drawings.append((number, f"{scaling} scaling, {side} x {side}", "hosts", found))
    drawings.append(("figure-8", _hosts(most), "side of each part", by_side(lines, most)))
    for name, title, axis, found in drawings:
        if not found:
            continue
        figure, axes = pyplot.subplots(figsize=(4.8, 3.4))
        for way, times in found.items():
            axes.plot(*zip(*sorted(times.items()), strict=True), marker="o", label=way)
        axes.set(xlabel=axis, ylabel="us a step", title=title, ylim=(0, None))
        axes.legend(frameon=False, fontsize=8)
        made.append(_saved(figure, results, name))
    parts = breakdown(lines, most, middle(lines))
    if parts:
        figure, axes = pyplot.subplots(figsize=(4.8, 3.4))
        for way, of in parts.items():
            bottom = 0.0
            for number, (part, share) in enumerate(of.items()):
                axes.bar(way, share, bottom=bottom, color=f"C{number if way == 'inter_k' else 3}",
                         label=part if way == "inter_k" else None)  # fmt: skip
                bottom += share
        axes.set(ylabel="a step, of inter_k", title=f"{_hosts(most)}, {middle(lines)} x {middle(lines)} each")
        axes.legend(frameon=False, fontsize=8)
        made.append(_saved(figure, results, "figure-7"))
    return made


def middle(lines: list[dict]) -> int:
    """The side that figures 6 and 7 are of: 2048, or the one in the middle."""
    sides = values(lines, "side", scaling="weak")
    return 2048 if 2048 in sides else sides[len(sides) // 2] if sides else 0


def _saved(figure, results: Path, name: str) -> Path:
    import plot

    figure.text(0.01, 0.005, NOTE, fontsize=5)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return plot.saved(figure, results, name)
