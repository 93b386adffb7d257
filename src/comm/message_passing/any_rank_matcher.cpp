#include "comm/message_passing/any_rank_matcher.h"

#include <algorithm>

namespace cohort::comm {

MessageName message_name(std::uint32_t tag, std::uint64_t number, int part) {
  return {.channel = Channel::kMessage,
          .number = number,
          .tag = std::uint64_t{tag} * 4 + static_cast<std::uint64_t>(part)};
}

AnyRankMatcher::AnyRankMatcher(std::uint64_t flight, std::uint32_t tag, std::vector<std::uint64_t> next)
    : flight_(flight), tag_(tag), next_(std::move(next)), descriptions_(next_.size()) {}

void AnyRankMatcher::receive_from_all(Line& line) {
  for (int rank = 0; rank < line.size(); ++rank) {
    if (rank != line.rank()) receive_from(rank, line);
  }
}

void AnyRankMatcher::receive_from(int rank, Line& line) {
  const auto at = static_cast<std::size_t>(rank);
  line.recv(rank, message_name(tag_, next_[at], kDescriptionPart), descriptions_[at], {flight_, rank});
}

void AnyRankMatcher::add_announced(int rank) {
  announced_.push_back(rank);
}

std::optional<AnyRankMatcher::Announced> AnyRankMatcher::take(int rank, Line& line) {
  const auto found =
      rank == kAnyRank ? announced_.begin() : std::find(announced_.begin(), announced_.end(), rank);
  if (found == announced_.end()) return std::nullopt;
  const int from = *found;
  announced_.erase(found);
  const auto at = static_cast<std::size_t>(from);
  const Announced announced{.rank = from, .number = next_[at]++, .description = descriptions_[at]};
  receive_from(from, line);
  return announced;
}

}  // namespace cohort::comm
