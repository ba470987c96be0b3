# One command a task. Every target makes what it needs: the virtual environment
# in .venv, and in it the package, compiled again only if its sources changed.

PYTHON ?= python3
DATA ?=
ONLY ?=
SAVE ?=
OUT ?= build/results.sqlite
JOBS ?= 2
FIGURES ?= 1 2 3 4
CLASSES ?=
SVM ?= yes
DRAWS ?=
DRAW ?= build/figures
SECONDS ?= 60
WHOLE ?=
BIN := .venv/bin
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
# Ninja cannot use the jobs of make -j: recipes do not inherit their pipe.
unexport MAKEFLAGS

CORE := CMakeLists.txt pyproject.toml $(wildcard cpp/*/*.cpp cpp/*/*.h)
FORMATTED := $(wildcard cpp/*/*.cpp cpp/*/*.h fuzz/*.cpp fuzz/*.h benchmarks/*.cpp)
FUZZED := $(notdir $(wildcard fuzz/corpus/*))

.PHONY: help setup demo test lint format stub docs bench load where pages screenshots reproduce \
  sanitize fuzz tsan valgrind test-builds test-matrix test-oldest wheel dist clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: .venv/installed  ## Make .venv and compile the package into it

.venv/tools: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Python 3.10 or newer is needed; choose one with make PYTHON=..."; exit 1; }
	@echo "Making .venv with the tools to build (once)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install -q --group build
	@touch $@

.venv/installed: .venv/tools $(CORE)
	@echo "Compiling groundmetric into .venv (about a minute)"
	@$(BIN)/python -m pip install -q --no-compile --no-build-isolation -e ".[cli,experiments]"
	@touch $@

# Python compiles to bytecode what it imports; tests, where warnings are errors, find
# all of it compiled already.
.venv/dev: pyproject.toml | .venv/installed
	@echo "Installing what tests and style checks need into .venv"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[dev]"
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib || true
	@touch $@

demo: setup  ## Learn a metric between pixels from handwritten digits; a table and a report
	@mkdir -p build
	@$(BIN)/groundmetric demo --out build/demo.html

# Neighbors in a file share fixtures, so workers start with halves of all tests, and take
# over from each other at the end.
test: setup .venv/dev  ## All tests
	@$(BIN)/python -m pytest -n auto --dist worksteal

lint: setup .venv/dev  ## Style, types, formatting, stub, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)
	@mkdir -p build
	$(BIN)/python -m nanobind.stubgen -q -m groundmetric._core -o build/_core.pyi
	diff build/_core.pyi src/groundmetric/_core.pyi
	$(BIN)/python -m pytest -q tests/test_architecture.py

format: setup .venv/dev  ## Format all sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

stub: setup  ## Write the stub of the compiled module again
	$(BIN)/python -m nanobind.stubgen -q -m groundmetric._core -o src/groundmetric/_core.pyi

.venv/sphinx: pyproject.toml | .venv/installed
	@echo "Installing what builds the documentation into .venv"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[docs]"
	@touch $@

docs: setup .venv/sphinx  ## The documentation, in docs/_build/html; warnings are errors
	@$(BIN)/python -m sphinx -q -W --keep-going -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

.venv/peers: pyproject.toml | .venv/installed
	@echo "Installing the packages to compare with into .venv"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[bench]"
	@touch $@

bench: setup .venv/peers build/libfixing.so  ## One table of ratios to peers; DATA=file.npz for real histograms
	@$(BIN)/python benchmarks/run.py $(if $(DATA),--data $(DATA)) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(SAVE),--save)

load: setup  ## Ten million pairs and 500 fits in one process: nothing grows
	@$(BIN)/python benchmarks/load.py

pages: setup .venv/dev  ## Measure the demo again; write it and committed results into README and docs
	@PYTHONPATH=benchmarks:reproduction $(BIN)/python docs/pages

screenshots: setup .venv/dev  ## Take pictures of a report for the docs; needs Chromium
	@$(BIN)/python docs/pages/screenshots.py

.venv/reproduction: pyproject.toml | .venv/installed
	@echo "Installing what the paper's experiments need into .venv"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[reproduction]"
	@touch $@

# The figures for each file, and tasks of ten classes, with one learner of each kind.
TEN := l1 hellinger lmnn-hellinger itml-hellinger nca-hellinger gml-k3-uniform gml-neighborhood gml gml-smoothed
reproduce: setup .venv/reproduction  ## The paper's experiments; DATA="a.npz b.npz" OUT=results.sqlite JOBS=2; SVM= for none; DRAWS=4 of ten classes; STARTS=all
	@mkdir -p $(dir $(OUT))
	@figures="$(FIGURES:%=--figure %)"; for file in $(or $(DATA),""); do \
	  $(BIN)/python reproduction run $$file --out $(OUT) --jobs $(JOBS) --draw $(DRAW) \
	    $$figures $(if $(CLASSES),--classes $(CLASSES)) $(if $(SVM),--svm) \
	    $$(case "$$figures" in *3*) echo $(if $(STARTS),--all-starts);; esac) || exit 1; \
	  figures="$(addprefix --figure ,$(or $(filter-out 3,$(FIGURES)),$(FIGURES)))"; \
	done
ifneq ($(and $(DATA),$(DRAWS)),)
	@for file in $(DATA); do \
	  $(BIN)/python reproduction run $$file --out $(OUT) --jobs $(JOBS) --draw $(DRAW) \
	    --multiclass 10 --tasks $(DRAWS) $(TEN:%=--method %) || exit 1; \
	done
endif

.venv/where: pyproject.toml | .venv/installed
	@echo "Installing what make where needs into .venv"
	@$(BIN)/python -m pip install -q --no-build-isolation -e ".[where]"
	@touch $@

where: setup .venv/where  ## Every method on every data set of a folder; DATA=folder ONLY=digits DRAWS=2 for a preview
	@$(BIN)/python benchmarks/where.py $(DATA) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(DRAWS),--draws $(DRAWS)) $(if $(SAVE),--export docs/where.parquet)

build/libfixing.so: benchmarks/fixing.cpp
	@mkdir -p build
	@$(CXX) -std=c++20 -O3 -ffp-contract=off -shared -fPIC -o $@ $<

# A second environment that sees the packages of .venv, but not the package
# itself: that one is built with the sanitizers and all asserts.
SANITIZED := build/sanitize
# The sanitizer itself takes memory, and browsers do not start with it.
UNSANITIZED := --ignore tests/test_load.py --ignore tests/test_report_browser.py
SITE = $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
sanitize: setup .venv/dev  ## Tests of the core (WHOLE=yes: all), failing allocations, old fuzz inputs with ASan, UBSan
	@rm -rf $(SANITIZED) && $(BIN)/python -m venv --without-pip $(SANITIZED)
	@site=$$(echo $(SANITIZED)/lib/python3*/site-packages); \
	  echo $(SITE) > $$site/packages.pth; \
	  $(BIN)/python -m pip install -q --no-build-isolation --no-deps --target $$site \
	    -C build-dir=$(SANITIZED)/cmake -C install.strip=false \
	    -C cmake.define.GM_SANITIZE=ON .
	@for target in $(FUZZED); do \
	  $(SANITIZED)/cmake/fuzz/fuzz_$$target fuzz/corpus/$$target/* 2> $(SANITIZED)/fuzz.log || \
	    { tail -n 40 $(SANITIZED)/fuzz.log; exit 1; }; done
	@$(SANITIZED)/cmake/fuzz/allocations && $(SANITIZED)/cmake/fuzz/misuse
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 $(SANITIZED)/bin/python -m pytest -q -n auto --dist worksteal $(if $(WHOLE),$(UNSANITIZED),-m core) tests

# The programs in fuzz/, which need no Python. New inputs stay in build/fuzz/corpus.
define build_fuzz
	@PATH="$$PWD/$(BIN):$$PATH" cmake -S . -B $@ -G Ninja $(1) > build/cmake.log || \
	  { cat build/cmake.log; exit 1; }
	@PATH="$$PWD/$(BIN):$$PATH" cmake --build $@ --target $(2) > build/cmake.log || \
	  { cat build/cmake.log; exit 1; }
endef
.PHONY: build/fuzz build/tsan build/valgrind
build/fuzz: .venv/tools
	@mkdir -p build
	$(call build_fuzz,-DCMAKE_CXX_COMPILER=clang++ -DGM_FUZZ=ON -DGM_SANITIZE=ON,$(FUZZED:%=fuzz_%))
build/tsan: .venv/tools
	@mkdir -p build
	$(call build_fuzz,-DGM_TSAN=ON,threads misuse)
build/valgrind: .venv/tools
	@mkdir -p build
	$(call build_fuzz,-DGM_FUZZ=ON,threads allocations)

fuzz: build/fuzz  ## Fuzz the core with ASan and UBSan, SECONDS=60 for each target; needs Clang
	@for target in $(FUZZED); do \
	  mkdir -p build/fuzz/corpus/$$target; \
	  build/fuzz/fuzz/fuzz_$$target -max_total_time=$(SECONDS) -max_len=600 -timeout=60 \
	    -artifact_prefix=build/fuzz/$$target- -print_final_stats=1 \
	    build/fuzz/corpus/$$target fuzz/corpus/$$target > build/fuzz/$$target.log 2>&1 || \
	    { tail -n 40 build/fuzz/$$target.log; exit 1; }; \
	  echo "$$target: $$(grep -o 'executed_units: .*' build/fuzz/$$target.log)"; done

tsan: build/tsan  ## Everything that runs in threads, with the thread sanitizer
	@build/tsan/fuzz/threads && build/tsan/fuzz/misuse

valgrind: build/valgrind  ## Threads and failing allocations under valgrind's memcheck
	@valgrind -q --error-exitcode=1 --leak-check=full build/valgrind/fuzz/threads
	@valgrind -q --error-exitcode=1 --leak-check=full \
	  --soname-synonyms=somalloc=nouserintercepts build/valgrind/fuzz/allocations

# The core in other builds: with standard C++ alone (cpp/base/portable.h), and by clang.
BUILDS := portable $(if $(shell command -v clang++),clang)
CORE_TESTS ?= tests
test-builds: $(BUILDS:%=test-build-%)  ## The tests of the core in portable C++, and by clang if it is there
test-build-portable: DEFINE := -C cmake.define.GM_PORTABLE=ON
test-build-clang: DEFINE := -C cmake.define.CMAKE_CXX_COMPILER=clang++
test-build-%: setup .venv/dev
	@rm -rf build/$* && $(BIN)/python -m venv --without-pip build/$*
	@site=$$(echo build/$*/lib/python3*/site-packages); \
	  echo $(SITE) > $$site/packages.pth; \
	  $(BIN)/python -m pip install -q --no-build-isolation --no-deps --target $$site \
	    -C build-dir=build/$*/cmake $(DEFINE) .
	@build/$*/bin/python -m pytest -q -n auto -m core $(CORE_TESTS)

# An environment of its own, with the package compiled and tested with exactly the
# oldest versions that pyproject.toml allows. Python 3.11 has wheels of them all.
OLDEST := build/oldest
test-oldest:  ## All tests with the oldest versions of all dependencies; needs Python 3.11
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "Python 3.11 is needed; choose it with make PYTHON=..."; exit 1; }
	@rm -rf $(OLDEST) && $(PYTHON) -m venv $(OLDEST)
	@$(PYTHON) .ci/oldest.py > $(OLDEST)/requirements.txt
	@$(OLDEST)/bin/python -m pip install -q --only-binary :all: -r $(OLDEST)/requirements.txt
	@$(OLDEST)/bin/python -m pip install -q --no-build-isolation --no-deps \
	  -C build-dir=$(OLDEST)/cmake -e .
	@$(OLDEST)/bin/python -m pip check
	@$(OLDEST)/bin/python -m pytest -n auto

PYTHONS ?= 3.10 3.11 3.12 3.13 3.14
test-matrix:  ## Quick tests with each Python that is installed; PYTHONS="3.10 3.13", FULL=yes
	@rm -rf build/matrix && .ci/matrix $(PYTHONS) $(if $(FULL),--full)

# Built where setup has compiled already; make dist builds it in isolation.
wheel: setup  ## Build the wheel, and try it in an empty environment
	@rm -rf build/wheel
	@$(BIN)/python -m pip wheel -q --no-build-isolation --no-deps -w build/wheel .
	@$(PYTHON) -m venv build/wheel/empty
	@build/wheel/empty/bin/python -m pip install -q build/wheel/*.whl
	@cd build/wheel && empty/bin/python ../../.ci/check_wheel.py *.whl

.venv/release: pyproject.toml | .venv/tools
	@$(BIN)/python -m pip install -q --group release
	@touch $@

# The wheel is built from the sdist. Each goes into an environment of its own, where the
# tests that the sdist carries run with the installed package.
TRY := $(if $(FULL),"$$one[dev]",$$one clarabel hypothesis pandas POT pytest tqdm)
dist: .venv/release  ## Build sdist and wheel in dist/, and test each installed; FULL=yes for all tests
	@rm -rf dist build/dist
	@$(BIN)/python -m build --outdir build/dist . > /dev/null
	@mkdir dist && cp build/dist/*.tar.gz dist
	@if [ "$$(uname)" = Linux ]; then \
	  PATH=$(abspath $(BIN)):$$PATH $(BIN)/auditwheel repair -w dist build/dist/*.whl > build/dist/repair.log; \
	else cp build/dist/*.whl dist; fi
	@$(BIN)/python -m twine check --strict dist/*
	@tar -xzf dist/*.tar.gz -C build/dist
	@for one in $(CURDIR)/dist/*; do \
	  echo "Testing $$(basename $$one), $$(wc -c < $$one) bytes"; \
	  rm -rf build/dist/empty && $(PYTHON) -m venv build/dist/empty; \
	  build/dist/empty/bin/python -m pip install -q $(TRY); \
	  build/dist/empty/bin/python .ci/try_dist.py build/dist/groundmetric-*/ $(if $(FULL),--full); \
	done

clean:  ## Remove everything that was made
	rm -rf .venv build dist docs/_build docs/_extra docs/api/generated docs/gallery docs/tutorials
