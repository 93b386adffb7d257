#!/usr/bin/env bash
# A conformance suite under mpirun. Usage: conformance_test.sh PROGRAM MPI RANKS BUILD_DIRECTORY [GTEST FLAGS…]
# The exit code of mpirun is not enough: mpirun --with-ft ulfm returns 0 for a job that was aborted.
set -uo pipefail
program=$1 mpi=$2 ranks=$3 build=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
output=$("$here/mpirun.sh" "$mpi" "$ranks" "$build" "$build/bin/tests/$program" "$@" 2>&1 | tr -d '\0')
code=$?
echo "$output"
[ $code -eq 0 ] || exit $code
grep -q "PASSED" <<<"$output" || exit 1
! grep -q "FAILED\|MPI_ABORT was invoked" <<<"$output"
