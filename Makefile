# Every command a reader, a student or a contributor needs. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
URL_NOW := $(shell sed -n 's/^  url: *//p' _config.yml)

.DEFAULT_GOAL := help
.PHONY: help .venv book test check hooks lab notebooks corrections bench counters lock repository assignments grade clean

help:  ## List the commands
	@awk -F ':.*## ' '/^[a-z.]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv: .venv/.ready  ## Create the environment from requirements.txt

.venv/.ready: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"{sys.executable} is Python {v[0]}.{v[1]}; the pinned environment needs 3.11 or newer: make PYTHON=/path/to/python3.11")'
	@echo "Creating .venv from requirements.txt (a few minutes the first time)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

book: .venv  ## Build the book, warnings as errors, and print where to open it
	@echo "Building the book"
	$(BIN)/jupyter-book build . --all --quiet -W -n --keep-going
	@echo "The book is built. Open $(CURDIR)/_build/html/index.html in a browser."

test: .venv  ## Run every test: the library, the notebooks, the built pages
	@echo "Running all tests"
	$(BIN)/python -m pytest

check: .venv  ## Before a commit: format, lint, types, and the quick tests of notebooks and pages
	$(BIN)/python -m tools.check

hooks: .venv  ## Have git run the same before every commit (installs pre-commit into .venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "pre-commit>=4"
	$(BIN)/pre-commit install

lab: .venv  ## Open the notebooks in JupyterLab
	$(BIN)/jupyter lab book

notebooks: .venv  ## Execute every notebook from the top and store its outputs (one: make notebooks ONLY=book/x.ipynb)
	$(BIN)/python -m tools.notebooks $(ONLY)

corrections: .venv  ## Collect the chapters' corrections into book/corrections.md
	$(BIN)/python -m tools.corrections

bench: .venv  ## Time the stacks, their scaling and a transformer; rewrites the tables in benchmarks/
	$(BIN)/python -m benchmarks.stacks
	$(BIN)/python -m benchmarks.scaling
	$(BIN)/python -m benchmarks.transformer

counters:  ## Compare the usual cost counters, in an environment of their own
	test -d benchmarks/.venv-counters || $(PYTHON) -m venv benchmarks/.venv-counters
	benchmarks/.venv-counters/bin/python -m pip install --quiet -r benchmarks/counters-requirements.txt
	benchmarks/.venv-counters/bin/python -m pip install --quiet --no-deps -e .
	benchmarks/.venv-counters/bin/python -m benchmarks.counters

lock: .venv  ## Freeze newer versions, within the ranges of pyproject.toml, into requirements.txt
	$(BIN)/python -m tools.lock

repository: .venv  ## Stamp the repository's address everywhere: make repository URL=https://github.com/you/your-repo
	$(BIN)/python -m tools.repository $(URL)

assignments: .venv  ## Write what students get into assignments/release/ (one: make assignments ONLY=4-gate-costs)
	$(BIN)/python -m tools.course.release $(ONLY)

grade: .venv  ## Grade a folder of submissions: make grade FROM=submissions TO=grades (one assignment: ONLY=4-gate-costs)
	$(BIN)/python -m tools.course.grade "$(FROM)" "$(TO)" --only "$(ONLY)"

clean:  ## Remove the environment and everything that is built
	rm -rf .venv _build
