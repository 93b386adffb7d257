#!/usr/bin/env bash
# Runs a job with a fault under one MPI and checks how it ends.
# Usage: failure_test.sh MPI kill|late BUILD_DIRECTORY
set -uo pipefail
mpi=$1 scenario=$2 build=$3
here=$(cd "$(dirname "$0")" && pwd)
COHORT_TEST_LOG=$(mktemp)
export COHORT_TEST_LOG
output=$("$here/mpirun.sh" "$mpi" 4 "$build" "$build/bin/tests/mpi_failure_test" "$scenario" 2>&1 | tr -d '\0')
code=$?
echo "$output"
log=$(<"$COHORT_TEST_LOG")
rm -f "$COHORT_TEST_LOG"
[ $code -ne 77 ] || exit 77

fail() {
  echo "failed: $1 (exit code $code)" >&2
  exit 1
}
case "$mpi-$scenario" in
ulfm-kill)
  for rank in 0 1 3; do
    grep -q "rank $rank went on" <<<"$output" || fail "rank $rank did not go on"
  done
  ;;
*-kill)
  # mpirun itself ends the job.
  grep -q "rank 2 kills itself" <<<"$log" || fail "the job ended before rank 2 was killed"
  [ $code -ne 0 ] || fail "mpirun reports success"
  ;;
*-late)
  [ $code -eq 1 ] || fail "the exit code is not 1, with which the job was ended"
  grep -q "call 2 of group 'world' (generation 0): rank 2 has not arrived" <<<"$log" || fail "the cause is missing"
  ;;
esac
