#!/usr/bin/env bash
# Uses an installed Cohort as a project of its own would, with g++: installed_test.sh FOLDER, where FOLDER/installed is the prefix.
set -euo pipefail
scratch=$1 prefix=$1/installed
cd "$scratch"
unset LD_LIBRARY_PATH COHORT_LIBTORCH CMAKE_PREFIX_PATH VIRTUAL_ENV
export PATH=$prefix/bin:/usr/local/bin:/usr/bin:/bin CXX=g++ CMAKE_GENERATOR=Ninja

fail() { echo "package: $*" >&2; exit 1; }

for file in bin/cohort-libtorch-probe include/cohort/error.h lib/libcohort.so lib/cmake/cohort/cohortConfig.cmake \
  lib/cohort/libtorch/include/ATen/ATen.h share/cohort/examples/ranks/main.cpp share/doc/cohort/README.md \
  share/doc/cohort/docs/training.md share/doc/cohort/examples/digits.toml; do
  [ -e "$prefix/$file" ] || [ -e "$prefix/${file/lib\//lib/x86_64-linux-gnu/}" ] || fail "$file was not installed"
done

# Two projects are built at the same time: an example, and a new project. The tool is on PATH, so that CMake finds Cohort by itself.
(
  cmake -S "$prefix/share/cohort/examples/package" -B package -D CMAKE_PREFIX_PATH="$prefix"
  cmake --build package
) &
package=$!
cohort new my_project
cmake -S my_project -B my_project/build
cmake --build my_project/build
cohort run -n 2 my_project/build/my_project
wait $package

package/ten_lines | tee out
# The first numbers of RandomStream(42, 0), the same on every machine.
grep -q -- '-0.0788 *-0.4480' out
cohort train "$prefix/share/cohort/examples/generated.toml" -n 2 --threads 1 --set train.epochs=1

# The other examples find the installed Cohort, too: a program of no more than 60 lines with groups, a call in the background, DataParallel
# and an optimizer of torch, while the guide is followed from an empty folder.
python3 follow_guide.py "$prefix/share/doc/cohort/docs/from-your-loop-to-four-ranks.md" "$prefix" >guide.log 2>&1 &
guide=$!
groups=$prefix/share/cohort/examples/groups/main.cpp
[ "$(wc -l <"$groups")" -le 60 ] || fail "$groups has more than 60 lines"
for word in 'context.split(' 'context.along(' async_all_reduce cohort::DataParallel torch::optim::SGD; do
  grep -qF "$word" "$groups" || fail "$groups does not use $word"
done
cmake -S "$prefix/share/cohort/examples" -B examples >log || { cat log >&2; fail "the examples cannot be configured"; }
cmake --build examples --target example_groups
cohort run -n 4 --no-prefix examples/bin/examples/example_groups | tee out
grep -q '^4 ranks: the slope is ' out
wait $guide || { cat guide.log >&2; fail "the guide cannot be followed"; }
tail -n 1 guide.log

# The doctor tells which libtorch is loaded: that of the installation.
cohort doctor --json >doctor.json || true
grep -q "\"folder\": \"$(realpath "$prefix")/lib.*/cohort/libtorch/lib\"" doctor.json || {
  cat doctor.json >&2
  fail "the doctor does not tell the libtorch of the installation"
}

# libcohort needs no library but libtorch and the C++ runtime.
needed=$(readelf -d "$(find "$prefix" -name libcohort.so)" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for library in $needed; do
  case $library in
    libtorch_cpu.so | libc10.so | libstdc++.so.6 | libm.so.6 | libgcc_s.so.1 | libc.so.6 | ld-linux*) ;;
    *) fail "libcohort.so needs $library; only libtorch and the C++ runtime are allowed" ;;
  esac
done
