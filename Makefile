# Two commands are enough: `make run` and `make test`. Both set everything up first.
PYTHON ?= python3
BIN := .venv/bin
CPP := $(shell find engine/native -name "*.[ch]pp")

.PHONY: setup run demo test soundness lint format bench docs screenshots clean

setup:
	@$(PYTHON) tools/setup.py

run: setup
	@$(BIN)/python -m app

demo: setup
	@$(BIN)/python -m app --demo

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

# All tests with their long checks, of which `make test` takes samples: nothing false is ever said,
# kernels keep to their memory, every documented command runs.
soundness: setup
	PLUMBLINE_LONG=1 $(BIN)/python -m pytest -n auto --dist worksteal
	$(BIN)/python benchmarks/soundness.py
	$(BIN)/python benchmarks/soundness.py --kind conditional --tasks 3000
	$(BIN)/python benchmarks/soundness.py --kind axioms --tasks 1000

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/mypy --explicit-package-bases tools

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# All benchmarks into benchmarks/RESULTS.md. DATA is a folder of published data with the folders
# ipc, asnets, gnn, peer and dval, as far as there are any; without it the examples have to do.
bench: setup
	$(BIN)/python benchmarks/results.py $(if $(DATA),--data "$(DATA)")

# Pictures of every screen into build/screenshots, those of the guide into docs/images.
screenshots: setup
	@$(BIN)/python -m tools.screenshots

docs: setup
	$(BIN)/python tools/command_line_guide.py
	$(BIN)/python tools/experiment_guide.py

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	rm -f engine/native/*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
