// A rank that fails tells the others through its groups; a rank that was told tells those that the first one
// shares no group with, as a replica does.

#include "reduce/reducing.h"

namespace cohort::test {
namespace {

class FailingReducer : public EveryReducer {};

std::string failure_of(Reducer& reducer, const ReduceJob& job) {
  try {
    std::vector<float> to(job.own_slice().count);
    reducer.reduce(job, Numbers(std::span(to)));
  } catch (const Error& error) {
    job.groups.abort(error);
    return error.text();
  }
  return "";
}

TEST_P(FailingReducer, EveryRankIsTold) {
  for (const int world : {2, 3, 4, 6}) {
    run(world, [this](Seat& seat) -> Status {
      const Company groups(*seat, "lane 1", kind().near);
      const auto reducer = kind().make(groups, 2);
      const int failing = groups.size() - 1;
      const std::string cause = fmt::format("rank {} failed: the disk is full", failing);
      COHORT_RETURN_IF_ERROR(seat.rank.barrier());  // all ranks have their groups
      if (groups.rank() == failing) {
        groups.abort(Error(ErrorCode::kAborted, cause));
        return seat.rank.barrier();
      }
      Gradients gradients(seat, 1, 16 * static_cast<std::size_t>(groups.size()));
      const std::string text =
          failure_of(*reducer, {.groups = groups, .gradients = gradients.numbers(), .bucket = 7});
      for (const std::string& wanted : {std::string("bucket 7 was not reduced"), cause}) {
        if (text.find(wanted) == std::string::npos)
          return unexpected(seat, "'{}' is not in: {}", wanted, text);
      }
      return seat.rank.barrier();
    });
  }
}

COHORT_FOR_ALL_REDUCERS(FailingReducer);

}  // namespace
}  // namespace cohort::test
