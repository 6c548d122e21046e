# Works on a machine with Python 3.11 or 3.12, pip, make and git. `make demo` and `make test` set up .venv.
PYTHON ?= $(shell for p in python3.11 python3.12 python3; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready

# Files that talk to a server each have a process of their own, see tests/run_isolated.py.
LIVE := tests/conformance tests/loading tests/running

.PHONY: demo test test-slow baselines docs-tables bench lint lock clean

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "jaywalk needs Python 3.11 or 3.12; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $(READY)

demo: $(READY)
	$(BIN)/jaywalk demo

test: $(READY)
	$(BIN)/python -m pytest -m "not slow" -n auto --dist loadfile $(addprefix --ignore ,$(LIVE))
	$(BIN)/python tests/run_isolated.py -m "not slow" $(LIVE)

# The long ones: whole towns, kills and resumes, soaks, real data.
test-slow: $(READY)
	$(BIN)/python -m pytest -m slow -n auto --dist loadfile $(addprefix --ignore ,$(LIVE))
	$(BIN)/python tests/run_isolated.py -m slow $(LIVE)

# Accepted results: re-driven and compared. CARLA's towns are used where they are at hand.
CARLA_TOWNS := $(wildcard ../shared/data/carla_towns)
baselines: $(READY)
	JAYWALK_TOWN_PATH="$(JAYWALK_TOWN_PATH)$(if $(CARLA_TOWNS),:$(abspath $(CARLA_TOWNS)))" $(BIN)/jaywalk baseline verify

# Tables of docs/*.md from baselines/*.json and docs/measurements/*.json.
docs-tables: $(READY)
	$(BIN)/python tools/docs_tables.py

bench: $(READY)
	$(BIN)/jaywalk bench server

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pins every dependency (development tools included) for Python 3.11 and 3.12.
lock: $(READY)
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --extra dev --no-emit-index-url \
	  --no-header --quiet pyproject.toml -o requirements.lock

clean:
	rm -rf .venv build dist demo
