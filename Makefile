# Every target sets up what it needs, and does again only what changed.

PYTHON ?= python3
BIN := .venv/bin
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.NOTPARALLEL:
# Whatever environment is active, the one here is meant.
export VIRTUAL_ENV := $(CURDIR)/.venv
# The interpreter that the Python binding is built and checked for.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
# A process of tests on each core; one that has nothing left takes from the others.
PARALLEL := --numprocesses auto --dist worksteal

# With PGO=1 the engine is built twice: with instruments, while these specs of every kind run, and then guided by their profile.
GOLDEN := crates/diskwright/tests/golden
TRAINING := $(filter-out $(GOLDEN)/data/% $(GOLDEN)/drives/%,$(wildcard $(GOLDEN)/*/*.toml)) \
	$(filter-out examples/hp-week.toml,$(wildcard examples/*.toml))

ENGINE_SOURCES := Cargo.toml Cargo.lock pyproject.toml \
	$(shell find crates drives)

.PHONY: help setup demo test test-long test-hours campaign bench lint format docs tools clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

setup: $(if $(PGO),$(BIN)/.guided,$(BIN)/.engine) ## build the engine in release mode; install the command .venv/bin/diskwright; PGO=1: guided by a profile

demo: setup ## replay a recorded trace on a laptop's drive, in order and reordered; write a page of what differs
	@mkdir -p results
	$(BIN)/diskwright compare examples/laptop.toml --report results/demo.html \
		--vary 'device.hdd.queue.scheduler=fcfs,{ ncq = { timeout = "2 s" } }'
	@printf '\nThe page with the charts, for any browser:\n%s\n' results/demo.html

test: setup $(BIN)/.tests ## run all tests
	cargo test --locked --profile checked
	$(BIN)/python -m pytest $(PARALLEL) -m "not long and not hours"

test-long: setup $(BIN)/.tests ## run all tests, those too that take minutes
	cargo test --locked --profile checked
	cargo test --locked --profile checked -- --ignored --skip campaign_goes_on $(if $(shell bash .ci/reference),,--skip reference_data)
	$(MAKE) campaign HOURS=0.05
	$(BIN)/python -m pytest $(PARALLEL) -m "not alone and not hours"
	$(BIN)/python -m pytest -m alone

test-hours: setup $(BIN)/.tests ## fit 200 made-up drives: are their parameters within the intervals as often as they should? serve a disk for a day
	$(BIN)/python -m pytest -m hours -s

HOURS ?= 1
campaign: tools ## try random cases for HOURS=n hours, and add to campaign/log.jsonl
	DISKWRIGHT_CAMPAIGN_HOURS=$(HOURS) cargo test --locked --profile checked --test all campaign_goes_on -- --ignored --nocapture

bench: tools ## measure the engine, beside a bare loop in the same run; PGO=1: built as by `make setup PGO=1`
	@$(if $(PGO),bash tools/profile-guided 'cargo run --locked --quiet --profile bench --example training -- $(TRAINING)') cargo bench --locked

lint: $(BIN)/.engine $(BIN)/.tests ## check formatting, lints and types
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- --deny warnings
	cargo fmt --manifest-path tools/mutants/Cargo.toml --check
	cargo clippy --locked --manifest-path tools/mutants/Cargo.toml -- --deny warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest --mypy-config-file pyproject.toml diskwright._engine

format: $(BIN)/.tests ## format the sources
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(BIN)/.docs ## build the manual into site/ and the crate's documentation into target/doc
	@# Of warnings that are not shown --strict knows nothing: no --quiet.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean --strict
	RUSTDOCFLAGS="--deny warnings" cargo doc --locked --no-deps

clean: ## remove all that was built
	rm -rf .venv target site python/diskwright/*.so

tools:
	@PYTHON="$(PYTHON)" bash .ci/tools

# Tools are looked for only where something is about to be built.
$(BIN)/.environment: pyproject.toml .ci/tools
	@PYTHON="$(PYTHON)" bash .ci/tools
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" "maturin>=1.9,<2"
	@touch $@

$(BIN)/.tests: $(BIN)/.environment
	$(BIN)/python -m pip install --quiet --group tests
	@touch $@

$(BIN)/.docs: $(BIN)/.environment
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# The Python sources are used in place: only the extension module has to be built again.
$(BIN)/.engine: $(BIN)/.environment $(ENGINE_SOURCES)
	$(BIN)/maturin develop --release --quiet
	@rm -f $(BIN)/.guided
	@touch $@

# An engine with instruments must not stay where anything fails.
$(BIN)/.guided: $(BIN)/.environment $(ENGINE_SOURCES) tools/profile-guided tools/training.py
	@rm -f $(BIN)/.engine
	@bash tools/profile-guided '$(BIN)/maturin develop --release --quiet && $(BIN)/python tools/training.py $(TRAINING)' \
		$(BIN)/maturin develop --release --quiet
	@touch $(BIN)/.engine $@
