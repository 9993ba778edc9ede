"""Writes the tables of docs/processes.md from the newest result files: what several processes cost.

python bench/processes/page.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for results_page

from results_page import head, put_into, row  # noqa: E402

PAGE = HERE.parent.parent / "docs/processes.md"
GPU_BAR = {True: 1.1, False: 1.03}  # whether the PEs share a GPU
ROWS = {  # what is measured: its name, and how many times the time of one process it may take on virtual devices
    "message 8": ("message of 8 bytes through a channel, one way (us)", 1.5),
    "message 65536": ("message of 64 KiB through a channel, one way (us)", 1.5),
    "stream 65536": ("messages of 64 KiB one behind the other (us each)", 1.5),
    "sync_all": ("`sync_all` of a block on each PE (us)", 1.5),
    "stencil 256x256": ("step of a stencil, 256 x 256 float32, `cpu_free` (us)", 1.3),
    "stencil 1024x1024": ("step of a stencil, 1024 x 1024 float32, `cpu_free` (us)", 1.3),
    "cg 1024x1024": ("iteration of CG, 5-point rows of 1024 x 1024 (us)", 1.3),
}


def table(held: dict[str, Any]) -> str:
    """The rows, each by the least of all repetitions."""
    on, results = held["machine"], held["results"]
    least = {(r["what"], r["processes"]): min(r["microseconds"]) for r in results}
    pes = results[0]["pes"]
    gpus = -(-pes // on.get("pes_per_gpu", 1)) if held["kind"] == "cuda" else 0
    devices = (
        f"{pes} PEs on {gpus} {on['gpus'][0].split(',')[0]}{' under MPS' if pes > gpus else ''} ({on['date']})"
        if gpus
        else f"{pes} virtual devices on {on['cores']} cores ({on['processor']}, {on['date']})"
    )
    lines = [
        f"{devices}; the least of {len(results[0]['microseconds'])} runs of each, by turns:",
        "",
        *head("what", "one process", f"{pes} processes", "ratio", "bar"),
    ]
    for what, (name, bar) in ROWS.items():
        if (what, 1) not in least:
            continue
        bar = GPU_BAR[pes > gpus] if gpus else bar
        one, several = least[what, 1], least[what, pes]
        verdict = "met" if several <= bar * one else "missed"
        lines.append(row(name, _us(one), _us(several), f"{several / one:.2f}", f"{bar}: {verdict}"))
    return "\n".join(lines)


def _us(time: float) -> str:
    return f"{time:,.0f}" if time >= 1000 else f"{time:.3g}"


def main() -> int:
    held = [json.loads(path.read_text()) for path in sorted((HERE / "results").glob("*.json"))]
    newest = {
        (r["kind"], r["results"][0]["pes"], r["machine"].get("pes_per_gpu", 1)): r
        for r in sorted(held, key=lambda r: r["machine"]["date"])
    }
    put_into(PAGE, "\n\n".join(table(r) for r in newest.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
