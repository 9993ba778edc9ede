"""Running a user's command with variables of ours."""

from __future__ import annotations

import os
import subprocess

from starling.errors import ArgumentError


def run_command(run: list[str], variables: dict[str, str]) -> int:
    """Its exit code; 128 and the number of the signal that ended it, as shells have it."""
    try:
        child = subprocess.Popen(run, env={**os.environ, **variables})
    except OSError as problem:
        raise ArgumentError(f"{run[0]}: cannot be run ({problem.strerror}); check the name") from None
    while True:
        try:
            code = child.wait()
            return code if code >= 0 else 128 - code
        except KeyboardInterrupt:  # the command has got it too, and decides
            continue
