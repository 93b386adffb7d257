#pragma once

#include "mpi/shim/abi.h"

#include <cstring>
#include <mpi.h>

namespace cohort::mpi::shim {

// MPI handles are pointers or integers, depending on the implementation; both fit into 64 bits.
template <class Handle>
CohortMpiHandle wrapped(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(CohortMpiHandle));
  CohortMpiHandle bits = 0;
  std::memcpy(&bits, &handle, sizeof handle);
  return bits;
}

template <class Handle>
Handle unwrapped(CohortMpiHandle bits) {
  Handle handle;
  std::memcpy(&handle, &bits, sizeof handle);
  return handle;
}

inline MPI_Comm comm_of(CohortMpiHandle bits) {
  return unwrapped<MPI_Comm>(bits);
}

int start_collective(const CohortMpiCollective* collective, CohortMpiHandle* request);
int run_collective(const CohortMpiCollective* collective);

MPI_Datatype datatype_of(CohortMpiType type);
/// Min and max of floats are operations of our own, in which a NaN wins; make_reductions() creates them.
MPI_Op reduction_of(CohortMpiReduction reduction, CohortMpiType type);
int make_reductions();

int can_recover();
int revoke(CohortMpiHandle comm);
int begin_agreement(CohortMpiHandle comm, CohortMpiHandle* request);
int shrink(CohortMpiHandle comm, CohortMpiHandle* survivors);
int lost_ranks(CohortMpiHandle comm, int* ranks, int cap, int* num_lost);
CohortMpiErrorKind error_kind(int code);

}  // namespace cohort::mpi::shim
