#!/usr/bin/env bash
# Installs a build into an empty folder, then builds and runs examples/package with the installed library.
set -euo pipefail
build=$1 compiler=$2
source=$PWD/examples/package
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/installed" >/dev/null
for file in bin/cohort bin/cohort-libtorch-probe include/cohort/error.h lib/libcohort.so lib/cmake/cohort/cohortConfig.cmake; do
  [ -e "$scratch/installed/$file" ] || [ -e "$scratch/installed/${file/lib\//lib/x86_64-linux-gnu/}" ] || {
    echo "package: $file was not installed" >&2
    exit 1
  }
done
cmake -S "$source" -B "$scratch/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$scratch/installed"
cmake --build "$scratch/build"
"$scratch/build/ten_lines" | tee "$scratch/out"
# The first numbers of RandomStream(42, 0), the same on every machine.
grep -q -- '-0.0788 *-0.4480' "$scratch/out"

# The installed tool runs from its folder, and its probe finds libtorch.
"$scratch/installed/bin/cohort" version
"$scratch/installed/bin/cohort-libtorch-probe"

# libcohort needs no library but libtorch and the C++ runtime.
needed=$(readelf -d "$(find "$scratch/installed" -name libcohort.so)" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for library in $needed; do
  case $library in
    libtorch_cpu.so | libc10.so | libstdc++.so.6 | libm.so.6 | libgcc_s.so.1 | libc.so.6 | ld-linux*) ;;
    *) echo "package: libcohort.so needs $library; only libtorch and the C++ runtime are allowed" >&2 && exit 1 ;;
  esac
done
