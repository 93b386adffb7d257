#include "comm/rank_text.h"

#include <fmt/format.h>

namespace cohort::comm {
namespace {

constexpr std::size_t kShown = 6;

}  // namespace

std::string ranks_text(std::span<const int> ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const bool cut = ranks.size() > kShown + 1;
  const std::size_t listed = cut ? kShown : ranks.size() - 1;
  std::string text = "ranks ";
  for (std::size_t i = 0; i < listed; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (cut) return text + fmt::format(" and {} more", ranks.size() - kShown);
  return text + fmt::format(" and {}", ranks.back());
}

std::string ranks_have(std::span<const int> ranks) {
  return ranks_text(ranks) + (ranks.size() == 1 ? " has" : " have");
}

}  // namespace cohort::comm
