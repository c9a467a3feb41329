# The whole interface for people and for machines; `make` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Tests start many programs; without bytecode each compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

# python3 if it is new enough, else the newest that is; `make PYTHON=... setup` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-stamp
EXTRAS := sql,formats,meaning,spark,dp,app
FAST := tests/core tests/datasets tests/test_layout.py tests/test_import_light.py src/tacit

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(STAMP) ## Make .venv with tacit and everything needed to develop it

$(STAMP): pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo \
		"tacit needs Python 3.11 or newer (got $$($(or $(PYTHON),python3) --version 2>&1));" \
		"install one, or name it: make PYTHON=/path/to/python3 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || .ci/packages \
		"$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
	$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$(EXTRAS)]' --group dev
	@touch $(STAMP)

.PHONY: run
run: setup ## Serve the app with a project to try, and print its address
	$(BIN)/tacit serve --demo --folder tacit-demo

.PHONY: components
components: # PostgreSQL, Chromium and Java, which some tests need; installed only if they are missing
	@.ci/packages postgresql chromium default-jre-headless

.PHONY: test
test: setup components ## Run every test but the slow ones, the documentation included
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow" $(ARGS)

.PHONY: test-all
test-all: setup components ## Run every test
	$(BIN)/pytest -n auto --dist loadgroup $(ARGS)

.PHONY: check
check: setup ## Check format, lint, types, layers, spelling and the fast tests (under a minute)
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell
	$(BIN)/pytest -n auto -q -m "not slow" $(FAST) $(ARGS)

.PHONY: format
format: setup ## Rewrite the code in the house format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

.PHONY: docs
docs: setup ## Build the documentation in docs/_build/html, warnings are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

.PHONY: bench
bench: setup $(PEERS)/.peers-stamp ## Compare with the peers that pip can install, and attack every method; writes docs pages
	$(BIN)/python benchmarks/harness.py $(ARGS)
	$(BIN)/python benchmarks/bench_attacks.py

.PHONY: studies
studies: setup $(PEERS)/.peers-stamp ## Run the measurements of single capabilities that RESULTS.md tells of
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script"; done

$(PEERS)/.peers-stamp: benchmarks/peers.txt benchmarks/peers-bare.txt # one by one: a peer that is not to be had leaves the others
	@$(PYTHON) -m venv --clear $(PEERS)
	@grep -v '^#' benchmarks/peers.txt | while read -r peer; do \
		$(PEERS)/bin/python -m pip install --quiet --constraint benchmarks/peers.txt "$$peer" \
			|| echo "$$peer is not installed; the tables say so" >&2; done
	@$(PEERS)/bin/python -m pip install --quiet --no-deps -r benchmarks/peers-bare.txt \
		|| echo "the peers of peers-bare.txt are not installed; the tables say so" >&2
	@touch $@

.PHONY: constraints
constraints: ## Renew constraints.txt with the newest versions that fit together
	@scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv "$$scratch"; \
	"$$scratch/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'; \
	"$$scratch/bin/python" -m pip install --quiet --editable '.[$(EXTRAS)]' --group dev; \
	{ echo "# What make setup installs; renewed by make constraints."; \
	"$$scratch/bin/python" -m pip list --format freeze --exclude-editable --exclude pip --exclude setuptools; } \
		> constraints.txt

.PHONY: clean
clean: ## Remove what the other targets made; .venv stays
	rm -rf docs/_build docs/reference/methods build dist tacit-demo .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find src tests benchmarks examples docs -name __pycache__ -type d -prune -exec rm -rf {} +
