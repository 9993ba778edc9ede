"""How a run is cut does not show in what it computes."""

from __future__ import annotations

import random

import pytest

from starling import stencil
from starling.stencil._chunks import Pace, next_chunk


def checked_steps(steps, check_every, stop_every, sizes):
    """The steps whose change is looked at, and the ends of all chunks, for chunks of at most these sizes."""
    done, checked, ends = 0, [], []
    while done < steps:
        chunk = next_chunk(done, steps, sizes(), check_every, stop_every)
        assert 1 <= chunk.steps <= steps - done
        if chunk.check_every:
            checked += range(done + chunk.check_every, done + chunk.steps + 1, chunk.check_every)
        done += chunk.steps
        ends.append(done)
    return checked, ends


@pytest.mark.parametrize("check_every", [0, 1, 7, 50, 1000])
@pytest.mark.parametrize("stop_every", [0, 1, 10, 33])
def test_the_same_steps_are_checked(check_every, stop_every):
    dice = random.Random(check_every + stop_every)
    checked, ends = checked_steps(500, check_every, stop_every, lambda: dice.randint(1, 120))
    assert checked == (list(range(check_every, 501, check_every)) if check_every else [])
    if stop_every:
        assert set(range(stop_every, 501, stop_every)) <= set(ends)
    assert ends[-1] == 500


def test_pace_grows_and_shrinks():
    pace = Pace(10**6, on_gpus=False)
    first = pace.steps
    pace.saw(first, 1e-4)
    assert pace.steps == Pace.GROWTH * first
    pace.saw(100, 10.0)
    assert pace.steps == 2
    pace.saw(1, 100.0)
    assert pace.steps == 1


@pytest.mark.parametrize("variant", stencil.VARIANTS)
def test_the_result_does_not_depend_on_the_cuts(devices, noise, variant):
    u = noise((16, 16), "float64")

    def run(stop_every):
        s = stencil.Stencil(u.shape, "float64", machine=devices(2))
        s.load(u)
        *_, end = s.march(100, variant=variant, tol=0.1, check_every=9, stop_every=stop_every)
        return s.store().tobytes(), end.done, end.change, end.converged

    whole = run(None)
    assert whole[3]
    assert all(run(n) == whole for n in (1, 4, 9, 25))


def test_progress_is_told(devices, noise):
    seen = []
    stencil.jacobi(noise((300, 300)), 700, check_every=100, machine=devices(1), progress=seen.append)
    assert [p.done for p in seen] == sorted({p.done for p in seen})
    assert seen[-1].done == seen[-1].steps == 700
    assert seen[-1].change is not None
    assert seen[-1].seconds > 0
