# Works on a machine with Python 3.11 or 3.12, pip, make and git. `make demo` and `make test` set up .venv.
PYTHON ?= $(shell for p in python3.11 python3.12 python3; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
READY := .venv/.ready

# Files that talk to a server each have a process of their own, see tests/run_isolated.py.
LIVE := tests/conformance tests/loading tests/running tests/faults

# Tests that need torch (extra train); make test skips them where it is not installed.
TRAIN := tests/unit/forecasting tests/unit/cli/test_cli_predict.py

# The second supported version, for test-py312.
PYTHON312 ?= $(shell for p in python3.12 $$HOME/.pyenv/versions/3.12.*/bin/python3.12; do \
  $$p -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null && echo $$p && break; done)
BIN312 := .venv312/bin
READY312 := .venv312/.ready

.PHONY: demo test test-train test-slow test-py312 test-wheel test-trackers baselines docs docs-tables docs-check bench lint coverage lock clean

$(READY): requirements.lock pyproject.toml packages/jaywalk_agent/pyproject.toml
	@test -n "$(PYTHON)" || { echo "jaywalk needs Python 3.11 or 3.12; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -e packages/jaywalk_agent -e .
	@touch $(READY)

demo: $(READY)
	$(BIN)/jaywalk demo

test: $(READY)
	$(BIN)/python tests/run_isolated.py -m "not slow" $(LIVE) --together tests/unit

test-train: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pytest -n 2 $(TRAIN)

# The long ones: whole towns, kills and resumes, soaks, real data.
test-slow: $(READY)
	$(BIN)/python tests/run_isolated.py -m slow $(LIVE) --together tests/unit

$(READY312): requirements.lock pyproject.toml packages/jaywalk_agent/pyproject.toml
	$(PYTHON312) -m venv .venv312
	$(BIN312)/pip install --quiet --disable-pip-version-check --no-compile -r requirements.lock
	$(BIN312)/pip install --quiet --disable-pip-version-check --no-deps -e packages/jaywalk_agent -e .
	@touch $(READY312)

# The fast unit tests and whole episodes on Python 3.12.
ifeq ($(PYTHON312),)
test-py312:
	@echo "****************************************************************************"
	@echo "SKIPPED: test-py312: no python3.12 here; set PYTHON312=/path/to/python3.12"
	@echo "****************************************************************************"
else
test-py312: $(READY312)
	$(BIN312)/python tests/run_isolated.py -m "not slow and not data" \
	  tests/running/test_episodes.py tests/conformance/test_session.py --together tests/unit
endif

# The built wheel alone, in an empty environment.
test-wheel:
	@test -n "$(PYTHON)" || { echo "jaywalk needs Python 3.11 or 3.12; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) tests/wheel_check.py

# Export to W&B and MLflow with their own libraries, in an environment of their own; nothing is sent.
test-trackers:
	@test -n "$(PYTHON)" || { echo "jaywalk needs Python 3.11 or 3.12; set PYTHON=/path/to/python3.11"; exit 3; }
	$(PYTHON) -m venv .venv-trackers
	.venv-trackers/bin/pip install --quiet --disable-pip-version-check --no-compile -c requirements.lock \
	  ./packages/jaywalk_agent '.[wandb,mlflow]' pytest
	@WANDB_MODE=offline .venv-trackers/bin/python -m pytest --noconftest -p no:cacheprovider -rs \
	  tests/unit/report/test_trackers.py > .venv-trackers/result; status=$$?; cat .venv-trackers/result; exit $$status
	@! grep -q SKIPPED .venv-trackers/result || { echo "a tracker was not tested"; exit 1; }

# Accepted results: re-driven and compared. CARLA's towns are used where they are at hand.
CARLA_TOWNS := $(wildcard ../shared/data/carla_towns)
baselines: $(READY)
	JAYWALK_TOWN_PATH="$(JAYWALK_TOWN_PATH)$(if $(CARLA_TOWNS),:$(abspath $(CARLA_TOWNS)))" $(BIN)/jaywalk baseline verify

# The docs site in site/; a warning is an error.
.venv/.docs-ready: $(READY) pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[docs]'
	@touch .venv/.docs-ready

docs: .venv/.docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean --quiet
	$(BIN)/python tools/docs_site.py site

# Tables of docs/ from baselines/*.json and docs/measurements/*.json.
docs-tables: $(READY)
	$(BIN)/python tools/docs_tables.py

bench: $(READY)
	$(BIN)/jaywalk bench server

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=benchmarks:tools $(BIN)/lint-imports
	$(BIN)/deptry src

# Lines that the unit tests run; fails below the floor in pyproject.toml.
coverage: $(READY)
	$(BIN)/python -m pytest tests/unit -m "not slow" -n auto --cov --cov-report=term

# What the docs say about commands, files and measured tables.
docs-check: $(READY)
	$(BIN)/python -m pytest tests/unit/test_docs.py tests/unit/test_docs_tables.py

# Pins every dependency (development tools included) for Python 3.11 and 3.12.
lock: $(READY)
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --extra dev --no-emit-index-url \
	  --no-header --quiet --no-emit-package jaywalk-agent pyproject.toml -o requirements.lock

clean:
	rm -rf .venv .venv312 .venv-trackers build dist site demo
