"""The table of OpenSHMEM's functions is true: the page shows it, calls that it names exist, and tests make them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import openshmem_calls
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


C_TABLE = openshmem_calls.read_table()
C_ROWS = [(section, row) for section in C_TABLE.sections for row in section["functions"]]


def words_of(test: Path) -> set[str]:
    return set(re.findall(r"[\w#]+", test.read_text(encoding="utf-8")))


@pytest.mark.parametrize(("section", "row"), C_ROWS, ids=lambda value: str(value.get("name", value.get("title"))))
def test_a_program_in_c_calls_it(section: Row, row: Row) -> None:
    """Typed calls stand in macros that are expanded for all types of the same set."""
    test = ROOT / f"tests/openshmem/{row.get('test', section['test'])}.c"
    words = words_of(test)
    forms = ("", "ctx_") if "[ctx_]" in row["name"] else ("",)
    for context in forms:
        name = row["name"].replace("[ctx_]", context)
        operation = re.search(r"_(and|or|xor|max|min|sum|prod)_(reduce|to_all)$", name)
        kind = "BITS" if row.get("types") in ("sizes", "words") else "NAME"
        spelled = {name.replace("@", f"##{kind}##").strip("#")}
        if operation:
            spelled = {f"shmem_##NAME##_##OP##_{operation.group(2)}"}
            assert re.search(rf"\(NAME, TYPE, {operation.group(1)},", test.read_text(encoding="utf-8"))
        if "atomic" in name and row["types"] == "amo_bitwise":
            what = re.search(r"(fetch_)?(and|or|xor)(_nbi)?$", name)
            assert what is not None
            fetch, nbi = what.group(1) or "", "##_nbi" if what.group(3) else ""
            spelled = {f"shmem_{context}##NAME##_atomic_{fetch}##OP{nbi}"}
            assert f"BITWISE(NAME, TYPE, {what.group(2)}," in test.read_text(encoding="utf-8")
        assert spelled & words, f"{test.name} has none of {spelled}"
        if "types" in row:
            assert f"FOR_{row['types'].upper()}" in words


def test_made_functions_are_declared_once(tmp_path: Path) -> None:
    functions = list(C_TABLE.functions())
    names = [f.name for f in functions]
    assert len(names) == len(set(names)) > 1400
    header = openshmem_calls.header(C_TABLE, functions)
    for name in names:
        assert len(re.findall(rf"^[\w *]+\b{name}\([^()]*\);$", header, re.M)) == 1, name


RESULTS = sorted((ROOT / "bench/openshmem/results").glob("*.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: str(path.stem))
def test_what_does_not_pass_of_other_suites_has_a_reason(path: Path) -> None:
    page = json.loads(path.read_text(encoding="utf-8"))
    for kind, n in page["counts"].items():
        assert n == sum(r["result"] == kind for r in page["results"])
    assert all(r["why"] for r in page["results"] if r["result"] != "pass")
    assert page["counts"]["pass"] > 100
