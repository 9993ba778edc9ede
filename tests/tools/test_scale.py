"""The model of many GPUs: its terms, its errors against results and simulation, and what it says that grows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import scale_cases as cases
import scale_model as model
import scale_page as page
import scale_parameters as parameters
import scale_tables as tables

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def p() -> parameters.Parameters:
    return parameters.measured()


def changed(p: parameters.Parameters, **values: float) -> parameters.Parameters:
    return replace(p, **{name: parameters.Known(value, "") for name, value in values.items()})


def test_every_parameter_has_a_source(p: parameters.Parameters) -> None:
    assert set(p.known()) == set(parameters.TITLES)
    for name, known in p.known().items():
        assert known.value > 0, name
        assert known.assumed == known.source.startswith("assumed"), name


def test_missing_results_are_named() -> None:
    with pytest.raises(KeyError, match="devices"):
        parameters.least(parameters.CALLS, {"what": "put_packets", "devices": 4096})


def test_one_gpu_is_what_was_measured(p: parameters.Parameters) -> None:
    stencil, cg = model.stencil_computing(p), model.cg_computing(p)
    for side in (256, 2048, 8192):
        wanted = {"domain": f"{side}x{side}", "variant": "cpu_free", "devices": 1, "compute": True}
        told = model.stencil_step(p, stencil, side * side, 4 * side, 1)
        assert told == pytest.approx(parameters.least(parameters.STENCIL, wanted))
    for matrix, rows in model.CG_MATRICES.items():
        assert model.cg_iteration(p, cg, rows, 1000, 1) == pytest.approx(model.cg_measured(matrix, 1))


def test_terms_by_hand(p: parameters.Parameters) -> None:
    q = changed(
        p, packet_host=1, packet_between=10, message_between=0.5, next_sender=0.25, meeting=2, call=1, packet_own=0.125
    )
    assert model.all_reduce(q, 1) == 3
    assert model.all_reduce(q, 4) == 3 + 1 + 3 * 0.25
    assert model.all_reduce(q, 16) == 3 + 10 + 8 * 2 * 0.5 + 15 * 0.25
    assert model.levels(q, 8) == 1 + 7 * 0.25
    assert model.levels(q, 64) == 1 + 7 * 0.25 + 10 + 7 * 2 * 0.5 + 7 * 0.25
    assert model.levels(q, 16) == 1 + 7 * 0.25 + 10 + 1 * 2 * 0.5 + 1 * 0.25


def test_bytes_across_the_middle(p: parameters.Parameters) -> None:
    assert model.packets_to_all_across(4, 3) == 4 * 3 * 16
    assert model.levels_across(8, 1) == 4 * 4 * 16  # one group, four on each side
    assert model.levels_across(64, 1) == 8 * 4 * 4 * 16
    assert model.levels_across(16, 1) == 8 * 16  # pairs
    assert model.ranks_across(p, 100, 16, False) == 8 * 200
    assert model.ranks_across(p, 100, 16, True) == 200


def test_levels_grow_with_the_logarithm_and_packets_to_all_with_the_pes(p: parameters.Parameters) -> None:
    counts = [64, 512, 4096]
    flat = [model.all_reduce(p, n) for n in counts]
    by_levels = [model.all_reduce_by_levels(p, n) for n in counts]
    assert flat[2] - flat[1] == pytest.approx(8 * (flat[1] - flat[0]))
    assert by_levels[2] - by_levels[1] == pytest.approx(by_levels[1] - by_levels[0])
    assert by_levels[2] < flat[2] / 10


def test_simulations_are_of_today_s_cases(p: parameters.Parameters) -> None:
    """Every case has been simulated, with the computing that the model has now; each formula is near."""
    lines = json.loads(page.RESULTS.read_text())["results"]
    done = {(line["application"], line["shape"], line["pes"]): line for line in lines}
    wanted = {(c.application, c.shape, c.pes): c for c in cases.simulated_cases(p)}
    assert set(done) == set(wanted), "run `python bench/scale/run.py`"
    for key, case in wanted.items():
        assert done[key]["computing_us"] == pytest.approx(case.computing, rel=1e-4), "run `python bench/scale/run.py`"
        if case.pes > 1:
            assert case.formula(p) == pytest.approx(done[key]["us"], rel=0.2), key


def test_what_grows() -> None:
    for table in tables.TABLES:
        assert table.size(4096) > table.size(8)
    for source in [t.source for t in tables.TABLES] + [where for _, where in tables.LOOPS]:
        for place in source.split("; "):
            assert (ROOT / place.partition(" ")[0]).is_file(), place
    squares = [t.what for t in tables.TABLES if t.size(4096) > 8 * 1.5 * t.size(512)]
    assert squares == [t.what for t in tables.TABLES if "the square" in t.grows]


def test_page_without_results_says_so(p: parameters.Parameters, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "simulations", lambda: {})
    assert any(page.ABSENT in line for line in page.comparison(p))
    assert len(page.event_order(p)) == 2  # the head alone
