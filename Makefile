# The commands of everyday work. Each installs what is missing first.

.PHONY: run down build build-tests test examples install bench footprint soak fuzz lint format setup

BIN = .build/debug
# The processes of compose/default.yaml.
STACK = broker navigation-coordinator error-notifier auth-service music-service spotify-simulator
# What people start themselves.
TOOLS = segue device focus-player
# What `segue bench` runs.
BENCHMARKS = segue-bench

# Builds only what it starts and what docs/try.txt names.
run:
	@echo "Builds and starts the focus player. The first time takes about 5 minutes on two cores, later ones some seconds."
	@scripts/setup
	@scripts/build $(STACK) $(TOOLS)
	@$(BIN)/segue up -d --wait -f compose/default.yaml
	@cat docs/try.txt

down:
	@$(BIN)/segue down -f compose/default.yaml

build: setup
	@swift build

test: build-tests
	@scripts/test

build-tests: setup
	@scripts/python
	@swift build --build-tests

# The package in Examples, as its own users would build and test it.
examples: setup
	@scripts/examples

# Installs the programs of the focus player's stack, and what goes with them, in PREFIX. CONFIGURATION=debug installs what
# `make run` builds.
install: CONFIGURATION ?= release
install: PREFIX ?= /usr/local
install: setup
	@mkdir -p "$(PREFIX)" && test -w "$(PREFIX)" || { echo "$(PREFIX) cannot be written to; name another PREFIX" >&2; exit 1; }
	@commit=$$(git describe --always --dirty --abbrev=12 --exclude='*') && SEGUE_COMMIT="$$commit" \
		scripts/build $(if $(filter release,$(CONFIGURATION)),--release) $(STACK) $(TOOLS) $(BENCHMARKS)
	@scripts/build generate-manual
	@scripts/install .build/$(CONFIGURATION) "$(PREFIX)" $(STACK) $(TOOLS) $(BENCHMARKS)

# What the figures in docs/performance.md are made with. BENCH holds names and options, as in BENCH="roundtrip --json".
bench: setup
	@scripts/build --release broker navigation-coordinator segue $(BENCHMARKS)
	@.build/release/segue bench $(BENCH)

# How long the default stack takes to start and to stop, and how much memory it holds.
footprint: setup
	@scripts/build --release $(STACK) segue
	@scripts/footprint

# Kills and stops the processes of a bus under load for SECONDS, and looks for what it lost; SEED has a run again, with
# SHAPE=short one of the tests'.
soak: setup
	@scripts/build broker bus-fixture bus-soak
	@$(BIN)/bus-soak --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(if $(SHAPE),--shape $(SHAPE))

# A million requests, most of them broken, against the broker's engine; INPUTS and SEED choose others.
fuzz: setup
	@swift run -c release bus-fuzz $(or $(INPUTS),1000000) $(or $(SEED),1)

lint:
	@swift format lint --strict --recursive Package.swift Sources Tests Examples

format:
	@swift format --in-place --recursive Package.swift Sources Tests Examples

setup:
	@scripts/setup
