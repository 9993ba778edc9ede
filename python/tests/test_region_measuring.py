"""Options that measure what programs on regions spend on sending: results, reports, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from graph_cases import random_graph
from starling import _region_tuning as tuning
from starling import graph, machine
from starling._microbenchmark import Microbenchmark
from starling.cli import app
from starling.errors import ArgumentError, ElementTypeError, Unsupported
from starling.graph import Measuring
from starling.linalg import jacobi


def run(a, **options):
    return graph.pagerank(a, fixed_iterations=20, report=True, machine="host", **options)


@pytest.mark.parametrize("sending", ["elide_stores", "track_only", "untracked"])
@pytest.mark.parametrize("agent", tuning.AGENTS)
def test_what_does_not_travel(rng, sending, agent):
    a = random_graph(rng, 300, 2000)
    right, _ = run(a, devices=2)
    one, alone = run(a, devices=1, agent=agent, measuring=Measuring(sending=sending))
    assert np.allclose(one, right)  # nothing had to travel
    wrong, report = run(a, devices=2, agent=agent, measuring=Measuring(sending=sending))
    assert not np.allclose(wrong, right)
    assert report.iterations == 20
    assert report.sending == sending == alone.sending
    assert sum(map(sum, report.bytes_sent)) == 0
    assert "wrong by intent" in repr(report)


def test_other_programs_end_too(rng):
    a = random_graph(rng, 200, 1500, weights=lambda n: rng.integers(1, 9, n).astype(float))
    assert graph.sssp(a, 0, machine="host", devices=2, report=True, measuring=Measuring(sending="track_only"))
    b = a.tocsr()
    b.setdiag(200.0)
    jacobi(b, np.ones(200), machine="host", devices=2, measuring=Measuring(verify=True, timed=True))


def test_links_are_simulated(rng):
    a = random_graph(rng, 300, 2000)
    right, _ = run(a, devices=2)
    paced = Measuring(bytes_per_second=1e7, latency=1e-3, verify=True)
    ranks, report = run(a, devices=2, agent="polling", measuring=paced)
    assert np.array_equal(ranks, right)
    assert report.simulated_links == (1e7, 1e-3)
    assert report.seconds > 19e-3
    assert "simulated links" in repr(report)
    with pytest.raises(Unsupported, match="nothing paces inline"):
        run(a, devices=2, agent="inline", measuring=paced)
    with pytest.raises(ArgumentError, match="bytes a second"):
        run(a, devices=2, measuring=Measuring(bytes_per_second=3))


def test_times_of_arrivals(rng, tmp_path):
    a = random_graph(rng, 300, 2000)
    assert run(a, devices=2)[1].arrivals == ()
    arrivals = run(a, devices=2, measuring=Measuring(timed=True))[1].arrivals
    assert len(arrivals) == 2
    for one in arrivals:
        assert one.parts > 0
        assert 0 <= one.first <= one.last
        assert one.kernel > 0
        assert (one.last > one.kernel) == (one.after_end > 0)
    edges = tmp_path / "edges.txt"
    edges.write_text("".join(f"{i} {(i * 7 + 3) % 50}\n" for i in range(50)))
    words = ["pagerank", str(edges), "--machine", "host", "--devices", "2", "--report", str(tmp_path / "r.json")]
    assert CliRunner().invoke(app, words).exit_code == 0
    kept = json.loads((tmp_path / "r.json").read_text())
    assert len(kept["arrivals"]) == 2
    assert set(kept["arrivals"][0]) == {"kernel", "parts", "first", "last", "after_end", "waited"}


@pytest.mark.parametrize(
    ("measuring", "error"),
    [
        ("track_only", ElementTypeError),
        (Measuring(sending="some"), ArgumentError),  # type: ignore[arg-type]
        (Measuring(latency=-1), ArgumentError),
    ],
)
def test_wrong_values(rng, measuring, error):
    with pytest.raises(error, match="measuring"):
        run(random_graph(rng, 10, 30), measuring=measuring)


@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("agent", tuning.AGENTS)
def test_microbenchmark(devices, agent):
    probe = Microbenchmark(machine.host(devices), 2**16)
    assert probe.to == ("host" if devices == 1 else "peers")
    done = probe.run(5, 2, agent=agent, chunk=4096, measuring=Measuring(timed=True))
    assert done.right
    assert len(done.seconds) == len(done.copy_seconds) == 2
    assert done.chunks == 16
    assert len(done.arrivals) == devices
    assert probe.store_seconds(64) > 0
    assert not Microbenchmark(machine.host(2), 2**16).run(5, 1, measuring=Measuring(sending="elide_stores")).right
