"""Measurements of puts by network cards: results, the command, and what is wrong with either."""

from __future__ import annotations

import json

import pytest
from PIL import Image
from typer.testing import CliRunner

from starling import _card_times, machine
from starling._native import native
from starling.cli import app
from starling.errors import ArgumentError, Unsupported

QUICK = {"kind": "host", "sizes": [5, 64], "blocks": [1, 3], "repetitions": 2, "iterations": 3}


def command(*arguments):
    return CliRunner().invoke(app, ["bench", "gio", *map(str, arguments)])


def test_results():
    told: list[_card_times.CardTime] = []
    found = _card_times.measure(**QUICK, told=told.append)
    assert told == found.times
    assert found.kind == "host"
    assert len(found.devices) == 2
    assert {t.way for t in found.times} == {"gio", "inter_k", "inter_k_empty"}
    measured = {(t.what, t.way, t.bytes, t.blocks) for t in found.times}
    assert len(measured) == len(found.times)
    assert measured == {
        *(("latency", "gio", size, 1) for size in (5, 64)),
        *(("quiet", "gio", size, blocks) for size in (5, 64) for blocks in (1, 3)),
        *(("rate", "gio", 8, blocks) for blocks in (1, 3)),
        *(("quiet", way, size, 1) for way in ("inter_k", "inter_k_empty") for size in (5, 64)),
    }
    for t in found.times:
        assert t.iterations == 3
        assert len(t.microseconds) == 2
        assert 0 < t.least <= t.median


def test_what_needs_a_gpu_is_named_and_left_out():
    found = _card_times.measure(**{**QUICK, "ways": ["ikn", "gio"]})
    assert {t.way for t in found.times} == {"gio"}
    assert set(found.left_out) == {"ikn", "cycles of a post"}
    assert all("GPU" in why for why in found.left_out.values())


def test_machines_that_do_not_suit():
    options = {"bytes": [8], "blocks": [1], "repetitions": 1, "iterations": 1, "told": None}
    with pytest.raises(ArgumentError, match=r"gio is measured on a machine .* two hosts"):
        native.measure_cards(machine.host(2), "gio", **options)
    with pytest.raises(ArgumentError, match=r"inter_k is measured on a machine .* one host"):
        native.measure_cards(machine.host(2, hosts=[0, 1]), "inter_k", **options)
    with pytest.raises(ArgumentError, match="1 PE; puts need 2"):
        native.measure_cards(machine.host(1), "gio", **options)
    with pytest.raises(Unsupported, match="GPU"):
        native.cycles_of_posts(machine.host(2, hosts=[0, 1]), whole=True, posts=3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ways": ["gin"]}, "'gin' is not known; must be some of gio"),
        ({"ways": []}, "ways is empty"),
        ({"sizes": [0]}, "sizes = 0"),
        ({"sizes": [2**27]}, "bytes = "),
        ({"blocks": [-1]}, "blocks = -1"),
        ({"repetitions": 0}, "repetitions = 0"),
        ({"iterations": 0}, "iterations = 0"),
    ],
)
def test_arguments_that_make_no_sense(options, said):
    with pytest.raises(ArgumentError, match=said):
        _card_times.measure(**{**QUICK, **options})


def test_the_command(tmp_path):
    out, picture = tmp_path / "out.json", tmp_path / "out.png"
    small = ["--machine", "host", "--sizes", "8,1K", "--blocks", "1,2", "--repetitions", 1, "--iterations", 2]
    result = command(*small, "--json", out, "--plot", picture)
    assert result.exit_code == 0, result.output
    for text in ("put and quiet", "inter_k_empty", "millions a second", "left out: ikn", "wire time is the model's"):
        assert text in result.output
    data = json.loads(out.read_text())
    assert data["machine"]["kind"] == "host"
    assert "wire time" in data["note"]
    assert {r["bytes"] for r in data["results"]} == {8, 1024}
    assert Image.open(picture).size[0] > 500


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ways", "nothing"], "'nothing' is not known"),
        (["--sizes", "many"], "--sizes"),
        (["--blocks", "1,x"], "--blocks x"),
        (["--json", "out.txt"], ".json"),
    ],
)
def test_the_command_refuses(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = command("--machine", "host", *arguments)
    assert result.exit_code == 2
    assert said in result.output
