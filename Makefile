# The front door: every target sets up what it needs. The build itself is CMake's; see CMakePresets.json.

PREFIX       ?= /usr/local
JOBS         ?= $(shell nproc)
FUZZ_SECONDS ?= 60
BENCH_ARGS   ?=

# AUTO builds the cuda backend where there is a device; ON and OFF decide.
KITH_CUDA    ?= AUTO

configure = cmake --preset release -DKITH_CUDA=$(1) -DKITH_EMULATED=OFF -DKITH_BUILD_TESTS=OFF -DKITH_BUILD_BENCH=$(2) \
              -DKITH_BUILD_PYTHON=OFF >/dev/null
build     = cmake --build --preset release -j $(JOBS) --target

.PHONY: help demo test test-arm bench bench-device bench-python lint format fuzz install wheels clean

help:
	@echo "make demo      build the library and the command line tool, and show a search"
	@echo "make test      everything that must hold: tests, sanitizers, short fuzzing, lint"
	@echo "               STAGES=\"release python asan tsan fuzz lint neon\" selects,"
	@echo "               STAGES=chips runs the emulated tests on five chips"
	@echo "make test-arm  the tests of the CPU backend for 64-bit ARM, under qemu-user"
	@echo "make bench     measure; BENCH_ARGS are handed on"
	@echo "make bench-device"
	@echo "               measure on a CUDA device; SUITE=\"select/must search/must\" selects,"
	@echo "               BENCH_ARGS are handed on"
	@echo "make bench-python"
	@echo "               measure the Python package beside faiss and scikit-learn"
	@echo "make lint      formatting and static analysis"
	@echo "make format    format the sources"
	@echo "make fuzz      fuzz every reader for FUZZ_SECONDS (default 60)"
	@echo "make install   into PREFIX (default /usr/local)"
	@echo "make wheels    Python wheels into dist/; KITH_CUDA=ON adds the kernels,"
	@echo "               PYTHONS=\"python3.10 python3.12\" selects interpreters"
	@echo "make clean     remove build/"

demo:
	@scripts/setup.sh build
	@$(call configure,$(KITH_CUDA),OFF)
	@$(build) kith_cli
	@build/release/cli/kith demo

test:
	@scripts/setup.sh build mpi test python spark arm
	@scripts/test.sh $(STAGES)

test-arm:
	@scripts/setup.sh build test arm
	@scripts/test.sh arm

bench:
	@scripts/setup.sh build bench
	@$(call configure,$(KITH_CUDA),ON)
	@$(build) kith_bench
	@build/release/bench/kith_bench $(BENCH_ARGS)

bench-device:
	@scripts/setup.sh build bench
	@$(call configure,ON,ON)
	@$(build) kith_bench_device
	@bench/device/run.sh $(SUITE) -- $(BENCH_ARGS)

bench-python:
	@scripts/setup.sh build python
	@scripts/venv.sh bench
	@$(call configure,$(KITH_CUDA),OFF) -DKITH_BUILD_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
	@$(build) kith_python kith_python_modules
	@PYTHONPATH=build/release/python build/venv/bin/python bench/python/compare.py $(BENCH_ARGS)

lint:
	@scripts/setup.sh build lint
	@scripts/lint.sh

format:
	@scripts/setup.sh lint
	@scripts/sources.sh | xargs clang-format-14 -i

fuzz:
	@scripts/setup.sh build fuzz
	@scripts/fuzz.sh $(FUZZ_SECONDS)

install:
	@scripts/setup.sh build
	@$(call configure,$(KITH_CUDA),OFF)
	@$(build) all
	@cmake --install build/release --prefix "$(PREFIX)"

wheels:
	@scripts/setup.sh build python wheel
	@scripts/python_wheels.sh $(if $(filter ON,$(KITH_CUDA)),--cuda) $(PYTHONS)

clean:
	@rm -rf build
