# Everything runs from a virtual environment in the checkout, which is made when it is absent and refreshed when pyproject.toml changes.

PYTHON ?= python3
PYTEST_ARGS ?= -n auto --dist worksteal
BIN := .venv/bin
READY := .venv/.ready
CODE := supernoded sim_hardware plugins migrations benchmarks demo tests

.PHONY: demo test check chaos long

demo: $(READY)  ## the daemon on a simulated rack, with faults, in about a minute
	$(BIN)/python -m demo </dev/null

test: $(READY)  ## everything that must hold, in at most 15 minutes on 2 cores
	.ci/packages test
	$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest $(PYTEST_ARGS) </dev/null

chaos: $(READY)  ## every scenario with and without its remedy, without its physics, and under each wrong policy
	$(BIN)/supernodectl chaos matrix </dev/null

long: $(READY)  ## what takes too long for every day
	$(BIN)/python -m pytest $(PYTEST_ARGS) -o python_files='long_*.py' tests/long </dev/null

check: $(READY)  ## style, types and directions of import
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports

$(READY): pyproject.toml
	.ci/packages venv
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check -e '.[dev]' </dev/null
	touch $@
