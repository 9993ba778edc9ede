"""Every mutation fits the sources as they are, so that none goes out of use unnoticed."""

from __future__ import annotations

import pytest

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
