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
PINNED := $(wildcard requirements/*.txt requirements/matrix/*.txt)
CODE := $(wildcard passes cli tests benchmarks examples scripts/matrix.py)

PYTEST := -m pytest --numprocesses auto
ARGS ?=
VERSIONS ?=
COMPILERS ?= gpu v5e tpu7x
SEEDS ?= 5000:5500

.PHONY: help env run test slow matrix agreement repairs rules check format bench clean $(TESTS) $(SLOW_TESTS)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

env: $(READY) ## make the environments (the other targets do, too; -j2 is quicker)

run: .venv/.ready ## fix the program of openxla/xla issue 25747 and ask XLA before and after
	.venv/bin/python examples/issue_25747.py

test: $(TESTS) ## run the tests (ARGS='-k scope' goes to pytest)

$(TESTS): test-in-%: %/.ready
	$*/bin/python $(PYTEST) $(ARGS)

slow: $(SLOW_TESTS) ## run the slow tests: many random programs, large modules

$(SLOW_TESTS): slow-in-%: %/.ready
	$*/bin/python $(PYTEST) -m slow $(ARGS)

agreement: .venv/.ready ## ask lint and the compilers about 500 random programs each; slow
	for target in $(COMPILERS); do \
	    .venv/bin/python -m tests.agreement --target $$target --seeds $(SEEDS) --cases --out disagreements; \
	done

repairs: .venv/.ready ## repair 500 random programs for each compiler, and ask it; slow
	for target in $(COMPILERS); do \
	    .venv/bin/python -m tests.agreement.repairs --target $$target --seeds $(SEEDS) --out disagreements; \
	done

rules: .venv/.ready ## write docs/rules.md from the rules
	.venv/bin/python scripts/write_rules.py

matrix: ## run the tests with every jax we support (VERSIONS='0.6.0 0.7.2' for some); slow
	$(PYTHON) scripts/matrix.py $(PYTHON_313:%=--python %) $(VERSIONS)

check: .venv/.ready ## check format, lint and types
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy $(CODE)

format: .venv/.ready ## format the code and apply the safe lint fixes
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .

bench: .venv/.ready ## measure the pass, the command, the hook and lint
	.venv/bin/python benchmarks/scope.py $(ARGS)
	.venv/bin/python benchmarks/hook.py
	.venv/bin/python benchmarks/lint.py
	.venv/bin/python -m benchmarks.share

clean: ## remove the environments and everything built
	rm -rf .venv .venv-py313 .matrix build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.packages: $(PINNED) scripts/make_env.sh
	scripts/make_env.sh $(PYTHON) .venv
	@touch $@

.venv-py313/.packages: $(PINNED) scripts/make_env.sh
	scripts/make_env.sh $(PYTHON_313) .venv-py313
	@touch $@

# One after the other, whatever -j says: both installs write to the egg-info of this checkout.
.venv-py313/.ready: .venv/.ready

$(READY): %/.ready: %/.packages pyproject.toml
	$*/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --editable .
	$*/bin/python -m compileall -q passes cli  # where bytecode is not written, each start would compile
	@touch $@
