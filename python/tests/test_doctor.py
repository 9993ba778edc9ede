"""doctor() and `starling doctor`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import starling
from starling.cli import app


def test_facts(kind):
    facts = starling.doctor()
    json.dumps(facts)
    assert facts["starling"]["version"] == starling.__version__
    assert facts["cores"] >= 1
    assert facts["memory_bytes"] > 2**20
    assert kind in facts["usable"]
    assert "host" in facts["usable"]
    assert facts["best"]["devices"] >= 1
    assert facts["best"]["choice"]
    names = [v["name"] for v in facts["environment"]]
    assert "STARLING_MACHINE" in names
    assert all(v["meaning"] and v["value"] for v in facts["environment"])
    set_here = {v["name"] for v in facts["environment"] if v["set"]}
    assert "STARLING_MACHINE" in set_here
    assert set_here <= {"STARLING_MACHINE", "STARLING_PES_PER_GPU", "STARLING_GPU_SHARING"}


def test_gpus_or_what_is_missing():
    facts = starling.doctor()
    assert ("cuda" in facts["usable"]) == bool(facts["gpus"])
    if facts["gpus"]:
        assert len(facts["peers"]) == len(facts["gpus"])
        assert facts["gpus"][0]["memory_bytes"] > 2**30
    else:
        assert any("GPU" in entry["what"] and entry["remedy"] for entry in facts["missing"])


def test_compiler_of_programs(monkeypatch, tmp_path):
    found = starling.doctor()["dace"]
    assert "DaCe" in CliRunner().invoke(app, ["doctor"]).stdout
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    monkeypatch.setenv("CXX", "no-such-compiler -v")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert starling.doctor()["dace"] == {"version": found["version"], "compiler": "", "nvcc": str(nvcc)}


def test_command(kind):
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    for text in (starling.__version__, "STARLING_DEADLINE", "usable", "Python"):
        assert text in result.stdout


def test_json():
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["starling"]["version"] == starling.__version__


@pytest.mark.parametrize("arguments", [["doctor"], ["doctor", "--json"]])
def test_nothing_can_be_used(monkeypatch, arguments):
    monkeypatch.setenv("STARLING_HOST_BLOCKS", "[many]")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "[many]" in result.stdout
    assert "unset it" in result.stdout
    assert "Traceback" not in result.output


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"starling {starling.__version__}\n")


def test_help():
    result = CliRunner().invoke(app, ["stencil", "--help"])
    assert result.exit_code == 0
    assert "--frame-every" in result.stdout
