"""The table of results of bench/dace/run.py."""

from __future__ import annotations


def table(kept: list[dict]) -> list[str]:
    head = ("domain", "devices", "program, us a sweep", "blocks x threads", "cpu_free", "ratio", "DaCe alone", "ratio")
    text = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for shape, count in dict.fromkeys((line["shape"], line["devices"]) for line in kept):
        here = [line for line in kept if (line["shape"], line["devices"]) == (shape, count)]
        ways = {
            w: [line for line in here if line["way"] == w and "us" in line] for w in ("program", "cpu_free", "DaCe")
        }
        if not ways["program"]:
            text.append(f"| {shape} | {count} | {here[0].get('error', '')} |" + " |" * (len(head) - 3))
            continue
        best = min(ways["program"], key=lambda line: min(line["us"]))
        us = min(best["us"])
        cells = [shape, str(count), f"{us:.2f}", f"{best['blocks']} x {best['threads']}"]
        for way in ("cpu_free", "DaCe"):
            other = min((min(line["us"]) for line in ways[way]), default=None)
            cells += ["", ""] if other is None else [f"{other:.2f}", f"{us / other:.2f}"]
        text.append(f"| {' | '.join(cells)} |")
    return text
