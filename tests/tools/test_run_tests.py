"""What the test runner reads off the reports of ctest and pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

import run_tests
import stages
from stages import reports
from stages.reports import Count

CTEST = """
test 1
    Start 1: unit.base.view
1: [doctest] test cases:  3 |  3 passed | 0 failed | 9 skipped
1/4 Test #1: unit.base.view ...................   Passed    0.01 sec
2: [doctest] test cases:  5 |  4 passed | 1 failed | 7 skipped
2/4 Test #2: unit.base.error ..................***Failed    0.02 sec
3: terminate called
3/4 Test #3: unit.machine.run .................Subprocess aborted***Exception:   0.3 sec
4/4 Test #4: example.01_ring ..................   Passed    0.31 sec

50% tests passed, 2 tests failed out of 4
"""


def test_every_case_of_a_program_counts_and_a_crash_is_one_failure() -> None:
    assert reports.tests_in(CTEST) == Count(passed=3 + 4 + 1, failed=1 + 1)


def test_a_program_that_dies_after_its_last_case_has_failed() -> None:
    report = "7: [doctest] test cases: 2 | 2 passed | 0 failed |\n1/1 Test #7: unit.x ....***Failed  1.0 sec\n"
    assert reports.tests_in(report) == Count(passed=2, failed=1)


@pytest.mark.parametrize(
    ("line", "passed", "failed"),
    [
        ("22 passed in 6.57s", 22, 0),
        ("2 failed, 30 passed, 1 skipped, 1 error in 61.20s (0:01:01)", 30, 3),
        ("==== 1 failed, 2 passed in 0.10s ====", 2, 1),
    ],
)
def test_the_last_line_of_pytest(line: str, passed: int, failed: int) -> None:
    assert reports.tests_in(f"....\n{line}\n") == Count(passed, failed)


def test_other_output_holds_no_tests() -> None:
    assert reports.tests_in("[1/2] Building CXX object\n[2/2] Linking\n") is None


def test_tests_that_are_quoted_do_not_count() -> None:
    assert reports.tests_in("| 1/1 Test #1: sum_over_ring ....***Failed 0.00 sec\n| 1 failed in 0.1s\n") is None


def test_a_stage_with_a_failed_test_has_failed_whatever_its_commands_say(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stage = stages.Stage("odd", lambda run: run.tally("1 failed, 2 passed in 0.10s\n"), needs=())
    after = stages.Stage("after", lambda run: pytest.fail("runs, though what it needs has failed"), needs=("odd",))
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(run_tests, "chosen_stages", lambda only, sets: [stage, after])
    monkeypatch.setattr("sys.argv", ["run_tests.py"])
    assert run_tests.main() == 1
    said = capsys.readouterr().out
    assert "odd FAILED" in said
    assert "needs odd" in said
    assert said.splitlines()[-1] == "2 passed, 1 failed"


def test_stages_bring_what_they_need() -> None:
    names = [stage.name for stage in stages.chosen_stages(["types"], ("test",))]
    assert names == ["setup", "host-build", "types"]
    for stage in stages.STAGES:
        assert set(stage.needs) <= {other.name for other in stages.STAGES}


def test_quick_stages_and_the_rest_are_all_that_must_hold() -> None:
    quick = [stage.name for stage in stages.chosen_stages([], ("test",))]
    rest = [stage.name for stage in stages.chosen_stages([], ("verify",))]
    assert {"style", "host-tests", "python-tests", "types"} <= set(quick)
    assert {"host-checks", "tool-tests", "install", "tsan", "asan-ubsan", "cuda-build"} <= set(rest)
    assert set(quick) & set(rest) == {"setup"}  # nothing is done twice, and both can be started on their own
    everything = [stage.name for stage in stages.chosen_stages([], ("test", "verify", "all"))]
    assert set(quick) | set(rest) < set(everything)
    assert "soak" not in everything
