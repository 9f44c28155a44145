# One virtual environment in .venv; each target installs what it needs at the locked versions.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python deploy/dependencies/install.py --editable
LOCKS := pyproject.toml requirements.lock
JAR := deploy/flink/target/pairweave-flink-job-server.jar

# All kernels, and at least those of the demonstration.
KERNELS := $(VENV)/.kernels
SOME_KERNELS := pairweave/compiled_kernels/numba.txt

# Tests start Python often; without the compiled modules each start would compile them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test test-all lint docs docs-links bench bench-check wheels kernels mutants flink prism azurite oracles lock clean

setup: $(VENV)/.all prism flink ## every extra, the Prism runner and the Flink job server

demo: $(VENV)/.demo $(SOME_KERNELS) ## the main job on a small real corpus
	$(BIN)/pairweave demo

test: $(VENV)/.dev $(KERNELS) ## the unit suite
	$(BIN)/pytest -n auto --dist worksteal

test-all: $(VENV)/.all $(KERNELS) prism flink oracles ## the unit suite, then the slow and the cluster suites
	HYPOTHESIS_PROFILE=dev $(BIN)/pytest -n auto --dist worksteal
	HYPOTHESIS_PROFILE=dev PYTHONPATH=$(CURDIR)/.oracles $(BIN)/pytest -m "slow or flink" -n 0

lint: $(VENV)/.dev ## format, style, types, import contracts, licences
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python deploy/dependencies/licences.py > $(VENV)/licences.txt

SPHINX := $(BIN)/sphinx-build -W --keep-going -n -c docs -d build/doctrees

docs: $(VENV)/.dev ## the site of the documentation, in build/docs; a warning is an error
	$(SPHINX) -q . build/docs

docs-links: $(VENV)/.dev ## asks every address of the documentation, over the network
	$(SPHINX) -b linkcheck . build/docs-links

bench: $(VENV)/.dev $(VENV)/.peers ## speed of each step beside its peers
	$(BIN)/pytest -m bench -n 0 -s tests/benchmarks

bench-check: $(VENV)/.dev ## speeds beside other programs, against the committed ratios; fails past a margin
	$(BIN)/python -m tests.benchmarks.check_ratios

wheels: $(VENV)/.dev ## dist/: the package without compiled kernels, and with those for this platform and Python
	$(BIN)/python deploy/wheels/compile_kernels.py --every_cpu
	touch $(KERNELS)
	rm -rf build/lib build/bdist.* dist/*-none-any.whl
	$(BIN)/python -m pip --disable-pip-version-check --quiet wheel --no-deps --no-build-isolation --wheel-dir dist .
	$(BIN)/python deploy/wheels/compile_wheel.py dist/*-none-any.whl dist --kernels $(dir $(SOME_KERNELS))

kernels: $(VENV)/.dev ## compiles the kernels of this checkout, on all cores, for this kind of CPU
	$(BIN)/python deploy/wheels/compile_kernels.py
	touch $(KERNELS)

MUTANTS ?= 300
SEED ?= 1
mutants: $(VENV)/.mutants ## faults put into the code one by one, and whether the tests notice
	nice -n 15 $(BIN)/python -m tests.mutants --mutants $(MUTANTS) --seed $(SEED) \
		$(if $(AREA),--area $(AREA)) $(if $(RETRY),--retry)

flink: $(JAR) ## the Flink job server

prism: .tools/prism ## the Prism runner

azurite: .tools/azurite ## an emulator of Azure's storage, for the tests of az:// (needs npm)

oracles: .oracles/.installed ## other aligners' own code, for the slow neural tests

$(JAR): pipelines/engines/flink/pom.xml
	mvn --quiet --batch-mode --file pipelines/engines/flink/pom.xml -Dtarget=$(CURDIR)/deploy/flink/target package

.tools/prism:
	GOBIN=$(CURDIR)/.tools go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0

.tools/azurite:
	npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix $@.part azurite@3.37.0
	mv $@.part $@

# Once: a kernel that changes afterwards is compiled when it is first called.
$(KERNELS): | $(VENV)/.dev
	$(MAKE) kernels

$(SOME_KERNELS): | $(VENV)/.demo
	$(BIN)/python deploy/wheels/compile_kernels.py --runs fit augment_given

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# Each installs all that it needs at once: a call of pip takes seconds even if nothing is left to do.
$(VENV)/.demo: $(LOCKS) | $(BIN)/python
	$(INSTALL) demo
	touch $@

$(VENV)/.dev: $(LOCKS) | $(BIN)/python
	$(INSTALL) demo dev
	touch $(VENV)/.demo $@

$(VENV)/.mutants: $(VENV)/.dev
	$(INSTALL) demo dev mutants
	touch $@

$(VENV)/.all: $(VENV)/.dev
	$(INSTALL) demo dev neural awesome translate segment evaluate lang hub refresh flink gcp aws azure
	touch $@

# Peers live in their own environment: some are under the GPL, some pin old versions.
$(VENV)/.peers: tests/benchmarks/peers.txt | $(BIN)/python
	$(PYTHON) -m venv .peers
	.peers/bin/python -m pip --disable-pip-version-check --quiet install --requirement $<
	touch $@

# Beside the environment and not in it, and without what they ask for.
.oracles/.installed: tests/oracles.txt constraints.txt | $(BIN)/python
	rm -rf .oracles
	$(BIN)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt \
	  --no-deps --target .oracles --requirement $<
	touch $@

lock: $(VENV)/.dev ## constraints.txt and requirements.lock from pyproject.toml; UPGRADE=1 for newer versions
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/python deploy/dependencies/make_lock.py $(if $(UPGRADE),--upgrade)

clean:
	rm -rf $(VENV) .peers .oracles .tools build dist demo-output deploy/flink/target pairweave/compiled_kernels
