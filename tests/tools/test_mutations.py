"""Every mutation fits the sources as they are, so that none goes out of use unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutate_protocols import beside
from mutations import MUTATIONS, PROGRAMS, ROOT, Mutation, replaced


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.program}: {m.what}")
def test_its_text_is_there_once(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert replaced(text, mutation.old, mutation.new, mutation.file) != text
    assert PROGRAMS[mutation.program].again(mutation.file)


@pytest.mark.parametrize("name", PROGRAMS)
def test_its_program_has_its_sources(name: str) -> None:
    program = PROGRAMS[name]
    assert all((ROOT / source).is_file() for source in program.sources)
    assert {source for _, sources in program.uses for source in sources} <= set(program.sources)
    if program.setting:
        file, old, new = program.setting
        replaced((ROOT / file).read_text(), old, new, file)


def test_mutations_differ() -> None:
    assert len({(m.program, m.file, m.old, m.new) for m in MUTATIONS}) == len(MUTATIONS)


def test_a_changed_header_is_beside_those_that_include_it(tmp_path: Path) -> None:
    """card.hpp includes card_rules.hpp by its name alone, which is looked for beside card.hpp first."""
    folder = ROOT / "src/machine/network"
    changed = tmp_path / "card_rules.hpp"
    changed.write_text("changed")
    beside(changed, folder)
    assert '"card_rules.hpp"' in (tmp_path / "card.hpp").read_text()
    assert changed.read_text() == "changed"
    assert (folder / "card_rules.hpp").read_text() != "changed"
