"""Whether what is shown is what came, where `...` stands for what varies.

Within a line `...` is any text; a line of nothing else is any number of lines. All other text is compared as it is.
"""

from __future__ import annotations

import re

ELLIPSIS = "..."


def line_pattern(shown: str) -> str:
    return "[^\n]*".join(re.escape(part) for part in shown.split(ELLIPSIS))


def matches(shown: str, came: str) -> bool:
    """Whether the whole output is as shown, but for blanks at the ends of lines."""
    pattern = ""
    for line in shown.splitlines():
        pattern += "(?:[^\n]*\n)*?" if line.strip() == ELLIPSIS else line_pattern(line.rstrip()) + "\n"
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in came.splitlines())) is not None


def missing_excerpt(shown: str, source: str) -> str | None:
    """The first run of shown lines that is not in the source, after those before it and with one indentation; or
    None. A line may end in a comment `// line 17`, and then must have that number in the source."""
    lines = source.splitlines()
    at = 0
    run: list[str] = []
    for line in [*shown.splitlines(), ELLIPSIS]:
        if line.strip() != ELLIPSIS:
            run.append(line)
            continue
        while run and not run_at(run, lines, at):
            at += 1
            if at > len(lines) - len(run):
                return "\n".join(run)
        at += len(run)
        run = []
    return None


def run_at(run: list[str], lines: list[str], at: int) -> bool:
    """Whether the lines from index `at` on are those of the run."""
    there = lines[at : at + len(run)]
    if len(there) < len(run):
        return False
    indents = set()
    for number, (shown, line) in enumerate(zip(run, there, strict=True), at + 1):
        claimed = re.search(r"\s*// line (\d+)$", shown)
        text = shown[: claimed.start()] if claimed else shown
        if text.strip() != line.strip() or (claimed and int(claimed.group(1)) != number):
            return False
        if text.strip():
            indents.add(len(line) - len(line.lstrip()) - (len(text) - len(text.lstrip())))
    return len(indents) <= 1


def renewed(shown: str, came: str) -> str:
    """The shown text with its lines as they came now. Lines that differ in nothing but numbers are taken over; where
    more has changed, the text stays, for a person to mend."""
    left = came.splitlines()
    result = []
    for line in shown.splitlines():
        for pattern in (line_pattern(line.rstrip()), re.sub(r"\d+", r"\\d+", line_pattern(line.rstrip()))):
            found = next((i for i, new in enumerate(left) if re.fullmatch(pattern, new.rstrip())), None)
            if line.strip() != ELLIPSIS and found is not None:
                # What `...` stood for is hidden again.
                line = numbers_of(line, left[found])
                left = left[found + 1 :]
                break
        result.append(line)
    return "".join(f"{line}\n" for line in result)


def numbers_of(shown: str, came: str) -> str:
    """The shown line with the numbers of the one that came; `...` stays."""
    parts = re.split(r"(\d+|\.\.\.)", shown.rstrip())
    varying = {ELLIPSIS: "(.*)"}
    pattern = [varying.get(part, r"(\d+)") if i % 2 else re.escape(part) for i, part in enumerate(parts)]
    found = re.fullmatch("".join(pattern), came.rstrip())
    if found is None:
        return shown
    for i in range(1, len(parts), 2):
        if parts[i] != ELLIPSIS:
            parts[i] = found.group(i // 2 + 1)
    return "".join(parts)
