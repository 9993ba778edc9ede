"""The search for an agent and a chunk, by costs that are made up; what is kept of it, and what auto then takes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from graph_cases import random_graph
from starling import _region_tuning as tuning
from starling import graph, machine
from starling._microbenchmark import work_for
from starling.cli import app
from starling.errors import ArgumentError
from starling.linalg import jacobi


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "starling"


def test_what_a_machine_lacks_is_left_out():
    here = machine.host(2)
    assert tuning.lacking(here) == {}
    assert tuning.settings_on(here) == tuning.SETTINGS

    class Gpus:
        kind = "cuda"

    assert "launch" in tuning.lacking(Gpus())["launched"]
    assert {s.agent for s in tuning.settings_on(Gpus())} == set(tuning.AGENTS) - {"launched"}


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_halving_finds_the_best(rng, count):
    settings = tuning.SETTINGS[:count]
    costs = dict(zip(settings, rng.permutation(count) + 1.0, strict=True))
    lengths = []

    def cost(setting, iterations):
        lengths.append(iterations)
        return costs[setting]

    trials = tuning.halving(settings, cost, 16)
    assert trials[-1].setting == min(settings, key=costs.get)
    assert lengths[0] == 16
    assert lengths == sorted(lengths)
    assert len(trials) <= 2 * count + 2
    assert lengths[-1] >= 16 * count / 2


def test_halving_measures_the_better_ones_again():
    """A setting that looked good by chance is found out by the longer measurement."""
    lucky, good = tuning.SETTINGS[0], tuning.SETTINGS[1]

    def cost(setting, iterations):
        return 1.0 if setting == lucky and iterations == 16 else {lucky: 5.0, good: 2.0}.get(setting, 9.0)

    assert tuning.halving(tuning.SETTINGS, cost, 16)[-1].setting == good


def test_exhaustive_measures_all_alike(rng):
    costs = dict(zip(tuning.SETTINGS, rng.random(len(tuning.SETTINGS)), strict=True))
    trials = tuning.exhaustive(tuning.SETTINGS, lambda setting, n: costs[setting], 8)
    assert [t.iterations for t in trials] == [8] * len(tuning.SETTINGS)
    assert trials[-1].setting == min(costs, key=costs.get)


def with_blocks(agent, multiprocessors):
    class Device:
        pass

    class Gpus:
        kind = "cuda"
        devices = (Device(), Device())

    for device, count in zip(Gpus.devices, (multiprocessors, multiprocessors + 3), strict=True):
        device.multiprocessors = count
    return [s.blocks for s in tuning.with_blocks(tuning.Setting(agent, 4096), Gpus())]


def test_other_numbers_of_blocks():
    assert with_blocks("polling", 132) == [4, 8, 32]
    assert with_blocks("polling", 33) == [1, 2, 8]
    assert with_blocks("polling", 1) == [2]
    assert with_blocks("launched", 1) == [1, 4]
    assert with_blocks("copy_engine", 132) == [2, 4]
    assert with_blocks("inline", 132) == with_blocks("own_warp", 132) == []


@pytest.mark.parametrize("better", [None, 0, 1])
def test_the_best_is_refined(rng, better):
    """Last is the best of the best agent and chunk with its numbers of blocks, all measured equally long."""
    costs = dict(zip(tuning.SETTINGS, rng.permutation(len(tuning.SETTINGS)) + 2.0, strict=True))
    best = min(costs, key=costs.get)
    finer = [tuning.Setting(best.agent, best.chunk, n) for n in (3, 7)]
    costs |= {s: 1.0 if i == better else 1000.0 + i for i, s in enumerate(finer)}

    def of(setting):
        assert setting == best
        return finer

    trials = tuning.stepwise(tuning.SETTINGS, of, lambda s, n: costs[s], 16)
    assert trials[-1].setting == (best if better is None else finer[better])
    assert {t.setting for t in trials} == set(costs)
    assert len({t.iterations for t in trials[-3:]}) == 1


def test_auto_takes_what_is_kept(cache, rng):
    m = machine.host(2)
    a = random_graph(rng, 60, 300)
    before = graph.pagerank(a, machine=m, report=True)[1]
    assert (before.agent, before.chunk_bytes) == ("polling", 65536)
    entries = before.entries
    tuning.keep("pagerank", entries, m, [tuning.Trial(tuning.Setting("polling", 4096, 3), 1, 1.0)])
    several = graph.pagerank(a, machine=m, report=True)[1]
    assert (several.agent, several.chunk_bytes, several.agent_blocks) == ("polling", 4096, 3)
    assert graph.pagerank(a, machine=m, agent="polling", agent_blocks=2, report=True)[1].agent_blocks == 2
    tuning.keep("pagerank", entries, m, [tuning.Trial(tuning.Setting("inline", 4096), 1, 1.0)])
    after = graph.pagerank(a, machine=m, report=True)[1]
    assert (after.agent, after.chunk_bytes, after.agent_blocks) == ("inline", 4096, 0)
    asked = graph.pagerank(a, machine=m, agent_blocks=2, report=True)[1]  # which the agent that is kept has not
    assert (asked.agent, asked.agent_blocks) == ("polling", 2)
    assert graph.pagerank(a, machine=m, chunk="16K", report=True)[1].chunk_bytes == 16384
    assert graph.pagerank(a, machine=m, agent="polling", report=True)[1].chunk_bytes == 65536
    assert graph.sssp(a, 0, machine=m, report=True)[-1].agent == "polling"  # another program
    assert graph.pagerank(a, devices=3, machine="host", report=True)[1].agent == "polling"  # another machine
    file = next(cache.glob("*.json"))
    file.write_text(json.dumps({**json.loads(file.read_text()), "device": "another"}))
    assert graph.pagerank(a, machine=m, report=True)[1].agent == "polling"


WRONG = '{"format": 2, "agent": "%s", "chunk": 4096, "blocks": %s, "device": "y"}'


@pytest.mark.parametrize("text", ["", "[]", '{"format": 0}', WRONG % ("x", 0), WRONG % ("polling", -1)])
def test_bad_files_are_refused(cache, rng, text):
    m = machine.host(2)
    a = random_graph(rng, 60, 300)
    entries = graph.pagerank(a, machine=m, report=True)[1].entries
    path = tuning.place("pagerank", entries, m)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(ArgumentError, match="starling tune pagerank FILE"):
        graph.pagerank(a, machine=m)


@pytest.mark.parametrize("program", ["pagerank", "sssp", "jacobi"])
@pytest.mark.parametrize("every", [False, True])
def test_tune(cache, rng, program, every):
    a = random_graph(rng, 80, 400, weights=lambda n: rng.integers(1, 9, n).astype(float))
    if program == "jacobi":
        a = a.tocsr()
        a.setdiag(100.0)
    seen = []
    result = graph.tune(program, a, machine=machine.host(2), every=every, seconds=0.2, progress=seen.append)
    assert result.path.parent == cache
    assert len(seen) == len(result.trials)
    measured = {t.setting for t in result.trials}
    best = result.trials[-1].setting
    assert best == tuning.Setting(result.agent, result.chunk, result.agent_blocks)
    here = machine.host(2)
    refined = tuning.SETTINGS if every else [tuning.Setting(best.agent, best.chunk)]
    assert measured == set(tuning.SETTINGS).union(*(tuning.with_blocks(s, here) for s in refined))
    runs = {
        "pagerank": lambda: graph.pagerank(a, machine="host", devices=2, report=True)[-1],
        "sssp": lambda: graph.sssp(a, 0, machine="host", devices=2, report=True)[-1],
        "jacobi": lambda: jacobi(a, np.ones(80), machine="host", devices=2, report=True)[-1],
    }
    report = runs[program]()
    assert (report.agent, report.chunk_bytes) == (result.agent, result.chunk)
    assert result.agent_blocks in (0, report.agent_blocks)
    graph.plot_tuning(cache / "map.png", result)
    assert (cache / "map.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("devices", [1, 2])
def test_microbenchmark(cache, tmp_path, devices):
    words = ["tune", "microbenchmark", "--machine", "host", "--devices", str(devices), "--seconds", "0.1"]
    done = CliRunner().invoke(app, [*words, "--explain", str(tmp_path / "map.png")])
    assert done.exit_code == 0, done.output
    assert "microbenchmark: " in done.output
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert list(cache.glob(f"region_microbenchmark_*_host_{devices}.json"))


@pytest.mark.parametrize(("fixed", "step"), [(0.0, 1.0), (5.0, 0.25), (100.0, 3.0), (0.5, 7e-4)])
def test_work_is_found_by_costs(fixed, step):
    calls = []

    def cost(work):
        calls.append(work)
        return fixed + step * work

    for target in (0.1, 60.0, 7001.0):
        calls.clear()
        work = work_for(target, cost)
        assert work == (0 if target <= fixed else pytest.approx((target - fixed) / step, abs=1))
        assert len(calls) <= 28
    assert work_for(1.0, lambda work: 0.0) == 2**24  # nothing costs anything


def test_wrong_values(rng):
    a = random_graph(rng, 10, 30)
    with pytest.raises(ArgumentError, match="one device sends nothing"):
        graph.tune("pagerank", a, machine=machine.host(1))
    with pytest.raises(ArgumentError, match="program"):
        graph.tune("cg", a)
    with pytest.raises(ArgumentError, match="pagerank needs a graph"):
        graph.tune("pagerank")
    with pytest.raises(ArgumentError, match="microbenchmark takes none"):
        graph.tune("microbenchmark", a)
    with pytest.raises(ArgumentError, match="seconds = 0"):
        graph.tune("pagerank", a, seconds=0)


def test_command(cache, tmp_path):
    edges = tmp_path / "edges.txt"
    edges.write_text("".join(f"{i} {(i * 7 + 3) % 50}\n" for i in range(200)))
    words = ["tune", "pagerank", str(edges), "--machine", "host", "--devices", "2", "--seconds", "0.1"]
    done = CliRunner().invoke(app, [*words, "--explain", str(tmp_path / "map.png")])
    assert done.exit_code == 0, done.output
    assert "KiB at a time" in done.output
    assert "polling" in done.output
    assert "inline" in done.output
    assert (tmp_path / "map.png").exists()
    assert list(cache.glob("region_pagerank_*_host_2.json"))
    for wrong in (
        ["tune", "pagerank"],
        ["tune", "cg", str(edges)],
        ["tune", "sssp", str(tmp_path / "none.txt")],
        ["tune", "microbenchmark", str(edges)],
    ):
        assert CliRunner().invoke(app, wrong).exit_code == 2, wrong
