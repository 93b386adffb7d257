#pragma once

#include <fmt/format.h>
#include <span>
#include <string>

namespace cohort::comm {

/// `rank 1`, `ranks 1 and 3`, `ranks 0, 2 and 3`; long lists are cut: `ranks 0, 1, 2, 3, 4, 5 and 26 more`.
inline std::string ranks_text(std::span<const int> ranks) {
  constexpr std::size_t kShown = 6;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks[0]);
  const bool cut = ranks.size() > kShown + 1;
  const std::size_t listed = cut ? kShown : ranks.size() - 1;
  std::string text = "ranks ";
  for (std::size_t i = 0; i < listed; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  if (cut) return text + fmt::format(" and {} more", ranks.size() - kShown);
  return text + fmt::format(" and {}", ranks.back());
}

/// The beginning of a sentence about these ranks: `rank 1 has`, `ranks 1 and 3 have`.
inline std::string ranks_have(std::span<const int> ranks) {
  return ranks_text(ranks) + (ranks.size() == 1 ? " has" : " have");
}

}  // namespace cohort::comm
