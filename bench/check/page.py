"""Writes the table of docs/check.md from the newest result of on_gpus.py: what each tool finds of wrong kernels.

python bench/check/page.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for results_page

from results_page import ABSENT, head, put_into, row  # noqa: E402

PAGE = HERE.parent.parent / "docs/check.md"
ALL = "all"


def newest(files: Iterable[Path]) -> dict[str, Any] | None:
    """Of the results that have tools or GPUs; those of rate.py have none."""
    held = [data for data in (json.loads(path.read_text()) for path in files) if "tools" in data]
    return max(held, key=lambda data: data["machine"].get("date", ""), default=None)


def share(rows: Sequence[dict[str, Any]], found: Callable[[dict[str, Any]], bool | None]) -> str:
    """How many of those that were judged; where some were not, of how many."""
    judged = [one for one in map(found, rows) if one is not None]
    if not judged:
        return ABSENT
    return str(sum(judged)) if len(judged) == len(rows) else f"{sum(judged)} of {len(judged)}"


def by_check_mode(one: dict[str, Any]) -> bool | None:
    return bool(one["check_mode"])


def by_result(one: dict[str, Any]) -> bool | None:
    return one["wrong_results"] + sum(one["errors"].values()) > 0 if one["runs"] else None


def by_tool(tool: str) -> Callable[[dict[str, Any]], bool | None]:
    def found(one: dict[str, Any]) -> bool | None:
        reports = one["reports"].get(tool)
        return None if reports is None else reports > 0

    return found


def table(held: dict[str, Any]) -> str:
    """A line for each pattern of kernels, and one for all."""
    rows, tools = held["results"], held["tools"]
    ways = [by_check_mode, by_result, *map(by_tool, tools)]
    patterns = list(dict.fromkeys(sorted(one["pattern"] for one in rows)))
    gpu = held["machine"]["gpus"][0].split(",")[0]
    runs = max(one["runs"] for one in rows)
    lines = [
        f"{gpu} ({held['machine']['date']}); how many of the wrong kernels of `tests/wrong` each finds:",
        "",
        *head("pattern", "kernels", "check mode", f"wrong in any of {runs} runs", *(f"`{tool}`" for tool in tools)),
    ]
    for pattern in [*patterns, ALL]:
        of = [one for one in rows if pattern in (one["pattern"], ALL)]
        lines.append(row(pattern, len(of), *(share(of, found) for found in ways)))
    others = [by_result, *map(by_tool, tools)]
    alone = [one["program"] for one in rows if one["check_mode"] and not any(found(one) for found in others)]
    twins = sum(one["twin_right"] is True for one in rows)
    lines += [
        "",
        f"Check mode alone finds {len(alone)} of them. Of the corrected kernels {twins} gave the right result there.",
    ]
    return "\n".join(lines)


def main() -> None:
    held = newest(sorted((HERE / "results").glob("*.json")))
    put_into(PAGE, table(held) if held else ABSENT)


if __name__ == "__main__":
    main()
