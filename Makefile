PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

INSTALL = { [ -n "$$CI" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && { apt-get update -q && \
	apt-get install -y -q --no-install-recommends $(1); } >/dev/null 2>&1; }

.PHONY: help demo test check browser docs bench reproduce clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(BIN)/sordino: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Sordino needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "no virtual environments here: apt-get install python3-venv, or make PYTHON=..." >&2; exit 1; }
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.tests-ready: $(BIN)/sordino pyproject.toml
	$(BIN)/python -m pip install -q --group test
	@touch $@

$(VENV)/.docs-ready: $(BIN)/sordino pyproject.toml
	$(BIN)/python -m pip install -q --group docs
	@touch $@

demo: $(BIN)/sordino ## answer several private questions and write an HTML report
	$(BIN)/sordino demo

check: $(VENV)/.tests-ready ## format, lint, types and the fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(BIN)/mypy & types=$$!; $(BIN)/pytest -n auto -m "not slow" tests/unit tests/property; tested=$$?; \
		wait $$types && exit $$tested

browser: # pages are tested in one, and clients with their drivers; a CI machine installs both, everybody else is told how
	@{ command -v chromium && command -v chromedriver; } >/dev/null || $(call INSTALL,chromium chromium-driver) || \
		echo "no chromium and chromedriver: tests of pages are skipped (Debian: apt-get install chromium chromium-driver)"
	@test -e /usr/share/java/postgresql.jar || $(call INSTALL,libpostgresql-jdbc-java) || \
		echo "no driver of PostgreSQL for Java: its test is skipped (Debian: apt-get install libpostgresql-jdbc-java)"

test: check browser ## everything: check, the exhaustive proofs, the zoo, the command line, the three engines
	$(BIN)/pytest -n auto -m "slow" tests/unit tests/property
	$(BIN)/pytest -n auto tests/oracles tests/exact tests/statistical tests/e2e
	$(BIN)/pytest -n 2 --dist loadfile tests/backends

docs: $(VENV)/.docs-ready ## the docs site in site/, strictly: a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html, or serve it with: $(BIN)/python -m http.server -d site"

bench: $(VENV)/.tests-ready ## Sordino beside its peers in one run (installs the peers in .venv-peers)
	$(BIN)/python benchmarks/run.py

reproduce: $(VENV)/.tests-ready ## the papers' figures from public data, as CSV, PNG and a page
	$(BIN)/python reproduce/run.py

clean: ## remove the environments and caches
	rm -rf $(VENV) .venv-peers .venv-readme site .mypy_cache .ruff_cache .pytest_cache .hypothesis
