# Two commands do everything: `make demo` and `make test`. The rest is sugar; `make help` lists it.

.DEFAULT_GOAL := help
.PHONY: demo test soak help setup build dev quick python docs format format-check tidy asan asan-torch tsan gcc check install clean

demo: ## install what is missing, build a release, train on real digits with two ranks
	@dev/setup build
	@dev/build --without-tests release cohort cohort_tool cohort_trainer cohort_libtorch_probe
	build/release/bin/cohort doctor
	build/release/bin/cohort bench comm -n 2 --sizes 4,64KiB,32MiB --against memcpy --time 200ms
	@if dev/fetch-data digits; then job=digits; else \
	  echo "demo: the real digits are out of reach; generated ones take their place"; job=generated; fi; \
	set -x; build/release/bin/cohort train examples/$$job.toml -n 2

test: ## install what is missing, build, run every test
	@dev/setup build test
	@dev/build release
	@dev/run-tests release

soak: ## run in full what `make test` runs in part: kill, chaos and fuzz runs, whole matrices
	@dev/setup build test
	@dev/build release
	@dev/run-tests release -L soak

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F '|' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## install everything that any target needs
	@dev/setup build test check

build: ## build the release preset
	@dev/setup build test
	@dev/build release

dev: ## build the dev preset, for a debugger
	@dev/setup build test
	@dev/build dev

quick: ## build and run the pure tier only
	@dev/setup build test
	@dev/build release tier_pure
	@dev/run-tests release -L pure

python: ## build the wheel of cohort_c10d: Cohort as a backend of torch.distributed
	@dev/setup build test
	@dev/build release cohort_c10d
	@COHORT_BUILD=$$PWD/build/release .venv/bin/python3 plugins/c10d/build_wheel.py build/release/wheels

docs: ## write again what is generated in docs/
	@dev/setup build
	@dev/build --without-tests release cohort_tool
	@dev/write-docs

format: ## format all C++ files in place
	@dev/setup check
	@dev/format

format-check: ## fail if a C++ file is not formatted
	@dev/setup check
	@dev/format --check

tidy: ## static analysis of the folders that changed, below the torch line
	@dev/setup build test check
	@dev/check-changed tidy

asan: ## tests that see the change, below the torch line, under the address and undefined-behaviour sanitizers
	@dev/setup build test check
	@dev/check-changed asan

asan-torch: ## the tests above the torch line: for whoever changes tensor, data, model or train
	@dev/setup build test check
	@dev/build asan tier_torch
	@dev/run-tests asan -L torch

tsan: ## tests that see the change and whose ranks are threads, under the thread sanitizer
	@dev/setup build test check
	@dev/check-changed tsan

gcc: ## compile the folders that changed, below the torch line, with the other compiler
	@dev/setup build check
	@dev/check-changed gcc

check: ## format, then tidy, both sanitizers and g++ on every folder, whatever changed
	@$(MAKE) --no-print-directory format-check
	@dev/setup build test check
	@for check in tidy asan tsan gcc; do dev/check-changed $$check --all || exit 1; done

install: ## install into PREFIX (default: build/install)
	@dev/setup build
	@dev/build --without-tests release cohort cohort_tool cohort_trainer cohort_libtorch_probe
	cmake --install build/release --prefix "$(or $(PREFIX),build/install)"

clean: ## remove all builds (.venv stays)
	rm -rf build
