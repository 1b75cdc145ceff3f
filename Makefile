# Everything runs in a virtual environment of its own, made on first use from the pinned versions in constraints.txt.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RESULTS ?= results

# What to install beside the program: dev holds the tools.
EXTRAS ?= dev

# Knobs of reproduce-all, beyond and readings: RUNS=n lowers the number of runs; SKIP="vehicle mnist" leaves datasets out
# on purpose.
RUNS ?=
SKIP ?=

# Runs that came with the repository and were not made here: what makes all runs takes them away first, and an interrupted
# call goes on from its own.
CAME = $(strip $(foreach kept,$(wildcard $(1)/*/trials.jsonl.xz),$(if $(wildcard $(basename $(kept))),,$(kept))))

# How tests are parted among processes: a run of neighbours for each, then whoever is done first takes from the others.
ACROSS ?= -n auto --maxprocesses 8 --dist worksteal

# Where compiled loops are tested.
LOOPS = tests/engine tests/kernels tests/learners tests/datasets/test_datasets.py tests/test_compiled.py

# Quick tests that reach every package that is needed, and the Python for those with the oldest versions.
QUICK = tests/test_parameters.py tests/test_sparse.py tests/config tests/results tests/plots/test_plots.py tests/foreign
OLDEST ?= python3.10

# The sample of mutants.
MUTANTS ?= 120
SEED ?= 1

# What is measured: a checkout of any commit. ACCEPT=1 takes the counts of now for right.
OF ?= $(CURDIR)
ACCEPT ?=

.DEFAULT_GOAL := help
.PHONY: help install quickstart test test-checked test-oldest coverage bench bench-counts mutants lint format \
	reproduce-all beyond readings pages docs dist dist-check release clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY) ## Make the virtual environment and install budgetbench with the tools of development

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$(EXTRAS)]'
	@touch $@

quickstart: $(READY) ## Install, run two small experiments that need no download, and show tables and figures
	$(BIN)/budgetbench run configs/quickstart.yaml configs/quickstart_digits.yaml --results $(RESULTS)
	$(BIN)/budgetbench plot $(RESULTS)/quickstart
	$(BIN)/budgetbench plot $(RESULTS)/quickstart_digits

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest $(ACROSS)

test-oldest: ## Run tests with the oldest versions allowed, on Python OLDEST, in an environment of their own
	$(OLDEST) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		--editable . hypothesis jsonschema pyarrow pytest pytest-xdist
	$(VENV)-oldest/bin/python -m pytest $(ACROSS) $(QUICK)

coverage: $(READY) ## Run the tests and show which branches they miss (NUMBA_DISABLE_JIT=1: of compiled loops too)
	$(BIN)/python -m pytest $(ACROSS) --cov --cov-report=term-missing

test-checked: $(READY) ## Run the tests of compiled loops with every access checked against the bounds of its array
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest $(ACROSS) $(LOOPS)

bench: $(READY) ## Measure speed against floors, with counts and memory, and write the page over commits (OF=checkout)
	@commit=$$(git -C $(OF) describe --always --abbrev=12 --dirty --exclude='*') && mkdir -p benchmarks/results && \
	PYTHONPATH=$(OF) $(BIN)/pytest -n 0 benchmarks/test_speed.py --benchmark-timer=time.process_time --benchmark-quiet \
		--benchmark-json=benchmarks/results/$$commit.json
	$(BIN)/python benchmarks/course.py

bench-counts: $(READY) ## Compare counts of kernel values and products with those accepted (ACCEPT=1: accept those of now)
	$(BIN)/python -m pytest -n 0 benchmarks/test_speed.py --benchmark-disable $(if $(ACCEPT),--accept-counts)

mutants: $(READY) ## Change the numerical code in MUTANTS places, drawn from SEED, and see which changes no test notices
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[mutants]'
	NUMBA_DISABLE_JIT=1 OMP_NUM_THREADS=1 $(BIN)/python tests/mutants.py $(MUTANTS) $(SEED)

lint: $(READY) ## Check style, types, and what imports what
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: $(READY) ## Put the sources into the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reproduce-all: $(READY) ## Run every config, draw figures, write the report, check the claims (RUNS=n, SKIP="dataset ...")
	@rm -f $(call CAME,$(RESULTS))
	@status=0; \
	$(BIN)/budgetbench run configs/*.yaml --results $(RESULTS) \
		$(if $(RUNS),--permutations $(RUNS)) $(foreach name,$(SKIP),--skip $(name)) || status=$$?; \
	$(BIN)/budgetbench bounds $(RESULTS) || status=$$?; \
	$(BIN)/budgetbench plot $(RESULTS) --quiet & drawn=$$!; \
	$(BIN)/budgetbench report $(RESULTS) || status=$$?; \
	$(BIN)/budgetbench check $(RESULTS) --write || status=$$?; \
	wait $$drawn || status=$$?; \
	exit $$status

beyond: $(READY) ## Compare all learners at equal memory over eight datasets: tables, figures, ranks, a page (RUNS=n, SKIP=...)
	@rm -f $(call CAME,$(RESULTS)/beyond)
	@status=0; \
	$(BIN)/budgetbench run configs/beyond/*.yaml --results $(RESULTS)/beyond \
		$(if $(RUNS),--permutations $(RUNS)) $(foreach name,$(SKIP),--skip $(name)) || status=$$?; \
	$(BIN)/budgetbench plot $(RESULTS)/beyond || status=$$?; \
	$(BIN)/budgetbench compare $(RESULTS)/beyond $(foreach room,20 40 80 160 320,--memory $(room)examples) || status=$$?; \
	$(BIN)/budgetbench report $(RESULTS)/beyond || status=$$?; \
	exit $$status

readings: $(READY) ## Try other readings of the papers where a claim fails: tables, figures (RUNS=n, SKIP=...)
	@rm -f $(call CAME,$(RESULTS)/readings)
	@status=0; \
	$(BIN)/budgetbench run configs/readings/*.yaml --results $(RESULTS)/readings \
		$(if $(RUNS),--permutations $(RUNS)) $(foreach name,$(SKIP),--skip $(name)) || status=$$?; \
	$(BIN)/budgetbench plot $(RESULTS)/readings || status=$$?; \
	exit $$status

pages: $(READY) ## Write README.md, the READMEs of results and the replication, as PDF too, from the results
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python docs/pages.py

docs: $(READY) ## Build the site into build/site, made of docs/site and of all that is registered
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[site]'
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs/site build/site

dist: $(READY) ## Build the wheel and the sdist into dist/
	rm -rf build dist
	$(BIN)/python -m build --quiet

dist-check: dist ## Install what was built into fresh environments and try it from an empty folder
	$(BIN)/python tests/installed.py dist constraints.txt

release: dist-check ## Build and check a release, and say what is left to do
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[release]'
	$(BIN)/twine check --strict dist/*
	@$(BIN)/python tests/release.py

clean: ## Remove the virtual environment and the caches of tools
	rm -rf $(VENV) $(VENV)-oldest build dist .mypy_cache .pytest_cache .ruff_cache *.egg-info
