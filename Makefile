# The commands of the project; each does all of its own set-up.

.PHONY: help demo test verify test-all docs wheel soak long-run bugs mutate protocols gpu lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      build for this machine, diffuse a photograph and solve a linear system on all its devices"
	@echo "make test      build for virtual devices; units, protocols, misuse, examples, the Python package, style, types"
	@echo "make verify    the rest: libraries, check mode, sanitizers, installation, GPU code compiled if nvcc is here"
	@echo "make test-all  both, long sweeps and runs, and a wheel"
	@echo "make docs      the pages and the references of C++ and Python as a site in build/site, its links checked"
	@echo "make wheel     a wheel for virtual devices in dist/, tried in an empty environment"
	@echo "make soak      random faults under random programs for 5 minutes (STARLING_SOAK_SECONDS)"
	@echo "make long-run  stencils of many steps in one run (STARLING_LONG_STEPS; STARLING_TEST_MACHINE=cuda: on GPUs)"
	@echo "make bugs      run the wrong programs of examples/bugs and 10,000 schedules of their corrected twins"
	@echo "make protocols 10,000 schedules of every protocol that ships, and the unit tests in check mode"
	@echo "make mutate    weaken the protocols one place at a time; check mode must notice"
	@echo "make gpu       on a machine with GPUs: run the tests there and a short benchmark"
	@echo "make lint      style, types and the include direction only"
	@echo "make format    rewrite the sources in the project's style"
	@echo "make clean     remove everything that was built"

demo:
	@tools/demo.sh

test:
	@python3 tools/run_tests.py

verify:
	@python3 tools/run_tests.py --verify

test-all:
	@python3 tools/run_tests.py --all

docs:
	@python3 tools/run_tests.py --only docs

wheel:
	@python3 tools/wheel.py

soak:
	@python3 tools/run_tests.py --only soak

long-run:
	@python3 tools/run_tests.py --only long-run

bugs:
	@python3 tools/run_tests.py --only bugs

protocols:
	@python3 tools/run_tests.py --only protocols

mutate:
	@python3 tools/run_tests.py --only mutate

gpu:
	@tools/gpu.sh

lint:
	@python3 tools/run_tests.py --only style --only types

format:
	@python3 tools/run_tests.py --only format

clean:
	rm -rf build python/starling/_starling*
