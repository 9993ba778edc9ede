"""The page of the results of communication says what its file holds."""

from __future__ import annotations

import comm_page


def line(measure: str, what: str, size: int, us: list[float], source: int = 0, destination: int = 1) -> dict:
    return {"measure": measure, "what": what, "bytes": size, "us": us, "from": source, "to": destination,
            "devices": 2, "blocks": 16}  # fmt: skip


LINES = [
    line("latency", "packets", 8, [1.6, 1.5]),
    line("latency", "nvshmem put_signal", 8, [2.0]),
    line("latency", "stores", 1 << 20, [25.0]),
    line("stream", "stores", 1 << 20, [4.0, 3.0]),
    line("latency", "packets", 8, [1.1], 0, 0),
    line("call", "sync_all", 0, [3.2, 3.0, 3.1], -1, -1),
    {"what": "bench_communication_rivals_nccl", "devices": 2, "error": "was not built"},
]


def test_all_tables() -> None:
    text = comm_page.results_page([("h200", {"machine": {"cores": 8, "nvcc": ""}, "results": LINES})])
    assert "| bytes | packets | nvshmem put_signal | stores |" in text
    assert "| 8 | 1.50 | 2.00 |  |" in text
    assert "| 1,048,576 | 349.5 |" in text
    assert "| 8 | 1.10 |" in text
    assert "| sync_all | 2 | 16 | 3.00 | 3.10 |" in text
    assert "* bench_communication_rivals_nccl: was not built" in text
    assert "| nvcc | none |" in text


def test_nothing() -> None:
    assert "Not measured yet." in comm_page.results_page([])
    assert "## h200" in comm_page.results_page([("h200", {})])
