# The commands of everyday work. `make run` and `make test` install what is missing first.

.PHONY: run down test examples bench footprint soak fuzz build lint format setup

BIN = .build/debug

run: build
	@$(BIN)/segue up -d --wait -f compose/default.yaml
	@cat docs/try.txt

down:
	@$(BIN)/segue down -f compose/default.yaml

build: setup
	@swift build

# Swift Testing would start all tests at once; on a small machine each of them would then wait for its turn longer than
# its deadlines allow, and two runs beside each other would fail.
test: export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 3
test: setup
	@scripts/python
	@swift build --build-tests
	@swift test --skip-build

# The package in Examples, as its own users would build and test it.
examples: setup
	@scripts/examples

# What the figures in docs/performance.md are made with. BENCH holds names and options, as in BENCH="roundtrip --json".
bench: setup
	@swift build -c release --static-swift-stdlib --product broker
	@swift build -c release --static-swift-stdlib --product segue
	@.build/release/segue bench $(BENCH)

# How long the default stack takes to start and to stop, and how much memory it holds.
footprint: setup
	@for product in broker navigation-coordinator error-notifier auth-service music-service spotify-simulator segue; do \
		swift build -c release --static-swift-stdlib --product $$product || exit 1; \
	done
	@scripts/footprint

# Kills and stops the processes of a bus under load for SECONDS, and looks for what it lost; SEED has a run again, with
# SHAPE=short one of the tests'.
soak: setup
	@swift build --product broker
	@swift build --product bus-fixture
	@swift build --product bus-soak
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
