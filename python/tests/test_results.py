"""Every variant, number of devices, number of blocks and cut gives the bits of the NumPy reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from starling import stencil

# No two are equal, so that a mixed-up neighbour shows.
ODD_2D = [0.11, 0.23, 0.19, 0.29, 0.17]
ODD_3D = [0.13, 0.11, 0.17, 0.19, 0.07, 0.23, 0.1]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("variant", stencil.VARIANTS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("blocks", [None, 1, 3])
def test_two_dimensions(devices, noise, reference, dtype, variant, n, blocks):
    u = noise((37, 29), dtype)
    got = stencil.run(u, 9, ODD_2D, machine=devices(n), variant=variant, blocks=blocks)
    assert same(got, reference(u, 9, ODD_2D))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("variant", stencil.VARIANTS)
@pytest.mark.parametrize("n", [1, 3, 4])
def test_three_dimensions(devices, noise, reference, dtype, variant, n):
    u = noise((9, 7, 11), dtype)
    assert same(stencil.run(u, 6, ODD_3D, machine=devices(n), variant=variant), reference(u, 6, ODD_3D))


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_depths(devices, noise, reference, depth):
    u = noise((29, 31))
    got = stencil.run(u, 13, ODD_2D, machine=devices(2), variant="temporal", depth=depth, blocks=4)
    assert same(got, reference(u, 13, ODD_2D))


@pytest.mark.parametrize("variant", ["cpu_free", "resident", "temporal"])
@pytest.mark.parametrize("packet_bytes", [None, 0, 2**18])
def test_packets_and_signals(devices, noise, reference, variant, packet_bytes):
    u = noise((29, 31))
    s = stencil.Stencil(u.shape, u.dtype, coefficients=ODD_2D, machine=devices(3))
    s.load(u)
    s.advance(11, variant=variant, packet_bytes=packet_bytes)
    assert same(s.store(), reference(u, 11, ODD_2D))


@pytest.mark.parametrize("variant", stencil.VARIANTS)
@pytest.mark.parametrize("boundary", ["periodic", ("fixed", "periodic"), ("periodic", "fixed")])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_boundaries(devices, noise, reference, variant, boundary, n):
    u = noise((13, 10))
    edges = [boundary] * 2 if isinstance(boundary, str) else boundary
    expected = reference(u, 8, ODD_2D, [edge == "periodic" for edge in edges])
    assert same(stencil.run(u, 8, ODD_2D, machine=devices(n), variant=variant, boundary=boundary), expected)


@pytest.mark.parametrize("variant", stencil.VARIANTS)
@pytest.mark.parametrize("split", [(2, 2), (1, 4), (4, 1), (1, 3)])
@pytest.mark.parametrize("boundary", ["fixed", "periodic"])
def test_split_over_two_axes(devices, noise, reference, variant, split, boundary):
    u = noise((11, 14))
    got = stencil.run(u, 7, ODD_2D, machine=devices(math.prod(split)), variant=variant, split=split, boundary=boundary)
    assert same(got, reference(u, 7, ODD_2D, [boundary == "periodic"] * 2))


@pytest.mark.parametrize("split", [(2, 2, 1), (1, 2, 2), (2, 1, 2)])
@pytest.mark.parametrize("boundary", ["fixed", ("periodic", "fixed", "periodic")])
def test_three_dimensions_split_over_two_axes(devices, noise, reference, split, boundary):
    u = noise((6, 7, 9), "float64")
    periodic = [False] * 3 if boundary == "fixed" else [True, False, True]
    got = stencil.run(u, 5, ODD_3D, machine=devices(4), split=split, boundary=boundary)
    assert same(got, reference(u, 5, ODD_3D, periodic))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 2), (4, 1), (4, 257), (65, 33), (1, 1, 1), (4, 2, 3)])
@pytest.mark.parametrize("variant", stencil.VARIANTS)
def test_odd_sizes(devices, noise, reference, shape, variant):
    u = noise(shape)
    c = ODD_2D if len(shape) == 2 else ODD_3D
    n = min(4, shape[0])
    assert same(stencil.run(u, 5, c, machine=devices(n), variant=variant), reference(u, 5, c))


def test_jacobi_and_heat_are_their_coefficients(devices, noise, reference):
    u = noise((20, 20))
    assert same(stencil.jacobi(u, 4, machine=devices(2)), reference(u, 4, [0, 0.25, 0.25, 0.25, 0.25]))
    heat = [1 - 4 * 0.1, 0.1, 0.1, 0.1, 0.1]
    assert same(stencil.heat(u, 4, 0.1, machine=devices(2)), reference(u, 4, heat))
    cube = noise((8, 8, 8))
    sixth = np.float32(1) / np.float32(6)
    assert same(stencil.jacobi(cube, 4, machine=devices(2)), reference(cube, 4, [0] + 6 * [sixth]))


def test_not_a_number_spreads_as_in_numpy(devices, noise, reference):
    u = noise((9, 9))
    u[4, 4] = np.nan
    got = stencil.run(u, 2, ODD_2D, machine=devices(2))
    assert np.array_equal(np.isnan(got), np.isnan(reference(u, 2, ODD_2D)))


@pytest.mark.parametrize("variant", stencil.VARIANTS)
def test_stops_at_the_tolerance(devices, noise, reference, variant):
    u = noise((12, 12), "float64")
    got, report = stencil.jacobi(u, 1000, tol=1e-3, check_every=7, machine=devices(2), variant=variant, report=True)
    steps, v, change = 0, u, np.inf
    while change > 1e-3:
        before = reference(v, 6, [0, 0.25, 0.25, 0.25, 0.25])
        v = reference(before, 1, [0, 0.25, 0.25, 0.25, 0.25])
        change = np.abs(v - before).max()
        steps += 7
    assert (report.steps, report.change, report.converged) == (steps, change, True)
    assert same(got, v)


def test_looks_at_the_change_without_a_tolerance(devices, noise):
    u = noise((10, 10))
    _, report = stencil.jacobi(u, 20, check_every=8, machine=devices(1), report=True)
    assert report.steps == 20
    assert report.change > 0  # of step 16
    assert not report.converged


def test_report(devices, kind, noise):
    _, report = stencil.jacobi(noise((64, 64)), 30, machine=devices(1), blocks=2, variant="p2p", report=True)
    assert (report.steps, report.change, report.converged) == (30, None, False)
    assert (report.variant, report.machine, report.devices, report.blocks) == ("p2p", kind, 1, 2)
    assert report.seconds > 0
    assert report.microseconds_per_step == pytest.approx(1e6 * report.seconds / 30)
    assert report.as_dict()["variant"] == "p2p"
