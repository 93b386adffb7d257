#!/usr/bin/env bash
# Starts a program as the ranks of one MPI.
# Usage: mpirun.sh openmpi|openmpi5|ulfm|mpich RANKS BUILD_DIRECTORY PROGRAM [GTEST FLAGS…]
# Exits with 77 and names the package to install if that MPI is missing.
set -uo pipefail
mpi=$1 ranks=$2 build=$3 program=$4
shift 4
root=$(cd "$(dirname "$0")/../.." && pwd)
venv=$root/.venv-openmpi5

skip() {
  echo "skipped: $1" >&2
  exit 77
}

# Containers and virtual machines often run as root, with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
shim=openmpi
flags=()
libmpi=()
case "$mpi" in
openmpi)
  start=mpirun.openmpi
  command -v $start >/dev/null || skip "there is no $start: install openmpi-bin and libopenmpi-dev"
  ;;
openmpi5 | ulfm)
  start=$venv/bin/mpirun
  [ -x "$start" ] || skip "there is no Open MPI 5 in .venv-openmpi5: run dev/setup test"
  [ "$mpi" = openmpi5 ] || flags=(--with-ft ulfm)
  libmpi=(--libmpi "$venv/lib/libmpi.so.40")
  ;;
mpich)
  start=mpirun.mpich
  shim=mpich
  command -v $start >/dev/null || skip "there is no $start: install mpich and libmpich-dev"
  ;;
*)
  echo "there is no MPI '$mpi'" >&2
  exit 2
  ;;
esac
[ -e "$build/lib/libcohort-mpi-$shim.so" ] || skip "Cohort was built without $shim: install lib$shim-dev and build again"

# Files of an earlier mpirun disturb a later one with the same process id.
session=$(mktemp -d)
trap 'rm -rf "$session"' EXIT
TMPDIR=$session "$start" "${flags[@]}" -np "$ranks" "$program" "$@" --mpi $shim --shims "$build/lib" "${libmpi[@]}"
