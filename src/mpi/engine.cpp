#include "mpi/engine.h"

#include <algorithm>

namespace cohort::mpi {

// The groups hear of the end on the progress thread. The revocation ends calls of other ranks at once, which
// could otherwise wait for this rank while it waits for them to shrink the group.
void MpiEngine::end(const Error& why) {
  member_->exchange().end(why, comm::Ending::kTold);
  member_->progress().wake();
  if (member_->library().can_recover()) member_->library().shim().revoke(comm_);
}

Status MpiEngine::close(const Error& why, TimePoint) {
  end(why);
  member_->progress().stop();
  member_->exchange().close();
  return {};
}

Result<std::vector<std::int64_t>> MpiEngine::gather(std::int64_t mine, TimePoint deadline) const {
  const Flight::Group group{member_->library(), comm_, member_->exchange().member(),
                            member_->exchange().num_members()};
  return mpi::gather(member_->library(), group, mine, deadline);
}

std::vector<comm::Loss> MpiEngine::losses() const {
  std::vector<comm::Loss> losses;
  const std::vector<int>& ranks = member_->world_ranks();
  for (const int lost : member_->library().lost_ranks()) {
    const auto found = std::find(ranks.begin(), ranks.end(), lost);
    if (found == ranks.end()) continue;
    losses.push_back({static_cast<int>(found - ranks.begin()), comm::Loss::Kind::kGone});
  }
  return losses;
}

Result<CohortMpiHandle> MpiEngine::shrink() const {
  const Library& library = member_->library();
  CohortMpiHandle comm = 0;
  COHORT_RETURN_IF_ERROR(
      library.status(library.shim().shrink(comm_, &comm), "cannot shrink the group (MPIX_Comm_shrink)"));
  return comm;
}

Result<std::vector<int>> MpiEngine::world_ranks(CohortMpiHandle comm) const {
  const Library& library = member_->library();
  int size = 0;
  library.shim().size(comm, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  COHORT_RETURN_IF_ERROR(
      library.status(library.shim().world_ranks(comm, ranks.data()),
                     "cannot read the ranks of a communicator (MPI_Group_translate_ranks)"));
  return ranks;
}

}  // namespace cohort::mpi
