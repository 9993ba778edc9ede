"""What a prompt and a notebook show of objects: one line, and HTML that is whole, escaped and loads nothing."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import starling
from starling import _html, linalg, machine, stencil, stf, trace

U = np.random.default_rng(4).random((24, 20), dtype="f4")
EMPTY_TAGS = ("rect", "path", "polyline")


class Reader(HTMLParser):
    """Checks that tags fit together; keeps them and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)
        for name, value in attributes:
            assert name == "xmlns" or "http" not in (value or "")

    def handle_startendtag(self, tag, attributes):
        assert tag in EMPTY_TAGS
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text += text + " "


def shown(thing):
    reader = Reader(thing._repr_html_())
    assert "script" not in reader.tags
    return reader


def test_machine():
    reader = shown(machine.host(3, memory="64M"))
    assert "virtual device 2" in reader.text
    assert "64 MiB" in reader.text
    m = machine.host(1)
    m.close()
    assert "closed" in m._repr_html_()


def test_reports_are_short(devices):
    _, report = stencil.jacobi(U, 30, variant="cpu_free", machine=devices(2), check_every=10, report=True)
    assert repr(report).startswith("<starling.stencil.Report: 30 steps of ")
    assert "cpu_free" in repr(report)
    assert "change" in repr(report)
    _, _, solved = linalg.cg(linalg.matrices.grid_2d(9, 9), np.ones(81), machine=devices(2), report=True)
    assert repr(solved).startswith("<starling.linalg.Report: converged, residual ")
    _, _, failed = linalg.cg(linalg.matrices.grid_2d(9, 9), np.ones(81), machine=devices(2), maxiter=2, report=True)
    assert "not converged (iterations)" in repr(failed)
    for r in (report, solved, failed):
        assert "\n" not in repr(r)
        assert len(repr(r)) < 160
    assert "cpu_free" in shown(report).text
    assert "polyline" in shown(solved).tags


def test_matrix(devices):
    a = linalg.DistributedMatrix(linalg.matrices.grid_2d(9, 9), machine=devices(2))
    reader = shown(a)
    assert "81 rows" in reader.text
    assert reader.tags.count("tr") == 3
    assert a.facts._repr_html_() == a._repr_html_()


def test_context(devices):
    with stf.context(devices(1)) as ctx:
        x = ctx.logical_data(np.zeros(5))
        ctx.host_launch(lambda v: v.fill(1), x.write())
        reader = shown(ctx)
    assert "tasks" in reader.text
    assert "device 0" in reader.text
    assert "finalized" in shown(ctx).text


def test_trace(tmp_path, devices):
    m = devices(2)
    with trace.record(tmp_path / "out.json", machines=m) as recording:
        stencil.jacobi(U, 10, machine=m)
    reader = shown(recording.trace)
    assert "svg" in reader.tags
    assert reader.tags.count("rect") > 4
    assert "PE 1 block 0" in reader.text
    matrix = recording.trace.machines[0].matrix
    assert "svg" in shown(matrix).tags
    assert "messages between 2 PEs" in shown(matrix).text
    assert shown(trace.Trace()).text.strip() == "an empty trace"


def test_lanes_show_what_takes_the_most_time():
    kinds = [np.array([-1, 0, 0, 1, 2]), np.array([3, 3, 3, 3, 3])]
    reader = Reader(_html.lanes(kinds, ["a<b", "c"], 'with "quotes"'))
    assert reader.tags.count("rect") == 4
    assert "a<b" in reader.text


@pytest.mark.parametrize("values", [(), (1.0,), (float("nan"), 1.0), (0.0, 0.0), (1.0, float("inf"))])
def test_curves_of_next_to_nothing(values):
    assert _html.curve(values, 0.0, "x") == ""


def test_curves_end_where_the_values_do():
    text = _html.curve([10.0 ** -(i / 100) for i in range(1000)], 1e-12, "x")
    points = text.split('points="')[1].split('"')[0].split()
    assert len(points) <= 322
    assert points[-1].startswith("316.0,")
    Reader(text)


def test_text_is_escaped():
    assert Reader(_html.table("<b>", [("a & b", "<script>")])).tags.count("script") == 0


def test_html_is_found_by_name():
    for cls in (starling.Machine, stencil.Report, linalg.Report, linalg.DistributedMatrix, trace.Trace, trace.Matrix):
        assert callable(cls._repr_html_)
    assert callable(stf.Context._repr_html_)
