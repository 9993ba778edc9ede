"""The stages of the tests: what each does, what it needs, and when it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stages import building, quick, rest, sweeps
from stages.run import Run

__all__ = ["STAGES", "Stage", "chosen_stages"]


@dataclass
class Stage:
    name: str
    action: Callable[[Run], None]
    needs: tuple[str, ...] = ("setup",)
    when: str = "test"  # test, verify (with --verify), all (only with --all) or asked (only with --only)


STAGES = [
    Stage("setup", building.setup, needs=()),
    Stage("format", quick.reformat, when="asked"),
    Stage("style", quick.style),
    Stage("host-build", quick.host_build),
    Stage("host-tests", quick.host_tests, needs=("host-build",)),
    Stage("python-tests", quick.python_tests, needs=("host-build",)),
    Stage("soak", sweeps.soak, needs=("host-build",), when="asked"),
    Stage("long-run", sweeps.long_run, when="all"),
    Stage("types", quick.types, needs=("host-build",)),  # reads the module's stub
    Stage("host-build-all", rest.host_build_all, when="verify"),
    Stage("host-checks", rest.host_checks, needs=("host-build-all",), when="verify"),
    Stage("tool-tests", rest.tool_tests, needs=("host-build-all",), when="verify"),
    Stage("dace", rest.dace_tests, needs=("host-build-all",), when="verify"),
    Stage("dace-random", sweeps.dace_random, needs=("host-build",), when="all"),
    Stage("install", rest.install_check, needs=("host-build-all",), when="verify"),
    Stage("tsan", rest.thread_sanitizer, when="verify"),
    Stage("asan-ubsan", rest.address_sanitizer, when="verify"),
    Stage("sanitizers-all", sweeps.sanitizers_all, when="all"),
    Stage("bugs", sweeps.bugs, needs=("host-build-all",), when="all"),
    Stage("protocols", sweeps.protocols, needs=("host-build-all",), when="all"),
    Stage("mutate", sweeps.mutate, needs=("host-build-all",), when="all"),
    Stage("cuda-build", rest.cuda_build, when="verify"),
    Stage("cuda-tests", rest.cuda_tests, needs=("cuda-build",), when="verify"),
    Stage("cuda-install", sweeps.cuda_install_check, needs=("cuda-build",), when="all"),
    Stage("docs", rest.docs, needs=(), when="verify"),
    Stage("wheel", sweeps.wheel, when="all"),
]


def chosen_stages(only: list[str], sets: tuple[str, ...]) -> list[Stage]:
    """The stages named, or else those of the sets (`Stage.when`), and all that these need; in order."""
    by_name = {stage.name: stage for stage in STAGES}
    only = only or [stage.name for stage in STAGES if stage.when in sets]
    wanted: set[str] = set()

    def want(name: str) -> None:
        wanted.add(name)
        for need in by_name[name].needs:
            want(need)

    for name in only:
        want(name)
    return [stage for stage in STAGES if stage.name in wanted]
