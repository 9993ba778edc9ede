"""The page of the results of tasks says what its file holds, and does not stumble over what it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import stf_page
from stf_page import StfResults

MACHINE = {"gpus": ["NVIDIA H200, 580, 143771 MiB"], "processor": "p", "cores": 8}
BIG = 1 << 30


def task(topology: str, us: list[float], **more: object) -> dict:
    return {"what": "task_overhead", "topology": topology, "data": "slices", "work": "none", "backend": "stream",
            "threads": 1, "us": us, **more}  # fmt: skip


def total(way: str, devices: int, gb_per_s: list[float]) -> dict:
    return {"what": "reduction", "elements": BIG, "devices": devices, "way": way, "us": [1.0], "gb_per_s": gb_per_s}


def evicted(sweeps: int, cap: int, seconds: list[float]) -> dict:
    return {"what": "eviction", "sweeps": sweeps, "cap_mebibytes": cap, "prefetch": 0, "evictions": 7 if cap else 0,
            "seconds": seconds}  # fmt: skip


FULL = [
    task("trivial", [1.0, 0.8, 0.85]),
    task("stencil", [1.9]),
    task("trivial", [4.5], work="kernel", threads=2),
    task("tree", [0.2, 0.1, 0.14], what="task_replay", work="none", data="tokens"),
    task("tree", [1.5], what="task_replay", work="kernel", data="tokens"),
    task("fft", [0.3], what="task_replay", work="none", data="tokens"),
    total("launch", 1, [4400.0, 4450.0]),
    total("launch", 2, [8800.0]),
    total("CUB", 1, [4500.0]),
    evicted(16, 0, [0.5, 0.4]),
    evicted(16, 1024, [0.8]),
    {"what": "stf_pipeline", "kinds": "same", "kernels": 4, "n": 1000, "devices": 1, "backend": "stream", "us": [3, 2]},
    {"what": "stf_pipeline", "kinds": "same", "kernels": 4, "n": 1000, "devices": 1, "backend": "graph", "us": [0.7]},
    {"what": "stf_pipeline", "kinds": "together", "kernels": 16, "n": 10, "devices": 2, "backend": "graph", "us": [4]},
    task("trivial", [0.7, 0.9], what="task_overhead_fenced"),
    task("trivial", [2.4], what="task_overhead_rival"),
    task("stencil", [1.5], what="task_overhead_fenced"),
    task("stencil", [4.5], what="task_overhead_rival"),
    {"what": "context_cost", "backend": "graph", "tasks": 1, "devices": 2, "shared": True, "us": [5.0, 7.0, 6.0]},
]


def results(tmp_path: Path, lines: list) -> StfResults:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"machine": MACHINE, "results": lines}))
    return StfResults(file)


def test_all_tables(tmp_path: Path) -> None:
    text = stf_page.results_page([results(tmp_path, FULL)])
    assert "| trivial | slices | 0.85 (0.80 to 1.00) | 0.9 | met | 1.18 |" in text
    assert "| stencil | slices | 1.90 (1.90 to 1.90) | 1.6 | missed | 2.32 |" in text
    assert "| trivial, slices | a kernel in each task, 2 threads submit | 4.50 (4.50 to 4.50) |" in text
    assert "| tree | 140.00 (100.00 to 200.00) | 150 | met | 1500.00 (1500.00 to 1500.00) |" in text
    assert "| fft | 300.00 (300.00 to 300.00) | 150 | missed | not measured |" in text
    assert f"| {BIG:,} | 4,450 | not measured | 8,800 | not measured | 4,500 |" in text
    assert "99 % of CUB's rate; the limit was 97 %: met." in text
    assert "| 16 | no | 0.4000 | 0.8000 | 50 % | 7 |" in text
    assert "| of one kind | 4 | 1,000 | 1 | 2.00 | 0.70 |" in text
    assert "| of several kinds, named together by `stf::rounds` | 16 | 10 | 2 | not measured | 4.00 |" in text
    assert "| trivial | 0.80 | yes | 2.40 | 3.00 | 0.8 | met |" in text
    assert "| stencil | 1.50 | yes | 4.50 | 3.00 | 1.4 | missed |" in text
    assert "| graph | 1 | 2 | not measured | 6.00 (5.00 to 7.00) |" in text


def test_what_is_missing(tmp_path: Path) -> None:
    text = stf_page.results_page([results(tmp_path, [{"what": "other"}, "no line", evicted(1, 0, [1.0])])])
    assert "Cost of a task" in text.split("##")[1]  # in the explanation
    assert "### Cost of a task" not in text
    assert "| 1 | no | 1.0000 | not measured | not measured | not measured |" in text
    assert "Not measured yet." in stf_page.results_page([])
