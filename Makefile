# One virtual environment in .venv; each target installs what it needs at the locked versions.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt
JAR := deploy/flink/target/pairweave-flink-job-server.jar

# Tests start Python often; without the compiled modules each start would compile them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-all lint bench mutants flink prism oracles lock clean

setup: $(VENV)/.all prism flink ## every extra, the Prism runner and the Flink job server

demo: $(VENV)/.demo ## the main job on a small real corpus
	$(BIN)/pairweave demo

test: $(VENV)/.dev ## the unit suite
	$(BIN)/pytest -n auto --dist worksteal

test-all: $(VENV)/.all prism flink oracles ## the unit suite, then the slow and the cluster suites
	HYPOTHESIS_PROFILE=dev $(BIN)/pytest -n auto --dist worksteal
	HYPOTHESIS_PROFILE=dev PYTHONPATH=$(CURDIR)/.oracles $(BIN)/pytest -m "slow or flink" -n 0

lint: $(VENV)/.dev ## format, style, types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev $(VENV)/.peers ## speed of each step beside its peers
	$(BIN)/pytest -m bench -n 0 -s tests/benchmarks

MUTANTS ?= 300
SEED ?= 1
mutants: $(VENV)/.mutants ## faults put into the pure parts, and whether the tests notice
	nice -n 15 $(BIN)/python -m tests.mutants --mutants $(MUTANTS) --seed $(SEED) $(if $(RETRY),--retry)

flink: $(JAR) ## the Flink job server

prism: .tools/prism ## the Prism runner

oracles: .oracles/.installed ## other aligners' own code, for the slow neural tests

$(JAR): deploy/flink/pom.xml
	mvn --quiet --batch-mode --file deploy/flink/pom.xml package

.tools/prism:
	GOBIN=$(CURDIR)/.tools go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/.demo: $(VENV)/.base
	$(PIP) --editable ".[demo]"
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(PIP) --editable ".[demo,dev]"
	touch $@

$(VENV)/.mutants: $(VENV)/.dev
	$(PIP) --editable ".[demo,dev,mutants]"
	touch $@

$(VENV)/.all: $(VENV)/.dev
	$(PIP) --editable ".[demo,dev,neural,awesome,translate,segment,evaluate,lang,refresh,flink,gcp,aws]"
	touch $@

# Peers live in their own environment: some are under the GPL, some pin old versions.
$(VENV)/.peers: tests/benchmarks/peers.txt | $(BIN)/python
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip --disable-pip-version-check --quiet install --requirement $<
	touch $@

# Beside the environment and not in it, and without what they ask for.
.oracles/.installed: tests/oracles.txt constraints.txt | $(BIN)/python
	rm -rf .oracles
	$(PIP) --no-deps --target .oracles --requirement $<
	touch $@

lock: ## constraints.txt from pyproject.toml, with the newest versions that fit together
	$(PIP) uv
	$(BIN)/uv pip compile --quiet --python-version 3.11 --all-extras --no-annotate --no-header \
	  pyproject.toml --output-file constraints.txt

clean:
	rm -rf $(VENV) .peers .oracles .tools build dist demo-output deploy/flink/target
