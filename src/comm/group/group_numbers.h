#pragma once

#include "base/result.h"

#include <atomic>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <string>

namespace cohort::comm {

/// The numbers of new groups. Every member of a job proposes other numbers; the first rank of a new group gives
/// the group the number that it has proposed.
///
/// Threads: every method from any thread.
class GroupNumbers {
 public:
  /// `first`: numbers below it belong to groups that are not made by splitting.
  GroupNumbers(std::int64_t first, int member, int num_members)
      : first_(first), member_(member), num_members_(num_members) {}

  std::int64_t propose() { return first_ + num_proposed_.fetch_add(1) * num_members_ + member_; }

  /// The number as it stands in messages.
  ///
  /// Failure: kExhausted, naming the group that is split.
  static Result<std::uint32_t> checked(std::int64_t number, const std::string& group_name) {
    if (number <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(number);
    return Error(ErrorCode::kExhausted, fmt::format("group '{}' was split too often", group_name))
        .with_remedy("Keep groups and use them again.");
  }

 private:
  const std::int64_t first_;
  const int member_;
  const int num_members_;
  std::atomic<std::int64_t> num_proposed_{0};
};

}  // namespace cohort::comm
