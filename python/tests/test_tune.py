"""The variant that chooses, and the costs that it goes by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from starling import machine, stencil
from starling.cli import app
from starling.errors import ArgumentError


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "starling" / "stencil_host.json"


def test_choice_says_why() -> None:
    choice = stencil.choose((300, 200), "float64", machine=machine.host(3))
    assert choice.variant in stencil.VARIANTS
    assert 1 <= choice.devices <= 3
    assert choice.microseconds > 0
    assert f"{choice.variant} on {choice.devices} device" in choice.why
    assert "costs: built in" in choice.why


def test_costs_are_measured_and_kept(cache: Path) -> None:
    result = stencil.tune(machine=machine.host(2), seconds=0.01)
    assert result.path == cache
    kept = json.loads(cache.read_text())
    assert kept["device"] == result.device == "virtual device"
    assert kept["near_us"] == pytest.approx(result.costs["near_us"])
    assert str(cache) in stencil.choose((64, 64), machine=machine.host(2)).why


def test_reports_tell_what_ran() -> None:
    u = np.random.default_rng(1).random((40, 30))
    v, report = stencil.jacobi(u, 12, machine="host", variant="auto", report=True)
    assert np.array_equal(v, stencil.jacobi(u, 12, machine="host", variant="copy"))
    assert report.variant != "auto"
    assert report.why.startswith(report.variant)


def test_auto_is_the_default() -> None:
    u = np.ones((40, 30))
    _, report = stencil.jacobi(u, 2, machine="host", report=True)
    assert report.why.startswith(f"{report.variant} on {report.devices} devices: expected us per step")
    assert report.devices == 4  # virtual devices all take part
    s = stencil.Stencil((8, 9), "float64", machine="host", devices=2)
    s.load(np.ones((8, 9)))
    assert "expected us per step" in s.advance(3).why


def test_what_does_not_fit_on_chip_takes_the_steps_of_cpu_free() -> None:
    u = np.random.default_rng(2).random((600, 600))
    v, report = stencil.jacobi(u, 2, machine="host", devices=1, variant="resident", report=True)
    assert report.variant == "cpu_free"
    assert report.why.startswith("the steps of cpu_free: no tiles of resident fit on chip")
    assert np.array_equal(v, stencil.jacobi(u, 2, machine="host", devices=1, variant="copy"))


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"format": 7}', '{"format": 3, "device": "virtual device"}', "\0"])
def test_bad_files_are_refused(cache: Path, text: str) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text(text)
    with pytest.raises(ArgumentError, match="run `starling tune`"):
        stencil.jacobi(np.ones((8, 8)), 2, machine="host", variant="auto")


def test_command(cache: Path) -> None:
    done = CliRunner().invoke(app, ["tune", "--machine", "host", "--devices", "2", "--seconds", "0.01"])
    assert done.exit_code == 0, done.output
    assert "expected us per step" in done.output
    assert cache.exists()
    assert CliRunner().invoke(app, ["tune", "--machine", "host", "--seconds", "0"]).exit_code != 0
