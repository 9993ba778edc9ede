#!/usr/bin/env python3
"""The table of OpenSHMEM's functions in docs/openshmem.md, made from src/shmem/openshmem.json and, for C, from
src/openshmem/functions.json.

A row of the file is a function: what the host has for it (`host`), what kernels have (`kernel`) and by which groups
(`groups`; without it every one), the test that shows it (`test`), `since`, if that is later than 1.5, and a `note`. One
with neither is not there: yet, or, where the note begins with "no" or "C interface", for the reason that it gives.

Usage: openshmem_table.py [--write]. Prints the table; --write puts it into the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import openshmem_calls

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "src/shmem/openshmem.json"
PAGE = ROOT / "docs/openshmem.md"
BEGIN = "<!-- made by tools/openshmem_table.py -->"
END = "<!-- the end of what is made -->"
REASONS = ("no: ", "C interface")

Row = dict[str, Any]


def sections() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def rows() -> list[Row]:
    return [row for section in sections() for row in section["functions"]]


def is_there(row: Row) -> bool:
    return "host" in row or "kernel" in row


def is_left_out(row: Row) -> bool:
    return not is_there(row) and str(row.get("note", "")).startswith(REASONS)


def functions_in_c() -> dict[str, tuple[int, str]]:
    """By their common name: how many there are, and the test that calls them."""
    table = openshmem_calls.read_table()
    found: dict[str, tuple[int, str]] = {}
    for section in table.sections:
        for row in section["functions"]:
            kinds = table.sets[row["types"]] if "types" in row else [""]
            n = len(kinds) * (2 if "[ctx_]" in row["name"] else 1)
            kind = "SIZE" if kinds[0].isdigit() else "TYPENAME"
            name = row.get("generic") or row["name"].replace("[ctx_]", "").replace("@", kind)
            found[name] = (n, f"tests/openshmem/{row.get('test', section['test'])}.c")
    return found


IN_C = functions_in_c()


def in_c(name: str) -> str:
    if " and others" in name:
        return "[below](#in-c-alone)"
    if name not in IN_C:
        return ""
    n, test = IN_C[name]
    return f"[{n}](../{test})"


def code(text: str) -> str:
    """A call as code; words as they are."""
    return f"`{text}`" if "(" in text or "::" in text else text


def line(row: Row) -> str:
    name = f"`{row['name']}`" + (f" ({row['since']})" if "since" in row else "")
    if not is_there(row):
        return f"| {name} | {in_c(row['name'])} | {row['note'] if is_left_out(row) else 'not yet'} | | |"
    kernel = code(row["kernel"]) if "kernel" in row else ""
    if "groups" in row:
        kernel += f" ({row['groups']})"
    test = Path(row["test"])
    shown = f"[{test.stem}](../{test.as_posix()})"
    host = code(row["host"]) if "host" in row else ""
    note = f"; {row['note']}" if "note" in row else ""
    return f"| {name} | {in_c(row['name'])} | {host} | {kernel} | {shown}{note} |"


def made() -> str:
    """What lies between the two comments of the page."""
    there = sum(is_there(row) for row in rows())
    left_out = sum(is_left_out(row) for row in rows())
    all_in_c = sum(n for n, _ in IN_C.values())
    text = [
        f"{there} of {len(rows())} rows are there in kernels or on the host, {left_out} are left out for the reason "
        f"given. In C there are all, {all_in_c} functions; the number of them stands beside each name."
    ]
    for section in sections():
        text += ["", f"### {section['title']}", ""]
        text += ["| OpenSHMEM | C | host | block, warp, thread, context | test |", "|---|---|---|---|---|"]
        text += [line(row) for row in section["functions"]]
    named = {row["name"] for row in rows()}
    text += ["", "### In C alone", "", "| OpenSHMEM | C |", "|---|---|"]
    text += [f"| `{name}` | {in_c(name)} |" for name in IN_C if name not in named]
    return "\n".join(text)


def renewed(page: str) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made()}\n\n{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the table of OpenSHMEM's functions.")
    parser.add_argument("--write", action="store_true", help="put it into docs/openshmem.md")
    if parser.parse_args().write:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(made())
    return 0


if __name__ == "__main__":
    sys.exit(main())
