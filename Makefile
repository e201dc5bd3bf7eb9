# Each target is one line; what they do is in coldaisle/toolchain, which needs nothing but Python 3.11.
PYTHON ?= python3
STACK ?= sim
SETUP = $(PYTHON) -m coldaisle.toolchain
IN = $(SETUP) env $(STACK)

.PHONY: up down test check bench preview drift rehearse accept clean help
up: ; @$(SETUP) up ## Install what is missing, start the simulated site, run pulumi up on it
down: ; @$(SETUP) down ## Remove every trace of the simulated site; the cache stays
test: ; @$(SETUP) test $(ARGS) ## Run all tests, with the simulated site brought up where it is not
check: ; @$(SETUP) check ## Lint, types, layers, playbooks, spelling: all of it
bench: ; @$(SETUP) bench $(if $(CHECK),--check) $(if $(LIMITS),--limits) $(BENCH) ## Print figures, a `name value` line each; BENCH=name for one, CHECK=1 against their limits, LIMITS=1 to renew these
preview: ; @$(SETUP) preview $(STACK) ## Preview a stack: STACK=sim, STACK=h100-pod
drift: ; @$(IN) coldaisle drift $(STACK) ## Compare a site with its plan; exit code 5 when it drifted
rehearse: ; @$(IN) coldaisle sim install rehearsal r01-n01 ## Install Debian on an emulated machine, from power-on to SSH: tens of minutes
accept: ; @$(SETUP) accept ## Rewrite the expected files of tests/cases; read the diff
clean: ; @rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache ## Remove what checks and tests leave
help: ; @grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10 ## Show this
