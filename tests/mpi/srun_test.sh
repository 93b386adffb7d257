#!/usr/bin/env bash
# The conformance suite under srun, one rank on each of four virtual nodes. Usage: srun_test.sh MPI BUILD_DIRECTORY
set -uo pipefail
mpi=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
program=$build/bin/tests/mpi_conformance_test
venv=$(cd "$here/../.." && pwd)/.venv-openmpi5
manager=pmix
arguments=(--mpi openmpi --shims "$build/lib")
case "$mpi" in
openmpi) ;;
openmpi5)
  [ -x "$venv/bin/mpirun" ] || {
    echo "skipped: there is no Open MPI 5 in .venv-openmpi5: run dev/setup test" >&2
    exit 77
  }
  arguments+=(--libmpi "$venv/lib/libmpi.so.40")
  ;;
mpich)
  manager=pmi2
  arguments=(--mpi mpich --shims "$build/lib")
  ;;
esac
# Speed does not matter: four nodes share the cores of one machine.
exec "$here/slurm.sh" "$build/slurm-$mpi" srun --mpi=$manager -N4 -n4 --kill-on-bad-exit=1 --time=5 \
  "$program" "${arguments[@]}"
