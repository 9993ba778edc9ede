#!/usr/bin/env python3
"""Runs the programs and commands that a page shows, and compares their outputs with those that it shows.

Usage: check_documents.py [--write] [--complete] PAGE

What is run and how outputs are compared is told in documents/running.py, documents/matching.py and documents/blocks.py.
--write puts line numbers and other numbers that have changed into the page; what else has changed is for a person.
Without --complete, programs that are not built are named and left out. The exit status is 0 if all is as shown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from documents.blocks import read_page
from documents.matching import matches, renewed
from documents.running import check_page


def write(page: Path, outputs: dict[int, str]) -> None:
    """Renews the text blocks whose outputs are other ones now."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in read_page(page).blocks:
        came = outputs.get(block.line)
        if came is not None and not matches(block.text, came):
            new = renewed(block.text, came).splitlines()
            lines[block.line : block.line + len(new)] = new
    page.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs what a page shows and compares the outputs.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--write", action="store_true", help="put numbers that have changed into the page")
    parser.add_argument("--complete", action="store_true", help="programs that are not built are problems")
    arguments = parser.parse_args()
    page = arguments.page.resolve()
    with tempfile.TemporaryDirectory() as folder:
        result = check_page(page, Path(folder))
        if arguments.write:
            write(page, result.outputs)
    for problem in result.problems:
        print(problem)
    for missing in result.missing:
        print(f"left out: {missing}")
    return 1 if result.problems or (arguments.complete and result.missing) else 0


if __name__ == "__main__":
    sys.exit(main())
