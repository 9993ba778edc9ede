"""The table of OpenSHMEM's functions is true: the page shows it, calls that it names exist, and tests make them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import openshmem_table
from openshmem_table import ROOT, Row, is_left_out, is_there

ROWS = openshmem_table.rows()
THERE = [row for row in ROWS if is_there(row)]
HEADERS = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/starling/shmem").glob("*.hpp"))
)
DEVICE = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "include/starling/device").glob("*.hpp"))
)


def name_of(row: Row) -> str:
    return str(row["name"])


def test_the_page_shows_the_table() -> None:
    page = openshmem_table.PAGE.read_text(encoding="utf-8")
    assert page == openshmem_table.renewed(page), "run tools/openshmem_table.py --write"


def test_names_are_there_once() -> None:
    names = [name_of(row) for row in ROWS]
    assert len(names) == len(set(names))
    assert len(names) > 100


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_fields(row: Row) -> None:
    assert set(row) <= {"name", "since", "host", "kernel", "groups", "test", "note"}
    assert ("test" in row) == is_there(row)
    assert "groups" not in row or "kernel" in row
    if is_left_out(row):
        assert set(row) <= {"name", "since", "note"}


@pytest.mark.parametrize("row", THERE, ids=name_of)
def test_what_it_names_exists(row: Row) -> None:
    """Free functions and types of shmem, members of world, pe_memory, batch and the groups."""
    for text in (row.get("host", ""), row.get("kernel", "")):
        for name in re.findall(r"shmem::(\w+)", text):
            assert re.search(rf"\b(?:class |struct |\w+[>*&]? \*?){name}\b", HEADERS), name
        for name in re.findall(r"\b(?:w|w\.on\(pe\)|c|b|to)\.(\w+)(?:<T>)?\(", text):
            if name != "on":
                assert re.search(rf"\b{name}\(", HEADERS + DEVICE), name


@pytest.mark.parametrize("row", THERE, ids=name_of)
def test_its_test_makes_the_call(row: Row) -> None:
    test = Path(ROOT / row["test"]).read_text(encoding="utf-8")
    for text in (row.get("kernel") or row.get("host"),):
        names = re.findall(r"shmem::(\w+)|\.(\w+)(?:<T>)?\(", text)
        for free, member in names:
            assert re.search(rf"\b{free or member}\b", test), f"{row['test']} has no {free or member}"
