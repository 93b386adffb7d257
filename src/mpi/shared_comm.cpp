#include "mpi/shared_comm.h"

#include <fmt/format.h>
#include <thread>

namespace cohort::mpi {
namespace {

constexpr std::chrono::microseconds kPause(100);

}  // namespace

// The revocation may still be in flight, and must not hit a new communicator with the same context id.
SharedComm::~SharedComm() {
  if (!is_kept_) library_->shim().release(comm_);
}

void SharedComm::revoke() {
  if (!library_->can_recover()) return;
  is_kept_ = true;
  library_->shim().revoke(comm_);
}

// MPIX_Comm_shrink waits for all living ranks and has no form that can be given up. An agreement has one
// (MPIX_Comm_iagree): it completes when all living ranks have begun it, on a revoked communicator, too.
Status SharedComm::wait_for_all(TimePoint deadline) {
  const CohortMpiShim& shim = library_->shim();
  while (!have_all_come_) {
    int is_done = 0;
    const int code = waiting_ == 0 ? shim.begin_agreement(comm_, &waiting_) : shim.test(&waiting_, &is_done);
    // A rank that was lost meanwhile ends the agreement with an error after it has completed.
    const CohortMpiErrorKind kind = shim.error_kind(code);
    if (kind != kCohortMpiFine && kind != kCohortMpiPeerLost) {
      return library_->error(code, "cannot agree on the survivors (MPIX_Comm_iagree)");
    }
    have_all_come_ = is_done != 0 || kind == kCohortMpiPeerLost;
    if (!have_all_come_ && std::chrono::steady_clock::now() >= deadline) {
      return Error(ErrorCode::kTimedOut,
                   fmt::format("rank {} of MPI_COMM_WORLD looks for survivors, but not all living ranks have "
                               "come",
                               library_->rank()))
          .with_remedy(
              "Call survivors() on every member after a failure, or raise ContextOptions::meeting_limit.");
    }
    if (!have_all_come_) std::this_thread::sleep_for(kPause);
  }
  return {};
}

Result<std::shared_ptr<SharedComm>> SharedComm::shrink(TimePoint deadline) {
  const std::lock_guard lock(mutex_);
  COHORT_RETURN_IF_ERROR(wait_for_all(deadline));
  CohortMpiHandle smaller = 0;
  COHORT_RETURN_IF_ERROR(library_->status(library_->shim().shrink(comm_, &smaller),
                                          "cannot shrink the group (MPIX_Comm_shrink)"));
  is_kept_ = true;
  return std::make_shared<SharedComm>(library_, smaller);
}

Result<std::vector<int>> SharedComm::world_ranks() const {
  int size = 0;
  library_->shim().size(comm_, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  COHORT_RETURN_IF_ERROR(
      library_->status(library_->shim().world_ranks(comm_, ranks.data()),
                       "cannot read the ranks of a communicator (MPI_Group_translate_ranks)"));
  return ranks;
}

}  // namespace cohort::mpi
