#include "mpi/shim/handles.h"

#if defined(OPEN_MPI)
// Open MPI 5 has these functions, Open MPI 4 does not, and one shim serves both: linked weakly, missing
// functions are null.
extern "C" {
int MPIX_Comm_revoke(MPI_Comm comm) __attribute__((weak));
int MPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) __attribute__((weak));
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* survivors) __attribute__((weak));
int MPIX_Comm_failure_ack(MPI_Comm comm) __attribute__((weak));
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* lost) __attribute__((weak));
}
#endif

namespace cohort::mpi::shim {

#if defined(OPEN_MPI)
namespace {

// Error classes of the ULFM extension, which mpi.h of Open MPI 4 does not name.
constexpr int kProcFailed = 75;
constexpr int kProcFailedPending = 76;
constexpr int kRevoked = 77;

// Reads the control variable that `mpirun --with-ft ulfm` sets.
int read_control_variable(const char* name) {
  int level = 0;
  if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return 0;
  int index = 0;
  int value = 0;
  int count = 0;
  MPI_T_cvar_handle handle;
  // The variable is a bool of one byte, or an int: read into zeroed memory, both widths give its value.
  if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    if (count != 1 || MPI_T_cvar_read(handle, &value) != MPI_SUCCESS) value = 0;
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

}  // namespace

int can_recover() {
  if (MPIX_Comm_revoke == nullptr || MPIX_Comm_shrink == nullptr) return 0;
  return read_control_variable("mpi_ft_enable") != 0 ? 1 : 0;
}

int revoke(CohortMpiHandle comm) {
  return MPIX_Comm_revoke(comm_of(comm));
}

int begin_agreement(CohortMpiHandle comm, CohortMpiHandle* request) {
  static int flag = 1;  // all ranks give 1 and get 1; MPI writes to it until the agreement is over
  MPI_Request begun = MPI_REQUEST_NULL;
  const int code = MPIX_Comm_iagree(comm_of(comm), &flag, &begun);
  *request = wrapped(begun);
  return code;
}

int shrink(CohortMpiHandle comm, CohortMpiHandle* survivors) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPIX_Comm_shrink(comm_of(comm), &made);
  *survivors = wrapped(made);
  return code;
}

int lost_ranks(CohortMpiHandle comm, int* ranks, int cap, int* num_lost) {
  *num_lost = 0;
  MPI_Group lost = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  int code = MPIX_Comm_failure_ack(comm_of(comm));
  if (code == MPI_SUCCESS) code = MPIX_Comm_failure_get_acked(comm_of(comm), &lost);
  if (code != MPI_SUCCESS) return code;
  int size = 0;
  MPI_Group_size(lost, &size);
  MPI_Comm_group(comm_of(comm), &all);
  for (int i = 0; i < size && *num_lost < cap; ++i) {
    MPI_Group_translate_ranks(lost, 1, &i, all, &ranks[*num_lost]);
    if (ranks[*num_lost] != MPI_UNDEFINED) ++*num_lost;
  }
  MPI_Group_free(&all);
  if (size > 0) MPI_Group_free(&lost);
  return MPI_SUCCESS;
}

CohortMpiErrorKind error_kind(int code) {
  if (code == MPI_SUCCESS) return kCohortMpiFine;
  int kind = code;
  MPI_Error_class(code, &kind);
  if (kind == kProcFailed || kind == kProcFailedPending) return kCohortMpiPeerLost;
  if (kind == kRevoked) return kCohortMpiRevoked;
  return kind == MPI_ERR_TRUNCATE ? kCohortMpiTruncated : kCohortMpiOther;
}

#else

// MPICH has the functions, but its launcher ends the job on the loss of a rank anyway.
int can_recover() {
  return 0;
}
int revoke(CohortMpiHandle) {
  return MPI_ERR_OTHER;
}
int begin_agreement(CohortMpiHandle, CohortMpiHandle*) {
  return MPI_ERR_OTHER;
}
int shrink(CohortMpiHandle, CohortMpiHandle*) {
  return MPI_ERR_OTHER;
}
int lost_ranks(CohortMpiHandle, int*, int, int* num_lost) {
  *num_lost = 0;
  return MPI_ERR_OTHER;
}
CohortMpiErrorKind error_kind(int code) {
  if (code == MPI_SUCCESS) return kCohortMpiFine;
  int kind = code;
  MPI_Error_class(code, &kind);
  return kind == MPI_ERR_TRUNCATE ? kCohortMpiTruncated : kCohortMpiOther;
}

#endif

}  // namespace cohort::mpi::shim
