"""Writes the tables of docs/dace.md from the result files: what a sweep of a program takes.

python bench/dace/page.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for results_page

from results_page import machine_table, put_into  # noqa: E402
from sweeps import table  # noqa: E402

PAGE = HERE.parent.parent / "docs/dace.md"


def main() -> int:
    kept = [json.loads(path.read_text()) for path in sorted((HERE / "results").glob("**/*.json"))]
    tables = ["\n".join([*machine_table(file["machine"]), "", *table(file["results"])]) for file in kept]
    put_into(PAGE, "\n\n".join(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
