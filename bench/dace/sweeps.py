"""The table of results of bench/dace/run.py."""

from __future__ import annotations

OTHERS = ("stream", "call", "call-one-thread", "cpu_free", "DaCe")


def table(kept: list[dict]) -> list[str]:
    """A row for each domain and number of devices: the best of the settings, beside the other ways that were run."""
    others = [way for way in OTHERS if any(line["way"] == way and "us" in line for line in kept)]
    head = ["domain", "devices", "program, us a sweep", "blocks x threads"]
    for way in others:
        head += [f"{way}, us", "program / it"]
    text = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for shape, count in dict.fromkeys((line["shape"], line["devices"]) for line in kept):
        here = [line for line in kept if (line["shape"], line["devices"]) == (shape, count)]
        programs = [line for line in here if line["way"] == "program" and "us" in line]
        if not programs:
            text.append(f"| {shape} | {count} | {here[0].get('error', '')} |" + " |" * (len(head) - 3))
            continue
        best = min(programs, key=lambda line: min(line["us"]))
        us = min(best["us"])
        cells = [shape, str(count), f"{us:.2f}", f"{best['blocks']} x {best['threads']}"]
        for way in others:
            other = min((min(line["us"]) for line in here if line["way"] == way and "us" in line), default=None)
            cells += ["", ""] if other is None else [f"{other:.2f}", f"{us / other:.2f}"]
        text.append(f"| {' | '.join(cells)} |")
    return text
