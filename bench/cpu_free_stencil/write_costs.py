"""Writes the built-in costs of steps on GPUs anew, from what `starling tune` has measured.

    starling tune                                                     # on the GPUs that they shall be of
    python bench/cpu_free_stencil/write_costs.py ~/.cache/starling/stencil_cuda.json [--keep far_us]
                                                 [--source apps/stencil/plan/measured.cpp]

Numbers are rounded to two digits, since runs differ by as much. With one GPU nothing is far: `--keep far_us`.
tests/apps/stencil_recorded_costs.cpp then says how far the model is from the steps that result files hold.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent / "apps/stencil/plan/measured.cpp"
GPUS = re.compile(r"(?<=kind == machine_kind::cuda\) \{\n)(.*?)(?=\n  \} else)", re.DOTALL)
COST = re.compile(r"(?<=    c\.)(\w+) = ([\d.']+);")


def number(value: float) -> str:
    """As C++ has it, of two digits.

    >>> [number(v) for v in (0.9543, 3.546, 11.73, 10738.4, 1704990.0)]
    ['0.95', '3.5', '12', "11'000", "1'700'000"]
    """
    digits = 1 - math.floor(math.log10(value))
    rounded = round(value, digits)
    return f"{rounded:.{max(digits, 0)}f}" if digits > 0 else f"{int(rounded):,}".replace(",", "'")


def rewritten(source: str, costs: dict[str, float]) -> str:
    """The source with these costs of GPUs in the place of its own. Throws ValueError unless it has each of them."""
    found = GPUS.search(source)
    if found is None:
        raise ValueError("the source has no costs of GPUs: no block `kind == machine_kind::cuda`")
    there = [name for name, _ in COST.findall(found[0])]
    if missing := sorted(set(costs) - set(there)):
        raise ValueError(f"the source has no cost {', '.join(missing)}; it has {', '.join(there)}")
    lines = COST.sub(lambda c: f"{c[1]} = {number(costs[c[1]]) if c[1] in costs else c[2]};", found[0])
    return source[: found.start()] + lines + source[found.end() :]


def measured(path: Path, keep: list[str]) -> dict[str, float]:
    """What a file of `starling tune` has, without those that stay."""
    facts = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(facts, dict):
        raise ValueError(f"{path} holds no costs by name; run `starling tune` to write such a file")
    costs = {name: float(v) for name, v in facts.items() if name not in ("format", "device")}
    if wrong := sorted(name for name, v in costs.items() if not (math.isfinite(v) and v > 0)):
        raise ValueError(f"{path}: {wrong[0]} is {costs[wrong[0]]}; must be more than 0")
    if unknown := sorted(set(keep) - set(costs)):
        raise ValueError(f"--keep {unknown[0]}: {path} has {', '.join(costs)}")
    return {name: v for name, v in costs.items() if name not in keep}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="of `starling tune`")
    parser.add_argument("--keep", type=lambda text: text.split(","), default=[], help="costs that stay")
    parser.add_argument("--source", type=Path, default=SOURCE)
    o = parser.parse_args()
    try:
        text = rewritten(o.source.read_text(encoding="utf-8"), measured(o.file, o.keep))
    except (OSError, ValueError) as problem:
        parser.error(str(problem))
    o.source.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
