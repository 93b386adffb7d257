#include "mpi/shim/handles.h"

namespace cohort::mpi::shim {
namespace {

void* buffer_of(void* buffer) {
  return buffer == COHORT_MPI_IN_PLACE ? MPI_IN_PLACE : buffer;
}

// The arguments of one collective, translated to MPI types.
struct Arguments {
  explicit Arguments(const CohortMpiCollective& c)
      : comm(comm_of(c.comm)),
        type(datatype_of(c.type)),
        op(reduction_of(c.reduction, c.type)),
        in(buffer_of(c.input)),
        out(buffer_of(c.output)) {}

  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Op op;
  void* in;
  void* out;
};

int start_parts(const CohortMpiCollective& c, const Arguments& a, MPI_Request* request) {
  switch (c.operation) {
    case kCohortMpiReduceScatter:
      if (c.input_counts == nullptr) {
        return MPI_Ireduce_scatter_block(a.in, a.out, c.output_count, a.type, a.op, a.comm, request);
      }
      return MPI_Ireduce_scatter(a.in, a.out, c.input_counts, a.type, a.op, a.comm, request);
    case kCohortMpiAllGather:
      if (c.output_counts == nullptr) {
        return MPI_Iallgather(a.in, c.input_count, a.type, a.out, c.input_count, a.type, a.comm, request);
      }
      return MPI_Iallgatherv(a.in, c.input_count, a.type, a.out, c.output_counts, c.output_offsets, a.type,
                             a.comm, request);
    case kCohortMpiGather:
      return MPI_Igatherv(a.in, c.input_count, a.type, a.out, c.output_counts, c.output_offsets, a.type,
                          c.root, a.comm, request);
    case kCohortMpiScatter:
      return MPI_Iscatterv(a.in, c.input_counts, c.input_offsets, a.type, a.out, c.output_count, a.type,
                           c.root, a.comm, request);
    default:
      break;
  }
  if (c.input_counts == nullptr) {
    return MPI_Ialltoall(a.in, c.input_count, a.type, a.out, c.output_count, a.type, a.comm, request);
  }
  return MPI_Ialltoallv(a.in, c.input_counts, c.input_offsets, a.type, a.out, c.output_counts,
                        c.output_offsets, a.type, a.comm, request);
}

int run_parts(const CohortMpiCollective& c, const Arguments& a) {
  switch (c.operation) {
    case kCohortMpiReduceScatter:
      if (c.input_counts == nullptr) {
        return MPI_Reduce_scatter_block(a.in, a.out, c.output_count, a.type, a.op, a.comm);
      }
      return MPI_Reduce_scatter(a.in, a.out, c.input_counts, a.type, a.op, a.comm);
    case kCohortMpiAllGather:
      if (c.output_counts == nullptr) {
        return MPI_Allgather(a.in, c.input_count, a.type, a.out, c.input_count, a.type, a.comm);
      }
      return MPI_Allgatherv(a.in, c.input_count, a.type, a.out, c.output_counts, c.output_offsets, a.type,
                            a.comm);
    case kCohortMpiGather:
      return MPI_Gatherv(a.in, c.input_count, a.type, a.out, c.output_counts, c.output_offsets, a.type,
                         c.root, a.comm);
    case kCohortMpiScatter:
      return MPI_Scatterv(a.in, c.input_counts, c.input_offsets, a.type, a.out, c.output_count, a.type,
                          c.root, a.comm);
    default:
      break;
  }
  if (c.input_counts == nullptr) {
    return MPI_Alltoall(a.in, c.input_count, a.type, a.out, c.output_count, a.type, a.comm);
  }
  return MPI_Alltoallv(a.in, c.input_counts, c.input_offsets, a.type, a.out, c.output_counts,
                       c.output_offsets, a.type, a.comm);
}

}  // namespace

int start_collective(const CohortMpiCollective* collective, CohortMpiHandle* request) {
  const CohortMpiCollective& c = *collective;
  const Arguments a(c);
  MPI_Request started = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (c.operation) {
    case kCohortMpiBarrier:
      code = MPI_Ibarrier(a.comm, &started);
      break;
    case kCohortMpiAllReduce:
      code = MPI_Iallreduce(a.in, a.out, c.input_count, a.type, a.op, a.comm, &started);
      break;
    case kCohortMpiReduce:
      code = MPI_Ireduce(a.in, a.out, c.input_count, a.type, a.op, c.root, a.comm, &started);
      break;
    case kCohortMpiBroadcast:
      code = MPI_Ibcast(a.out, c.output_count, a.type, c.root, a.comm, &started);
      break;
    default:
      code = start_parts(c, a, &started);
  }
  *request = wrapped(started);
  return code;
}

int run_collective(const CohortMpiCollective* collective) {
  const CohortMpiCollective& c = *collective;
  const Arguments a(c);
  switch (c.operation) {
    case kCohortMpiBarrier:
      return MPI_Barrier(a.comm);
    case kCohortMpiAllReduce:
      return MPI_Allreduce(a.in, a.out, c.input_count, a.type, a.op, a.comm);
    case kCohortMpiReduce:
      return MPI_Reduce(a.in, a.out, c.input_count, a.type, a.op, c.root, a.comm);
    case kCohortMpiBroadcast:
      return MPI_Bcast(a.out, c.output_count, a.type, c.root, a.comm);
    default:
      return run_parts(c, a);
  }
}

}  // namespace cohort::mpi::shim
