# Everything a fresh machine with Python 3.11 and make needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
STAMP := $(VENV)/.installed

.PHONY: demo test lint format rules bench docs clean

demo: $(STAMP)  ## analyze the sample cluster and say where the report is
	@rm -rf out/demo && mkdir -p out
	@$(BIN)/triage analyze samples/gpu-cluster -o out/demo
	@echo "Open out/demo/report.html in a browser."

test: $(STAMP) lint  ## everything: style, types, tests, the rules' own cases among them
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

rules: $(STAMP)  ## the rules' own cases
	$(BIN)/triage rules test

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)  ## the generated pages: tables and rules
	$(BIN)/python -m analyzer.store.docs
	$(BIN)/python -m analyzer.engine.catalogue

bench: $(STAMP)  ## speed beside plain decompression, see bench/README.md
	$(BIN)/python bench/run.py

$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "bundle-triage needs Python 3.11 or newer (set PYTHON=)")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

clean:
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache
