# `make help` lists the targets. Each sets up first; when nothing has changed, that takes a fraction of a second.

STAGE ?= dev
N ?= 200
CLIENTS ?= 8

PY := .venv/bin/python
CDK := node_modules/.bin/cdk
MADE := .venv .venv-emulator node_modules .setup.lock .local cdk.out out layers/*/build \
	.hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# `value` keeps what the caller typed as it is: make would expand a dollar sign in a file's name.
export THUMBLINE_IMAGES := $(value IMAGE)
export THUMBLINE_STAGE := $(value STAGE)
export PYTHON
# Where a shell forbids bytecode, every process would compile the CDK and the SDK anew.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPATH := $(CURDIR):$(CURDIR)/layers/core/python

.PHONY: help setup demo local local-url test check lint types imports soak modelcheck synth deploy destroy lock clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' Makefile

setup: ## make .venv, .venv-emulator and node_modules from the locks (PYTHON=/path/to/python3)
	@tools/setup/start.sh

demo: setup ## start the stack, send a sample photo, save its thumbnail (IMAGE="a.jpg b.png")
	@set -f; exec $(PY) -m tools.demo $$THUMBLINE_IMAGES

local: setup ## run the whole stack on this machine until Ctrl-C
	@exec $(PY) -m tools.local up

local-url: setup ## print the base URL of the running local stack
	@exec $(PY) -m tools.local url

test: setup ## run all tests, the end-to-end ones on a local stack of their own included
	@$(PY) -m pytest

check: lint types imports test ## everything that CI runs

lint: setup ## style and formatting
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check

types: setup ## static types, strictly
	@$(PY) -m mypy

imports: setup ## the dependency rule
	@.venv/bin/lint-imports

soak: setup ## send many photos at once (N=200 CLIENTS=8; KILL=1 kills workers meanwhile)
	@exec $(PY) -m tools.soak --jobs "$(N)" --clients "$(CLIENTS)" $(if $(filter-out 0,$(KILL)),--kill)

modelcheck: setup ## search the job protocol's states for violations (some minutes)
	@exec $(PY) -m tools.modelcheck

synth: setup ## write the CloudFormation template to cdk.out (STAGE=dev)
	@$(CDK) synth --quiet --context "stage=$$THUMBLINE_STAGE"

deploy: setup ## deploy to the AWS account that your credentials name (STAGE=dev)
	@$(CDK) deploy --context "stage=$$THUMBLINE_STAGE"

destroy: setup ## remove a deployed stage (STAGE=dev)
	@$(CDK) destroy --context "stage=$$THUMBLINE_STAGE"

lock: setup ## renew the locks from the requirements.in files and package.json
	@$(PY) -m tools.setup.lock

clean: ## remove everything that set-up and runs have made
	rm -rf $(MADE)
