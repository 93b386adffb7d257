#include "mpi/engine.h"

#include <algorithm>

namespace cohort::mpi {

// The groups hear of the end on the progress thread. The revocation ends calls of other ranks at once, which
// could otherwise wait for this rank while it waits for them to shrink the group.
void MpiEngine::end(const Error& why) {
  member_->exchange().end(why, comm::Ending::kTold);
  member_->progress().wake();
  comm_->revoke();
}

Status MpiEngine::close(const Error& why, TimePoint) {
  end(why);
  member_->progress().stop();
  member_->exchange().close();
  return {};
}

Result<std::vector<std::int64_t>> MpiEngine::gather(std::int64_t mine, TimePoint deadline) const {
  const Flight::Group group{member_->library(), comm_->handle(), member_->exchange().member(),
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

}  // namespace cohort::mpi
