"""Writes docs/regions_results.md from the result files of the benchmark of regions; nothing where there are none.

python bench/proact/page.py [--results bench/proact/results] [--page docs/regions_results.md]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for results_page

import figures
from results_page import machine_table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TITLES = {
    "applications": "Applications by agent",
    "chunks": "PageRank by chunk",
    "2": "Figure 2: goodput by the size of stores",
    "4": "Figure 4: chunks and threads of the agent",
    "6": "Figure 6: computing and copying at the same time",
    "7": "Figures 7 and 10: several devices beside one",
    "8": "Figure 8: the price of tracking",
    "9": "Figure 9: how much of the copies is hidden",
    "table2": "Table II: what the tuner takes",
    "stores": "Stores, inline and by chunks",
}
HEAD = """\
# Regions: results

`bench/proact/run.py` measured these; `bench/proact/page.py` wrote this page. Numbers of figures are those of the
publication. Of repetitions the median counts. *Simulated*: the agent held data back as long as links of the rate and
latency in the result file would have taken. With one device nothing is sent but to the host.
"""


def files_of(results: Path, figure: str) -> list[Path]:
    folder = results / figure
    return [*sorted(folder.glob("*.json")), *sorted(folder.glob("one_gpu/*.json"))]


def sections(results: Path) -> Iterator[str]:
    for figure, title in TITLES.items():
        for place, path in enumerate(files_of(results, figure)):
            kept = json.loads(path.read_text(encoding="utf-8"))
            parts = [] if place else [f"## {title}", ""]
            parts += [*machine_table(kept["machine"]), "", *figures.table(kept["results"])]
            if not kept.get("complete", True):
                parts += ["", "The run reached its time limit; the remaining cases were not measured."]
            yield "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/regions_results.md")
    o = parser.parse_args()
    all_of_them = list(sections(o.results))
    if not all_of_them:
        print(f"no results in {o.results}; {o.page} is not written", file=sys.stderr)
        return 0
    o.page.write_text("\n".join([HEAD, *(f"{text}\n" for text in all_of_them)]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
