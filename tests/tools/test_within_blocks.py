"""Barriers and choices of one thread are found in the text of a kernel, each as one change."""

from __future__ import annotations

import pytest

from mutations import WITHIN_BLOCKS, Broken, replaced
from mutations.within_blocks import changes_of, each_in

KERNEL = """
  if (b.member() == 0) *x = 1;
  b.sync();  // all see it
  use(*x);
  // b.sync();
  if (t.index() != 0 || t.member() != 0) return;
  b.sync();
  k.all().any(false);
  w.sync();
  w.any(false);
"""


def test_each_is_taken_out_alone() -> None:
    made = [replaced(KERNEL, old, new, "kernel") for _, old, new in changes_of(KERNEL)]
    assert made == [
        KERNEL.replace("b.member() == 0", "true"),
        KERNEL.replace("b.sync();  // all", "{}  // all"),
        KERNEL.replace("t.member() != 0", "false"),
        KERNEL.replace("  b.sync();\n  k.", "  {}\n  k."),
        KERNEL.replace("k.all().any(false);", "{}"),
        KERNEL.replace("w.sync();", "{}"),
    ]


def test_names_tell_them_apart() -> None:
    names = [(m.program, m.file, m.what) for m in WITHIN_BLOCKS]
    assert len(set(names)) == len(names)


def test_a_reason_without_its_change_is_an_error() -> None:
    with pytest.raises(Broken, match="no such barrier"):
        each_in("conjugate gradients, threads", "apps/cg/iterate/phases.hpp", {"no such barrier": "needless"})
