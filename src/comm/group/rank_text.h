#pragma once

#include <fmt/format.h>
#include <span>
#include <string>
#include <string_view>

namespace cohort::comm {

/// `rank 1`, `ranks 1 and 3`, `ranks 0, 2 and 3` for the noun `rank`; long lists are cut:
/// `ranks 0, 1, 2, 3, 4, 5 and 26 more`.
inline std::string numbers_text(std::string_view noun, std::span<const int> numbers) {
  constexpr std::size_t kShown = 6;
  if (numbers.size() == 1) return fmt::format("{} {}", noun, numbers[0]);
  const bool cut = numbers.size() > kShown + 1;
  const std::size_t listed = cut ? kShown : numbers.size() - 1;
  std::string text = fmt::format("{}s ", noun);
  for (std::size_t i = 0; i < listed; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  if (cut) return text + fmt::format(" and {} more", numbers.size() - kShown);
  return text + fmt::format(" and {}", numbers.back());
}

inline std::string ranks_text(std::span<const int> ranks) {
  return numbers_text("rank", ranks);
}

/// The beginning of a sentence about these ranks: `rank 1 has`, `ranks 1 and 3 have`.
inline std::string ranks_have(std::span<const int> ranks) {
  return ranks_text(ranks) + (ranks.size() == 1 ? " has" : " have");
}

/// The beginning of a sentence about members of a job, which keep their numbers in all generations.
inline std::string members_have(std::span<const int> members) {
  return numbers_text("member", members) + (members.size() == 1 ? " has" : " have");
}

}  // namespace cohort::comm
