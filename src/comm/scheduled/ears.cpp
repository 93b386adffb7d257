#include "comm/scheduled/ears.h"

#include <algorithm>

namespace cohort::comm {

MessageName message_name(std::uint32_t tag, std::uint64_t number, int part) {
  return {.channel = Channel::kMessage,
          .number = number,
          .tag = std::uint64_t{tag} * 4 + static_cast<std::uint64_t>(part)};
}

Ears::Ears(std::uint64_t flight, std::uint32_t tag, std::vector<std::uint64_t> next)
    : flight_(flight), tag_(tag), next_(std::move(next)), descriptions_(next_.size()) {}

void Ears::listen_to_all(Line& line) {
  for (int rank = 0; rank < line.world(); ++rank) {
    if (rank != line.rank()) listen_to(rank, line);
  }
}

void Ears::listen_to(int rank, Line& line) {
  const auto at = static_cast<std::size_t>(rank);
  line.receive(rank, message_name(tag_, next_[at], kDescriptionPart), descriptions_[at], {flight_, rank});
}

void Ears::hear(int rank) {
  heard_.push_back(rank);
}

std::optional<Ears::Heard> Ears::take(int rank, Line& line) {
  const auto found = rank == kAnyRank ? heard_.begin() : std::find(heard_.begin(), heard_.end(), rank);
  if (found == heard_.end()) return std::nullopt;
  const int from = *found;
  heard_.erase(found);
  const auto at = static_cast<std::size_t>(from);
  const Heard heard{.rank = from, .number = next_[at]++, .description = descriptions_[at]};
  listen_to(from, line);
  return heard;
}

}  // namespace cohort::comm
