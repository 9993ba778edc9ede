"""Measurements of communication: results, the command, and what is wrong with either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from starling import communication, machine
from starling.cli import app
from starling.errors import ArgumentError, ElementTypeError, RangeError

QUICK = {"repetitions": 2, "seconds": 0.0005}


def test_results() -> None:
    told: list[communication.CommunicationTime] = []
    times = communication.measure(machine=machine.host(2), sizes=[8, 72], told=told.append, **QUICK)
    assert told == times
    messages = [t for t in times if t.measure != "call"]
    assert {t.what for t in messages} == set(communication.WAYS)
    assert {(t.source, t.destination) for t in messages} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert {t.what for t in times if t.measure == "call"} == {"sync_pe", "sync_all", "all_reduce", "empty program"}
    for t in times:
        assert len(t.microseconds) == 2
        assert 0 < t.least <= t.median
        assert t.gigabytes_per_second >= 0
    assert len(times) == 4 * 8 * 2 * 2 + 7


def test_what_is_asked_for() -> None:
    times = communication.measure(
        machine="host", devices=3, sizes=[64], ways=["packets", "get"], pairs=[(2, 0)], meetings=False, **QUICK
    )
    assert [(t.what, t.measure, t.source, t.destination) for t in times] == [
        ("packets", "latency", 2, 0),
        ("packets", "stream", 2, 0),
        ("get", "latency", 2, 0),
        ("get", "stream", 2, 0),
    ]


WRONG = {
    "size": ({"sizes": [12]}, ArgumentError, "messages of 12 bytes; must be a multiple of 8"),
    "small": ({"sizes": [0]}, ArgumentError, "sizes = 0; must be at least 8"),
    "no sizes": ({"sizes": []}, ArgumentError, "sizes is empty"),
    "text size": ({"sizes": ["8"]}, ElementTypeError, "pass a whole number"),
    "way": ({"ways": ["pigeon"]}, ArgumentError, "'pigeon' is not known; must be some of packets"),
    "one way as text": ({"ways": "get"}, ArgumentError, "pass a list"),
    "no ways": ({"ways": []}, ArgumentError, "ways is empty"),
    "pair": ({"pairs": [(0, 5)]}, RangeError, "PE 5 of a machine with 2"),
    "negative pair": ({"pairs": [(-1, 0)]}, ArgumentError, "pairs = -1; must be at least 0"),
    "repetitions": ({"repetitions": 0}, ArgumentError, "repetitions = 0; must be at least 1"),
    "seconds": ({"seconds": -1.0}, ArgumentError, "must be more than 0"),
    "endless": ({"seconds": float("inf")}, ArgumentError, "seconds"),
    "blocks": ({"blocks": 0}, ArgumentError, "blocks = 0; must be at least 1"),
    "machine": ({"machine": "gpu"}, ArgumentError, "machine = 'gpu'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name: str) -> None:
    given, error, text = WRONG[name]
    with pytest.raises(error, match=text.replace("(", r"\(")):
        communication.measure(**{"machine": "host", "devices": 2, "sizes": [8], **given})  # type: ignore[arg-type]


def test_what_told_raises_ends_the_measurement() -> None:
    def fail(_: object) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        communication.measure(machine="host", devices=1, sizes=[8], told=fail, **QUICK)


def test_command(tmp_path: Path) -> None:
    words = ["bench", "comm", "--machine", "host", "--devices", "2", "--max-bytes", "1000", "--seconds", "0.0005"]
    words += ["--repetitions", "2", "--json", str(tmp_path / "t.json"), "--plot", str(tmp_path / "t.png")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "device 0 to itself" in done.output
    assert "sync_all" in done.output
    kept = json.loads((tmp_path / "t.json").read_text())
    assert kept["machine"]["kind"] == "host"
    assert {r["bytes"] for r in kept["results"] if r["measure"] != "call"} == {8, 64, 512, 1000}
    assert all(len(r["microseconds"]) == 2 for r in kept["results"])
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


BAD_WORDS = {
    "size": (["--max-bytes", "4"], "--max-bytes 4; must be from 8"),
    "size text": (["--max-bytes", "lots"], "lots"),
    "way": (["--ways", "packets,pigeon"], "'pigeon' is not known"),
    "no way": (["--ways", ","], "ways is empty"),
    "repetitions": (["--repetitions", "0"], "repetitions = 0"),
    "seconds": (["--seconds", "nan"], "seconds"),
    "suffix": (["--json", "t.txt"], "must be .json"),
    "folder": (["--plot", "nowhere/t.png"], "does not exist"),
    "devices": (["--devices", "0"], "devices = 0"),
}


@pytest.mark.parametrize("name", BAD_WORDS)
def test_bad_options(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words, text = BAD_WORDS[name]
    done = CliRunner().invoke(app, ["bench", "comm", "--machine", "host", *words])
    assert done.exit_code == 2, done.output
    assert text in done.output.replace("\n", " ")
    assert not list(tmp_path.iterdir())
