#include "comm/scheduled/roll_call.h"

#include <fmt/format.h>

namespace cohort::comm {

std::vector<int> RollCall::missing(int own_rank, int world) const {
  std::vector<int> ranks;
  for (int r = 0; r < world; ++r) {
    if (r == own_rank) continue;
    const auto answer = num_started_.find(r);
    if (answer == num_started_.end() || answer->second < number_) ranks.push_back(r);
  }
  return ranks;
}

std::string absence_text(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {} has not arrived", ranks.front());
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += fmt::format("{}", ranks[i]);
  }
  return text + " have not arrived";
}

}  // namespace cohort::comm
