#!/usr/bin/env bash
# What becomes of a job in which something goes wrong, with one MPI.
# Usage: failure_test.sh MPI kill|kill_watched|late BUILD_DIRECTORY
set -uo pipefail
mpi=$1 scenario=$2 build=$3
here=$(cd "$(dirname "$0")" && pwd)
output=$("$here/mpirun.sh" "$mpi" 4 "$build" "$build/bin/tests/mpi_failure_test" "$scenario" 2>&1 | tr -d '\0')
code=$?
echo "$output"
[ $code -ne 77 ] || exit 77

fail() {
  echo "failed: $1 (exit code $code)" >&2
  exit 1
}
case "$mpi-$scenario" in
ulfm-kill | ulfm-kill_watched)
  for rank in 0 1 3; do
    grep -q "rank $rank went on" <<<"$output" || fail "rank $rank did not go on"
  done
  ;;
*-kill)
  # mpirun itself ends the job: its exit code says so.
  [ $code -ne 0 ] || fail "mpirun says that all is well"
  ;;
*-late)
  [ $code -eq 1 ] || fail "the exit code is not the one the job was ended with"
  grep -q "call 2 of group 'world' (generation 0): rank 2 has not arrived" <<<"$output" || fail "the cause is missing"
  ;;
esac
