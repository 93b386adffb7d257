#include "bench/synthetic_state.h"

#include "base/checksum.h"
#include "layout/slice.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

// Both multipliers are odd and have about as many ones as zeros, so that neighbours differ in half of their
// bits.
std::uint32_t state_value(std::uint32_t index, std::uint32_t seed) {
  std::uint32_t value = (index + seed) * 0x9E3779B1u;
  value ^= value >> 15;
  value *= 0x85EBCA77u;
  return value ^ (value >> 13);
}

std::uint32_t seed_of(const std::string& tensor, std::uint64_t salt) {
  return static_cast<std::uint32_t>(content_hash(std::as_bytes(std::span(tensor)), salt));
}

}  // namespace

std::size_t SyntheticState::elements_of_tensor(int ranks, std::uint64_t total_bytes) {
  const auto shares = static_cast<std::size_t>(ranks);
  const std::size_t elements = total_bytes / (kTensors * sizeof(std::uint32_t));
  return std::max<std::size_t>(1, elements / shares) * shares;
}

SyntheticState::SyntheticState(int rank, int ranks, std::uint64_t total_bytes)
    : elements_(elements_of_tensor(ranks, total_bytes)) {
  const std::size_t share = elements_ / static_cast<std::size_t>(ranks);
  const std::size_t first = share * static_cast<std::size_t>(rank);
  std::size_t at = 0;
  const auto add = [&](std::string tensor, std::size_t from, std::size_t count) {
    parts_.push_back({.tensor = std::move(tensor), .first = from, .count = count, .at = at});
    at += count;
  };
  for (std::size_t i = 0; i < kParameters; ++i) add(fmt::format("layer{:02}.weight", i), 0, elements_);
  parameter_bytes_ = at * sizeof(std::uint32_t);
  for (const char* moment : {"exp_avg", "exp_avg_sq"}) {
    for (std::size_t i = 0; i < kParameters; ++i) {
      add(fmt::format("layer{:02}.weight/{}", i, moment), first, share);
    }
  }
  numbers_.resize(at);
}

void SyntheticState::fill(std::uint64_t salt) {
  for (const Part& part : parts_) {
    const std::uint32_t seed = seed_of(part.tensor, salt);
    const auto first = static_cast<std::uint32_t>(part.first);
    std::uint32_t* const to = numbers_.data() + part.at;
    for (std::size_t i = 0; i < part.count; ++i) {
      to[i] = state_value(first + static_cast<std::uint32_t>(i), seed);
    }
  }
}

void SyntheticState::spoil() {
  std::memset(numbers_.data(), 0xFF, bytes().size());
}

Status SyntheticState::verify(std::uint64_t salt) const {
  for (const Part& part : parts_) {
    const std::uint32_t seed = seed_of(part.tensor, salt);
    const auto first = static_cast<std::uint32_t>(part.first);
    const std::uint32_t* const found = numbers_.data() + part.at;
    std::uint32_t difference = 0;
    for (std::size_t i = 0; i < part.count; ++i) {
      difference |= found[i] ^ state_value(first + static_cast<std::uint32_t>(i), seed);
    }
    if (difference == 0) continue;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("'{}' has other values than those that were written", part.tensor));
  }
  return {};
}

std::vector<Piece> SyntheticState::pieces() {
  std::vector<Piece> pieces;
  for (const Part& part : parts_) {
    Slice mine = whole({elements_});
    mine.first = part.first;
    mine.count = part.count;
    pieces.push_back({.name = part.tensor,
                      .dtype = DType::kF32,
                      .shape = {elements_},
                      .mine = std::move(mine),
                      .bytes = std::as_writable_bytes(std::span(numbers_).subspan(part.at, part.count))});
  }
  return pieces;
}

}  // namespace cohort::tool
