"""Writes NumPy's values of all programs."""

import json
from pathlib import Path

from . import PROGRAMS

records = [json.dumps(one.record(case)) for one in PROGRAMS for case in range(len(one.sizes))]
Path(__file__).with_name("values.json").write_text("[\n" + ",\n".join(records) + "\n]\n")
