#include "state/gather_lists.h"

#include "comm/exchange/carried_error.h"

#include <fmt/format.h>

namespace cohort::state {

Status agree(Communicator& group, const Status& mine, CallLimit limit) {
  const std::vector<std::byte> report = mine ? std::vector<std::byte>() : comm::encode(mine.error());
  COHORT_ASSIGN_OR_RETURN(const auto all, gather_lists(group, report, limit));
  if (!mine) return mine;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const Error cause = comm::decode_error(all[rank]);
    const int failed = group.global_rank(static_cast<int>(rank));
    return Error(ErrorCode::kAborted, fmt::format("rank {} failed: {}", failed, cause.text()))
        .with_rank(failed);
  }
  return {};
}

Result<std::int64_t> largest_of_all(Communicator& group, std::int64_t mine) {
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(&mine, 1), ReduceOp::kMax)));
  return mine;
}

}  // namespace cohort::state
