"""Compiled programs are kept in the build folder, so that a second run of the tests compiles none."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def programs_in_build_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(__file__).resolve().parents[3] / "build/programs"))
