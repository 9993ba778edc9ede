"""The table of README.md compares what was measured in one run, and names what is slower."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import readme_figures
from results_page import BEGIN, END, put_into
from stencil_results import StencilResults

GPUS = ["NVIDIA H200, 580, 143771 MiB"]


def step(domain: str, variant: str, us: float, devices: int = 2) -> dict:
    return {"what": "stencil", "domain": domain, "devices": devices, "variant": variant, "compute": True, "us": [us]}


def on_matrix(what: str, matrix: str, us: float, devices: int = 1, **more: object) -> dict:
    return {"what": what, "matrix": matrix, "devices": devices, "us": [us], **more}


def message(what: str, size: int, us: float, destination: int = 1) -> dict:
    return {"measure": "latency", "what": what, "bytes": size, "us": [us], "devices": 2, "from": 0, "to": destination}


def total(way: str, rate: float) -> dict:
    return {"what": "reduction", "elements": 1 << 30, "devices": 1, "way": way, "gb_per_s": [rate - 1, rate]}


STENCILS = [
    *(step("256x256", v, us) for v, us in {"overlap": 20, "p2p": 16, "graph": 4, "cpu_free": 3, "temporal": 2}.items()),
    *(step("8192x8192", v, us) for v, us in {"overlap": 80, "graph": 90, "temporal": 40}.items()),
    *(step("512x512x512", v, us) for v, us in {"graph": 90, "cpu_free": 100, "resident": 400}.items()),
    step("256x256", "temporal", 1, devices=1),
]
MATRICES = [
    on_matrix("cg", "even", 10, method="fused", control="cpu_free"),
    on_matrix("rival cg", "even", 40, method="standard", control="graph"),
    on_matrix("cg", "uneven", 20, 4, method="fused", control="cpu_free"),
    on_matrix("rival cg", "uneven", 10, 4, method="standard", control="streams"),
    on_matrix("multiply", "even", 10),
    on_matrix("rival multiply", "even", 15),
    on_matrix("rival multiply", "uneven", 15),  # nothing to compare with
]
MESSAGES = [
    message("channel", 8, 1.0),
    message("nvshmem put_signal", 8, 2.0),
    message("channel", 65536, 4.0),
    message("nvshmem put_signal", 65536, 2.0),
    message("channel", 8, 0.1, destination=0),
]
FILES = {
    "cpu_free_stencil": STENCILS,
    "cpu_free_cg": MATRICES,
    "communication": MESSAGES,
    "stf": [
        total("launch", 98),
        total("CUB", 100),
        {"what": "task_overhead_fenced", "topology": "trivial", "us": [0.9, 1.1]},
        {"what": "task_overhead_rival", "topology": "trivial", "us": [2.0, 3.0]},
    ],
}


@pytest.fixture
def bench(tmp_path: Path):
    def write(name: str, lines: list, file: str = "one.json", **machine: object) -> Path:
        target = tmp_path / name / "results" / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            json.dumps({"machine": {"gpus": GPUS * 2, "date": "2026-01-01", **machine}, "results": lines})
        )
        return tmp_path

    return write


def test_every_row(bench) -> None:
    for name, lines in FILES.items():
        folder = bench(name, lines)
    rows = readme_figures.comparisons(folder)
    assert [round(one.ratio, 2) for one in rows] == [8, 2, 2, 0.9, 1.41, 1.5, 1, 0.98, 2.5]
    text = readme_figures.table(rows)
    assert (
        "| a step of a stencil, 256x256: 2.00 us (`temporal`) | streams and events of the host (`p2p`): 16.00 us"
        in text
    )
    assert "(`graph`): 4.00 us | 2.00 | 2 H200 | [2026-01-01](docs/stencil_results.md) |" in text
    assert "| an iteration of conjugate gradients, 2 matrices |" in text
    assert "| 1.41 (0.50 to 4.00) | 1, 4 H200 | [2026-01-01](docs/cg_results.md) |" in text
    rival = "CUDASTF, its own benchmark, with the wait at the end"
    assert f"| a task without work, graphs trivial | {rival} | 2.50 | 1 H200" in text
    assert "8 B to 65,536 B | NVSHMEM, `put_signal` of a block | 1.00 (0.50 to 2.00)" in text


def test_all_that_is_slower_is_named(bench) -> None:
    for name, lines in FILES.items():
        folder = bench(name, lines)
    text = " ".join(readme_figures.table(readme_figures.comparisons(folder)).split())
    below = text.split("Slower than what is used instead: ")[1]
    assert "a step of a stencil, 512x512x512 (0.90)" in below
    assert "an iteration of conjugate gradients: uneven on 4 GPUs (0.50)" in below
    assert "a message to another GPU: 65,536 B (0.50)" in below
    assert "doubles by tasks (0.98)" in below
    assert "even on 1 GPU" not in below
    faster = readme_figures.comparisons(bench("stf", [total("launch", 101), total("CUB", 100)]))[-1:]
    assert "Slower" not in readme_figures.table(faster)


def test_both_sides_are_of_the_newest_file_that_has_both(bench) -> None:
    bench("stf", [total("launch", 90), total("CUB", 100)], "a.json", date="2026-02-01")
    bench("stf", [total("launch", 99)], "b.json", date="2026-03-01")
    folder = bench("stf", [total("CUB", 50), total("launch", 100)], "c.json", date="2025-12-01")
    (one,) = readme_figures.comparisons(folder)
    assert (one.date, one.ratio) == ("2026-02-01", 0.9)


@pytest.mark.parametrize("lines", [[], [{"what": "stencil"}, "nonsense", {"what": "cg", "error": "a stall"}]])
def test_what_no_file_has_is_left_out(bench, lines: list) -> None:
    for name in FILES:
        folder = bench(name, lines)
    assert readme_figures.comparisons(folder) == []
    assert readme_figures.table([]) == "not measured"


def test_virtual_devices_do_not_count(bench) -> None:
    assert readme_figures.comparisons(bench("stf", FILES["stf"], gpus=[])) == []


def test_the_text_around_the_table_stays(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_into(readme, "new")
    put_into(readme, "new")
    assert readme.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    readme.write_text("no marks")
    with pytest.raises(SystemExit, match="needs one line"):
        put_into(readme, "new")


def test_the_picture(bench, tmp_path: Path) -> None:
    folder = bench("cpu_free_stencil", STENCILS)
    target = tmp_path / "steps.png"
    readme_figures.draw(StencilResults(folder / "cpu_free_stencil/results/one.json"), target)
    assert target.read_bytes().startswith(b"\x89PNG")
