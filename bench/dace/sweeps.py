"""The table of results of bench/dace/run.py."""

from __future__ import annotations

OTHERS = ("stream", "call", "call-one-thread", "cpu_free", "DaCe")


def place_of(line: dict) -> tuple[str, int, object]:
    return line["shape"], line["devices"], line.get("packets", "")


def table(kept: list[dict]) -> list[str]:
    """A row for each domain, number of devices and limit of packets that was asked for: the best of the settings,
    beside the other ways that were run."""
    others = [way for way in OTHERS if any(line["way"] == way and "us" in line for line in kept)]
    limits = any("packets" in line for line in kept)
    head = ["domain", "devices", *["packets up to, bytes"] * limits, "program, us a sweep", "blocks x threads"]
    for way in others:
        head += [f"{way}, us", "program / it"]
    text = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for place in dict.fromkeys(place_of(line) for line in kept):
        here = [line for line in kept if place_of(line) == place]
        of_row = [place[0], str(place[1]), *[str(place[2])] * limits]
        programs = [line for line in here if line["way"] == "program" and "us" in line]
        if not programs:
            text.append(f"| {' | '.join([*of_row, here[0].get('error', '')])} |" + " |" * (len(head) - len(of_row) - 1))
            continue
        best = min(programs, key=lambda line: min(line["us"]))
        us = min(best["us"])
        cells = [*of_row, f"{us:.2f}", f"{best['blocks']} x {best['threads']}"]
        for way in others:
            other = min((min(line["us"]) for line in here if line["way"] == way and "us" in line), default=None)
            cells += ["", ""] if other is None else [f"{other:.2f}", f"{us / other:.2f}"]
        text.append(f"| {' | '.join(cells)} |")
    return text
