# Everything runs in environments that this file makes: .venv for python3 and, where a Python 3.13
# is found beside an older python3, .venv-py313 with a newer jax. Both run the same tests.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
PYTHON_313 := $(shell scripts/find_second_python.sh $(PYTHON))
ENVS := .venv $(if $(PYTHON_313),.venv-py313)
READY := $(ENVS:%=%/.ready)
TESTS := $(ENVS:%=test-in-%)
SLOW_TESTS := $(ENVS:%=slow-in-%)
CODE := $(wildcard passes cli tests benchmarks examples)

PYTEST := -m pytest --numprocesses auto
ARGS ?=

.PHONY: help env run test slow check format bench clean $(TESTS) $(SLOW_TESTS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: $(READY) ## make the environments (the other targets do, too; -j2 is quicker)

run: .venv/.ready ## fix the program of openxla/xla issue 25747 and ask XLA before and after
	.venv/bin/python examples/issue_25747.py

test: $(TESTS) ## run the tests (ARGS='-k scope' goes to pytest)

$(TESTS): test-in-%: %/.ready
	$*/bin/python $(PYTEST) $(ARGS)

slow: $(SLOW_TESTS) ## run the slow tests: many random programs, large modules

$(SLOW_TESTS): slow-in-%: %/.ready
	$*/bin/python $(PYTEST) -m slow $(ARGS)

check: .venv/.ready ## check format, lint and types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy $(CODE)

format: .venv/.ready ## format the code and apply the safe lint fixes
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

bench: .venv/.ready ## measure the pass and the command against their floors
	.venv/bin/python benchmarks/scope.py $(ARGS)

clean: ## remove the environments and everything built
	rm -rf .venv .venv-py313 build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.packages: $(wildcard requirements/*) scripts/make_env.sh
	scripts/make_env.sh $(PYTHON) .venv
	@touch $@

.venv-py313/.packages: $(wildcard requirements/*) scripts/make_env.sh
	scripts/make_env.sh $(PYTHON_313) .venv-py313
	@touch $@

# One after the other, whatever -j says: both installs write to the egg-info of this checkout.
.venv-py313/.ready: .venv/.ready

$(READY): %/.ready: %/.packages pyproject.toml
	$*/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	$*/bin/python -m compileall -q passes cli  # where bytecode is not written, each start would compile
	@touch $@
