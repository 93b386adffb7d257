#!/usr/bin/env bash
# Runs a program that does not mention MPI under srun, on two virtual nodes: with Open MPI, with MPICH, and without MPI.
# Usage: backend_srun_test.sh BUILD_DIRECTORY
set -uo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
export COHORT_BACKEND=mpi
"$here/slurm.sh" "$build/slurm-backend" bash -uo pipefail -c '
  for manager in pmix pmi2; do
    said=$(srun --mpi=$manager -N2 -n2 --kill-on-bad-exit=1 --time=5 "$0/bin/mpi_backend_rank" sum 2>&1)
    code=$?
    echo "$said"
    [ $code -eq 0 ] && grep -q "2 ranks, the sum is right" <<<"$said" || exit 1
  done
  said=$(srun --mpi=none -n2 --kill-on-bad-exit=1 --time=5 "$0/bin/mpi_backend_rank" sum 2>&1) && exit 1
  grep -q "srun --mpi=pmix" <<<"$said"
' "$build"
