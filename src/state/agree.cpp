#include "state/agree.h"

#include "comm/exchange/carried_error.h"
#include "state/gather_lists.h"

#include <fmt/format.h>

namespace cohort::state {

Status agree(Communicator& group, const Status& mine) {
  COHORT_ASSIGN_OR_RETURN(const auto all,
                          gather_lists(group, mine ? std::vector<std::byte>() : comm::encode(mine.error())));
  if (!mine) return mine;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const Error cause = comm::decode_error(all[rank]);
    return Error(ErrorCode::kAborted, fmt::format("rank {} failed: {}", rank, cause.text()))
        .with_rank(static_cast<int>(rank));
  }
  return {};
}

Result<std::int64_t> largest_of_all(Communicator& group, std::int64_t mine) {
  COHORT_RETURN_IF_ERROR(group.run(all_reduce(std::span(&mine, 1), ReduceOp::kMax)));
  return mine;
}

}  // namespace cohort::state
