#include "train/same_on_all.h"

#include "base/checksum.h"
#include "comm/group/rank_text.h"
#include "train/vote.h"
#include <cohort/error.h>

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <span>

namespace cohort::train {
namespace {

std::uint64_t bits_of(const SharedValue& shared) {
  if (const auto* whole = std::get_if<std::int64_t>(&shared.value))
    return std::bit_cast<std::uint64_t>(*whole);
  if (const auto* real = std::get_if<double>(&shared.value)) return std::bit_cast<std::uint64_t>(*real);
  return content_hash(std::as_bytes(std::span(std::get<std::string>(shared.value))));
}

/// The value of another rank, as far as its bits tell.
std::string shown(const SharedValue& ours, std::uint64_t bits) {
  if (std::holds_alternative<std::int64_t>(ours.value)) {
    return fmt::format("{}", std::bit_cast<std::int64_t>(bits));
  }
  if (std::holds_alternative<double>(ours.value)) return fmt::format("{}", std::bit_cast<double>(bits));
  const auto& text = std::get<std::string>(ours.value);
  return bits == bits_of(ours) ? fmt::format("'{}'", text) : "another value";
}

std::vector<std::uint64_t> gathered(Communicator& group, const std::vector<std::uint64_t>& mine) {
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(group.size()));
  const std::span<const std::byte> from = std::as_bytes(std::span(mine));
  const std::span<std::byte> to = std::as_writable_bytes(std::span(all));
  value_or_throw(
      group.run(all_gather({from.data(), from.size(), DType::kU8}, {to.data(), to.size(), DType::kU8})));
  return all;
}

}  // namespace

std::vector<int> deviating_ranks(Communicator& group, std::uint64_t hash) {
  return group.facts().global(deviating_ranks(gathered(group, {hash})));
}

void check_same_on_all(Communicator& group, const std::vector<SharedValue>& values,
                       const std::string& remedy) {
  std::vector<std::uint64_t> mine;
  for (const SharedValue& value : values) mine.push_back(bits_of(value));
  const std::vector<std::uint64_t> all = gathered(group, mine);
  const auto world = static_cast<std::size_t>(group.size());
  for (std::size_t v = 0; v < values.size(); ++v) {
    std::vector<std::uint64_t> by_rank;
    for (std::size_t rank = 0; rank < world; ++rank) by_rank.push_back(all[rank * values.size() + v]);
    const std::vector<int> others = deviating_ranks(by_rank);
    if (others.empty()) continue;
    std::size_t usual = 0;
    while (std::find(others.begin(), others.end(), static_cast<int>(usual)) != others.end()) ++usual;
    throw UsageError(
        UsageError(fmt::format("{} is {} on {} and {} on rank {}", values[v].name,
                               shown(values[v], by_rank[static_cast<std::size_t>(others.front())]),
                               comm::ranks_text(group.facts().global(others)),
                               shown(values[v], by_rank[usual]), group.global_rank(static_cast<int>(usual))))
            .with_remedy(remedy));
  }
}

}  // namespace cohort::train
