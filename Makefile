# `make help` lists the targets. Each sets up first; when nothing has changed, that takes a fraction of a second.

STAGE ?= dev
N ?= 200
CLIENTS ?= 8
SEEDS ?= 40
JOBS ?= 200
SEED0 ?= 0
COUNT ?= 5000
CASES ?= 2000
OUT ?= out/corpus

AUDITED := requirements.txt layers/runtime/requirements.txt layers/imaging/requirements.txt

PY := .venv/bin/python
CDK := node_modules/.bin/cdk
MADE := .venv .venv-api .venv-emulator node_modules .setup.lock .local cdk.out out layers/*/build \
	.hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# `value` keeps what the caller typed as it is: make would expand a dollar sign in a file's name.
export THUMBLINE_IMAGES := $(value IMAGE)
export THUMBLINE_STAGE := $(value STAGE)
export THUMBLINE_IDENTITY := $(value IDENTITY)
export THUMBLINE_DIR := $(value DIR)
export THUMBLINE_OUT := $(value OUT)
export THUMBLINE_URL := $(value URL)
export THUMBLINE_TOKEN := $(value TOKEN)
export THUMBLINE_ALARM_EMAIL := $(value ALARM_EMAIL)
export PYTHON
# Where a shell forbids bytecode, every process would compile the CDK and the SDK anew.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPATH := $(CURDIR):$(CURDIR)/layers/core/python

.PHONY: help setup demo local local-url test check lint types imports soak chaos-local corpus fuzz-images quality modelcheck chaos mutants synth deploy destroy smoke cost golden openapi crash-matrix fuzz-api audit lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv, .venv-api, .venv-emulator and node_modules from the locks (PYTHON=/path/to/python3)
	@tools/setup/start.sh

demo: setup ## start the stack, send a sample photo, save its thumbnail (IMAGE="a.jpg b.png")
	@set -f; exec $(PY) -m tools.demo $$THUMBLINE_IMAGES

local: setup ## run the whole stack on this machine until Ctrl-C
	@exec $(PY) -m tools.local up

local-url: setup ## print the base URL of the running local stack
	@exec $(PY) -m tools.local url

test: setup ## run all tests, the end-to-end ones on a local stack of their own included
	@$(PY) -m pytest --numprocesses 2 --dist loadscope --no-loadscope-reorder

check: lint types imports test chaos mutants ## everything that CI runs

lint: setup ## style and formatting
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check

types: setup ## static types, strictly
	@$(PY) -m mypy

imports: setup ## the dependency rule
	@.venv/bin/lint-imports

soak: setup ## send many photos at once (N=200 CLIENTS=8; KILL=1 kills workers meanwhile)
	@exec $(PY) -m tools.soak --jobs "$(N)" --clients "$(CLIENTS)" $(if $(filter-out 0,$(KILL)),--kill)

chaos: setup ## simulate the use cases under every fault (SEEDS=40 JOBS=200 SEED0=0)
	@exec $(PY) -m tools.chaos --seeds "$(SEEDS)" --jobs "$(JOBS)" --seed0 "$(SEED0)"

mutants: setup ## put bugs into the protocol, one at a time; a named test must find each
	@exec $(PY) -m tools.mutants

# Its own number of jobs where the caller gave none.
chaos-local: setup ## kill the local stack's processes while pictures flow (JOBS=300 CLIENTS=8 SEED=number)
	@exec $(PY) -m tools.chaos_local --jobs "$(if $(filter file,$(origin JOBS)),300,$(JOBS))" --clients "$(CLIENTS)" $(if $(SEED),--seed "$(SEED)")

modelcheck: setup ## search the job protocol's states for violations (some minutes)
	@exec $(PY) -m tools.modelcheck

corpus: setup ## send every picture of a folder, keep what comes back (DIR=pictures OUT=out/corpus)
	@exec $(PY) -m tools.corpus "$$THUMBLINE_DIR" "$$THUMBLINE_OUT"

fuzz-images: setup ## render damaged pictures (COUNT=5000 SEED=number)
	@exec $(PY) -m tools.fuzz_images --count "$(COUNT)" $(if $(SEED),--seed "$(SEED)")

quality: setup ## measure likeness, time and memory of thumbnails: the tables of docs/images.md
	@exec $(PY) -m tools.quality

synth: setup ## write the CloudFormation template to cdk.out (STAGE=dev IDENTITY=iam|token)
	@$(CDK) synth --quiet --context "stage=$$THUMBLINE_STAGE" --context "identity=$$THUMBLINE_IDENTITY"

deploy: setup ## deploy to the AWS account that your credentials name (STAGE=dev IDENTITY=iam|token ALARM_EMAIL=address)
	@exec $(PY) -m tools.deploy up "$$THUMBLINE_STAGE"

destroy: setup ## remove a deployed stage with all its data (STAGE=dev)
	@exec $(PY) -m tools.deploy down "$$THUMBLINE_STAGE"

smoke: setup ## send a sample photo through a deployed stage (URL=https://… IMAGE="a.jpg b.png"; TOKEN=… in the environment)
	@set -f; exec $(PY) -m tools.smoke "$$THUMBLINE_URL" $$THUMBLINE_IMAGES

cost: setup ## what a million jobs and an idle month cost, from docs/prices.json
	@exec $(PY) -m tools.cost

golden: setup ## write the golden templates of tests/infra anew, for a reviewer to see what changed
	@exec $(PY) -m tests.infra.golden

openapi: setup ## write docs/openapi.json and docs/problems.md anew from the handler
	@exec $(PY) -m tests.described

crash-matrix: setup ## write docs/crash-matrix.md anew, for a reviewer to see what changed
	@exec $(PY) -m tests.simulation.crash_page

fuzz-api: setup ## send requests, right and wrong, made up from docs/openapi.json (CASES=2000 SEED=number)
	@exec $(PY) -m tools.fuzz_api --cases "$(CASES)" $(if $(SEED),--seed "$(SEED)")

audit: setup ## look the locked packages up in the database of known vulnerabilities
	@for lock in $(AUDITED); do .venv-api/bin/pip-audit --strict --disable-pip --require-hashes --requirement "$$lock" || exit 1; done

lock: setup ## renew the locks from the requirements.in files and package.json
	@$(PY) -m tools.setup.lock

clean: ## remove everything that set-up and runs have made
	rm -rf $(MADE)
