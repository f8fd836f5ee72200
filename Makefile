# Needs git, make and Python 3.11 or newer. Everything else is installed into .venv in this directory.
# To use another Python: make PYTHON=python3.12 …

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

export PYTHON

##@ Try it

.PHONY: demo
demo: $(VENV)/.installed ## Run PodSet on the embedded API server; KEEP=1 keeps it running for kubectl
	@$(BIN)/python -m examples.podset.demo $(if $(KEEP),--keep)

##@ Check it

.PHONY: test
test: $(VENV)/.installed-dev ## Everything: style, types, imports, generated code, tests, documentation
	@$(BIN)/python tools/check.py

.PHONY: lint
lint: $(VENV)/.installed-dev ## Style, types, imports and generated code
	@$(BIN)/python tools/check.py format lint imports types public-types generated

.PHONY: unit
unit: $(VENV)/.installed-dev ## The tests that need no server
	@$(BIN)/python tools/check.py unit

.PHONY: integration
integration: $(VENV)/.installed-dev ## The tests on a server: embedded, or from KUBEBUILDER_ASSETS or KUBECONFIG
	@$(BIN)/python tools/check.py integration

.PHONY: docs
docs: $(VENV)/.installed-dev ## Run the code blocks of README and docs
	@$(BIN)/python tools/check.py docs

.PHONY: site
site: $(VENV)/.installed-dev ## Build the documentation as a site, build/site/index.html; a broken link fails
	@$(BIN)/python tools/check_site.py

.PHONY: bench
bench: $(VENV)/.installed-bench ## Measure pyctrl, its peers and the API server: CPU and memory; PLAN=quick takes minutes, others hours
	@$(BIN)/python benchmarks/run.py --plan $(or $(PLAN),standard)
	@$(BIN)/python benchmarks/apiserver.py

##@ Change it

.PHONY: format
format: $(VENV)/.installed-dev ## Format the code and fix what can be fixed
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

.PHONY: generate
generate: $(VENV)/.installed-dev ## Generate the built-in kinds, the list of public names and the charts
	@$(BIN)/python tools/generate_kinds.py
	@$(BIN)/python tools/public_names.py --write
	@$(BIN)/python tools/plot_benchmarks.py

.PHONY: clean
clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist

.PHONY: help
help: ## Print this
	@awk 'BEGIN { FS = ":.*## "; print "make TARGET" } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.created:
	@python=$$(sh tools/find-python) && \
		echo "Creating $(VENV) with $$($$python --version), once" && \
		rm -rf $(VENV) && $$python -m venv $(VENV)
	@$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	@echo "Installing pyctrl into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml
	@echo "Installing pyctrl and the tools of its checks into $(VENV)"
	@$(PIP) install --editable '.[test]' --group dev
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: $(VENV)/.installed pyproject.toml
	@$(PIP) install --group bench
	@touch $@
