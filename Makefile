# make demo    sets up, then compiles and checks real programs
# make check   sets up, then runs lint, types and all tests
# make setup   sets up: system packages that are missing, then .venv (see tools/setup)
#
# Parts of check: lint, types, test, which is lit and pytest. make format rewrites the sources as
# lint wants them.
# make check-gpu  builds the suites for GPUs and runs them on this machine's, by the python3 of the
#                 system, or PYTHON, which has torch with CUDA
# make clean removes what was built; make distclean the environment too.

python := .venv/bin/python
results := build/test

# The last resort against what hangs, in seconds: each test has a limit of its own.
bounded := timeout --foreground --kill-after=60

# The checker runs on the Node of its own wheel, and does not look for a newer release of itself.
export PYRIGHT_PYTHON_GLOBAL_NODE := 0
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
# Without compiled bytecode every command that the tests start would compile hirc's Python again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check check-gpu setup lint format types test lit pytest clean distclean
.DEFAULT_GOAL := check

setup:
	@sh tools/setup

demo: setup
	@$(python) -m hirc.tools.demo

# Every part runs, whatever the others found; the line that counts the tests comes last. The type
# checker has one thread, so lit's tests run beside it.
check: setup
	@status=0; \
	$(MAKE) --no-print-directory --jobs 2 --keep-going --output-sync lint types lit || status=1; \
	$(MAKE) --no-print-directory pytest || status=1; \
	$(python) test/support/count.py $(results)/lit.json $(results)/pytest.xml || status=1; \
	exit $$status

lint: setup
	$(python) -m ruff check .
	$(python) -m ruff format --check .

format: setup
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

types: setup
	$(bounded) 900 $(python) -m pyright

test: setup
	@status=0; \
	for part in lit pytest; do \
		$(MAKE) --no-print-directory $$part || status=1; \
	done; \
	exit $$status

lit: setup
	@mkdir -p $(results) && rm -f $(results)/lit.json
	$(bounded) 1800 .venv/bin/lit --timeout 300 --verbose --succinct --output $(results)/lit.json test

pytest: setup
	@mkdir -p $(results) && rm -f $(results)/pytest.xml
	$(bounded) 2400 $(python) -m pytest -n 2 --dist loadgroup --quiet --junit-xml $(results)/pytest.xml

check-gpu: setup
	@status=0; \
	(cd test && ../$(python) -m on_gpu ../build/gpu $(SUITES)) || status=1; \
	$(or $(PYTHON),python3) build/gpu/run.py $(SUITES) || status=1; \
	exit $$status

clean:
	rm -rf build dist hirc.egg-info
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
