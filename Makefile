# The commands for everyday work. Commands that build first install missing packages.

.PHONY: run down build build-tests test pages docs mixed screenshots examples install package bench bench-page scale counts footprint without-nats soak fuzz attacks lint format setup

BIN = .build/debug
# The programs that compose/default.yaml starts.
STACK = broker navigation-coordinator error-notifier auth-service music-service spotify-simulator focus-player
# The programs that people start themselves.
TOOLS = segue device
# The page for other apps.
GATEWAY = web-gateway
# The program that `segue bench` runs.
BENCHMARKS = segue-bench
# The programs that are installed, which one file contains.
PROGRAMS = $(TOOLS) $(GATEWAY) $(STACK)

# Builds only the programs of the default stack, and the programs that people start themselves.
run:
	@echo "Building and starting the focus player. The first build takes about 5 minutes on two cores, later ones seconds."
	@scripts/setup
	@scripts/build $(STACK) $(TOOLS)
	@$(BIN)/segue up -d --wait -f compose/default.yaml
	@sed 's|{environment}|export PATH="$$PWD/$(BIN):$$PATH"|' docs/try.txt
	@echo 'Enter the commands in this folder. Sources/FocusPlayer/README.md tells the whole story in a few lines of shell;'
	@echo 'docs/start.md leads to an app of your own.'
	@echo '`make down` stops the processes.'
	@echo "The page in a browser: $$($(BIN)/segue open --address -p segue), or run: $(BIN)/segue open -p segue"

down:
	@$(BIN)/segue down -f compose/default.yaml

build: setup
	@swift build

test: build-tests
	@scripts/test

build-tests:
	@scripts/test-setup
	@swift build --build-tests

# Writes the pages anew that a program writes: commands, the keys of flow and compose files, the guarantees of the bus.
pages: build-tests
	@SEGUE_RENEW_PAGES=1 scripts/test --filter '(Commands|ComposeKeys|FlowKeys|Guarantees)PageTests'

# Writes the reference of the libraries, as pages for a browser, in .build/docs.
docs: setup
	@scripts/docs

# Takes screenshots of the page's main states, in FOLDER (default: .build/screenshots). README shows the file page.png.
screenshots: FOLDER ?= .build/screenshots
screenshots: build-tests
	@mkdir -p "$(FOLDER)"
	@SEGUE_SCREENSHOTS="$(abspath $(FOLDER))" scripts/test --filter IntegrationTests.PageTests/
	@echo "The screenshots are in $(FOLDER)."

# Runs a story on buses whose programs are partly those of COMMIT, on each engine.
mixed: setup
	@scripts/mixed "$(COMMIT)"

# Builds and tests the package in Examples and a package of `segue new app`, as their users would.
examples: setup
	@scripts/examples

# Installs the programs in PREFIX (default: /usr/local), with completions, manual pages, the page for browsers, flows and
# stacks. CONFIGURATION=debug installs debug programs (default: release).
install package: CONFIGURATION ?= release
install: PREFIX ?= /usr/local
install: setup
	@mkdir -p "$(PREFIX)" && test -w "$(PREFIX)" || { echo "cannot write to $(PREFIX); choose another folder: make install PREFIX=FOLDER" >&2; exit 1; }
	@scripts/build-programs $(CONFIGURATION) .build/programs
	@scripts/install .build/programs "$(PREFIX)" $(PROGRAMS)
	@echo "Installed Segue in $(PREFIX). Try: $(PREFIX)/bin/segue demo"

# Makes packages of what `make install` installs: for Debian, and as an archive for any place. They are in
# .build/package. With CONFIGURATION=debug (default: release) the packages have debug programs and are not compressed.
package: setup
	@scripts/package $(CONFIGURATION) .build/package $(PROGRAMS)

# Runs the benchmarks that docs/performance.md describes. BENCH names some of them and may have options, such as
# BENCH="roundtrip --json"; without BENCH, all benchmarks run.
bench: setup
	@scripts/build --release broker navigation-coordinator segue $(BENCHMARKS)
	@.build/release/segue bench $(BENCH)

# Measures the page in a browser; docs/observing.md has the main figures. PARTS names some of the measurements and may
# have options, such as PARTS="memory --minutes 10".
bench-page:
	@scripts/test-setup
	@scripts/build --release $(STACK) segue $(BENCHMARKS)
	@.build/venv/bin/python scripts/measure-page $(PARTS)

# Measures coordinators that share many sessions, as docs/performance.md describes; takes about 10 minutes.
# SCALE="--counts 1000 --seconds 10" shortens it.
scale: setup
	@scripts/build --release broker navigation-coordinator $(BENCHMARKS)
	@scripts/scale $(SCALE)

# Measures how long the default stack takes to start and to stop, and how much memory it uses.
footprint: setup
	@scripts/build --release $(STACK) segue
	@scripts/footprint

# Counts the instructions of the hot paths, and compares them with Tests/InstructionCounts/counts.txt.
counts:
	@scripts/count-instructions

# Kills and stops the processes of a bus and four coordinators under load for SECONDS (default: 60). Looks for messages
# that are lost, doubled or out of order, for sessions whose states differ from a replay or that wait too long, and for
# timers that are lost, doubled, early, or published after they were taken back. SEED repeats the faults of a run. To
# repeat those of the tests, also set SHAPE=short, which makes the rounds as short as there. ENGINE=nats uses a bus on
# three servers of NATS with two stewards (default: zeromq). With SHAPE=damage, disks are damaged instead, one for each
# round: an older copy of a store returns, bits of a journal, a log or a server's files flip, or a disk is full, with up
# to 1,024 batches under way.
soak: setup
	@$(if $(filter nats,$(ENGINE)),scripts/nats-server)
	@scripts/build broker bus-fixture bus-soak navigation-coordinator
	@$(BIN)/bus-soak --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(if $(SHAPE),--shape $(SHAPE)) \
		$(if $(ENGINE),--engine $(ENGINE))

# Builds a service and the broker without the bus on NATS, as an app that leaves out this trait does, and checks what
# they say of an address on NATS.
without-nats: setup
	@for program in broker error-notifier; do \
		swift build --disable-default-traits --scratch-path .build/without-nats --product $$program && \
		! .build/without-nats/debug/$$program --bus nats://localhost 2>.build/without-nats/error && \
		grep "was built without it" .build/without-nats/error || exit 1; \
	done

# Sends INPUTS requests (default: a million), most of them invalid, to the broker's engine. SEED (default: 1) determines
# the requests. Then sends every message of the app with every hostile value in every place to its services, and reads
# flows with such values; the tests use one value of each kind. Then explores FLOWS (default: 200) random flows, the first
# of which SEED determines, and compares what spin finds in them.
fuzz: build-tests
	@swift run -c release bus-fuzz $(or $(INPUTS),1000000) $(or $(SEED),1)
	@SWEEP=long scripts/test --filter 'HostileContractTests|HostileFlowTests'
	@SPIN_FLOWS=$(or $(FLOWS),200) SPIN_SEED=$(or $(SEED),1) scripts/test --filter SpinTests

# Measures how long a client waits for the broker while another one, with a valid key, attacks it, and while two programs
# compute: ATTACK (default: all), RUNS times (default: 5) for SECONDS (default: 5).
attacks: setup
	@scripts/build --release bus-attack
	@.build/release/bus-attack --runs $(or $(RUNS),5) --seconds $(or $(SECONDS),5) $(if $(ATTACK),--attack $(ATTACK))

# Checks the format, and the rules of the project that a search can check: each script says its rule in its first lines.
lint:
	@swift format lint --strict --recursive Package.swift Sources Tests Examples
	@scripts/check-lines
	@scripts/check-imports
	@scripts/check-text
	@scripts/check-numbers

format:
	@swift format --in-place --recursive Package.swift Sources Tests Examples

setup:
	@scripts/setup
