"""What is read off the output of ctest and pytest: how many tests there were, and why some failed."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Count", "reasons_in", "tests_in"]


@dataclass
class Count:
    passed: int = 0
    failed: int = 0


def tests_in(output: str) -> Count | None:
    """The tests that a ctest -V or pytest run reports. A program of many test cases counts as that many."""
    count = Count()
    cases: dict[str, tuple[int, int]] = {}
    for line in re.finditer(r"^(\d+): \[doctest\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed", output, re.M):
        cases[line.group(1)] = int(line.group(2)), int(line.group(3))
    ran = re.findall(r"^ *\d+/\d+ Test +#(\d+): \S+ \.*(.*)", output, re.M)
    for number, verdict in ran:
        held = verdict.strip().startswith("Passed")
        passed, failed = cases.get(number, (1, 0) if held else (0, 1))
        # A program may also die after its last test case, or before it could count.
        count.passed += passed
        count.failed += failed if held else max(failed, 1)
    pytest_line = re.search(r"^(?:=+ )?(\d+ (?:passed|failed|error|skipped).*) in [\d.]+s", output, re.M)
    if pytest_line:
        for number, word in re.findall(r"(\d+) (passed|failed|errors?)", pytest_line.group(1)):
            if word == "passed":
                count.passed += int(number)
            else:
                count.failed += int(number)
    return count if ran or pytest_line else None


def reasons_in(output: str, lines: int = 40) -> list[str]:
    """Of a log what the failed tests said if it is a log of tests, otherwise the lines that look like reasons, and the
    end."""
    text = output.splitlines()
    failed = re.findall(r"^\t *(\d+) - \S+ \(", "\n".join(text), re.M)
    shown: list[str] = []
    for number in failed[:10]:
        # Without the framework's greetings and the lines before the run.
        said = [line for line in text if line.startswith(f"{number}: ") and not re.search(r"doctest\] (do|run)", line)]
        shown += [*said[4:34], *(["..."] if len(said) > 34 else [])]
    if not failed:
        progress = re.compile(r"^\[\d+/\d+\] (?!.*FAILED)|^-- ")
        reason = re.compile(r"\berror\b|ERROR:|FAILED|WARNING: ThreadSanitizer")
        text = [line for line in text if not progress.match(line)]
        shown = [line for line in text[:-lines] if reason.search(line)][:30]
    return [*shown, "...", *text[-(lines if not failed else len(failed) + 6) :]]
