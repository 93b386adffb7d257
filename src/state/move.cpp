#include "state/move.h"

#include "base/check.h"
#include "state/merged.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string_view>

namespace cohort::state {
namespace {

using Holders = std::map<std::string_view, std::vector<std::size_t>>;  // by name: indices of held pieces

std::string_view name_of(Merge merge) {
  constexpr std::string_view kNames[] = {"same", "mean", "sum", "max"};
  return kNames[static_cast<std::size_t>(merge)];
}

std::string what_of(const Piece& piece) {
  return fmt::format("{} of shape [{}], merged by '{}'", name(piece.dtype), fmt::join(piece.shape, ", "),
                     name_of(piece.merge));
}

Status check_target(const Piece& target) {
  const auto about = [&] { return fmt::format("'{}' cannot be moved", target.name); };
  COHORT_RETURN_IF_ERROR(check_slice(target.shape, target.mine).within(about()));
  COHORT_CHECK(target.order.empty(), "{} is not in row-major order", target.name);
  COHORT_CHECK_EQ(target.bytes.size(), target.mine.count * size_bytes(target.dtype), "{}", target.name);
  const bool adds = target.merge == Merge::kMean || target.merge == Merge::kSum;
  if (!adds || is_floating(target.dtype)) return {};
  return Error(ErrorCode::kUsage, fmt::format("it is merged by '{}' and of type {}, expected floating point",
                                              name_of(target.merge), name(target.dtype)))
      .within(about());
}

Status check_same_tensor(const Piece& target, const HeldPiece& held) {
  const Piece& other = held.piece;
  if (target.shape == other.shape && target.dtype == other.dtype && target.merge == other.merge) {
    return check_slice(other.shape, other.mine)
        .within(fmt::format("'{}' of holder {} is malformed", target.name, held.holder));
  }
  return Error(ErrorCode::kUsage, fmt::format("'{}' is {} here and {} where it comes from (holder {})",
                                              target.name, what_of(target), what_of(other), held.holder))
      .with_remedy("Move a state to the same model with the same optimizer.");
}

// Copies of the same elements are compared by their hashes. Slices that overlap without being equal are not.
Status check_copies(const Piece& target, std::span<const std::size_t> indices,
                    std::span<const HeldPiece> held) {
  if (target.merge != Merge::kSame) return {};
  for (std::size_t j = 1; j < indices.size(); ++j) {
    const HeldPiece& b = held[indices[j]];
    for (std::size_t i = 0; b.hash && i < j; ++i) {
      const HeldPiece& a = held[indices[i]];
      if (!a.hash || a.piece.mine != b.piece.mine) continue;
      if (*a.hash == *b.hash) break;
      return Error(ErrorCode::kCorrupt, fmt::format("holders {} and {} have different values of '{}' ({})",
                                                    a.holder, b.holder, target.name, text_of(a.piece.mine)))
          .with_remedy("The copies should be the same; take one of them, as cohort::broadcast_state() does.");
    }
  }
  return {};
}

Error missing(const Piece& target, const Cover& covered) {
  std::size_t count = 0;
  for (const Gap& range : covered.missing) count += range.count;
  return Error(
      ErrorCode::kUsage,
      fmt::format("nobody has {} of the {} elements of '{}' that are wanted ({}), from number {} on", count,
                  target.mine.count, target.name, text_of(target.mine), covered.missing.front().first));
}

class Planner {
 public:
  Planner(std::span<const HeldPiece> held) : held_(held) {
    for (std::size_t i = 0; i < held.size(); ++i) by_name_[held[i].piece.name].push_back(i);
  }

  Status add(std::size_t index, const Piece& target) {
    COHORT_RETURN_IF_ERROR(check_target(target));
    if (target.mine.count == 0) return {};
    const auto found = by_name_.find(target.name);
    if (found == by_name_.end()) {
      return Error(ErrorCode::kUsage, fmt::format("nobody has a piece of the name '{}'", target.name));
    }
    const std::vector<std::size_t> indices = in_order(found->second, target.merge);
    std::vector<Slice> slices;
    for (const std::size_t i : indices) {
      COHORT_RETURN_IF_ERROR(check_same_tensor(target, held_[i]));
      slices.push_back(held_[i].piece.mine);
    }
    COHORT_RETURN_IF_ERROR(check_copies(target, indices, held_));
    const Cover covered = cover(slices, target.mine);
    if (!covered.missing.empty()) return missing(target, covered);
    add_parts(index, indices, target.merge == Merge::kSame ? covered.parts : all_parts(slices, target));
    return {};
  }

  std::vector<PlannedRead> take() { return std::move(reads_); }

 private:
  // The nearest holder differs from rank to rank, and so would the order of a sum. Copies that are merged are
  // read in the order of their holders' numbers, the same on all ranks.
  std::vector<std::size_t> in_order(std::vector<std::size_t> indices, Merge merge) const {
    if (merge == Merge::kSame) return indices;
    std::stable_sort(indices.begin(), indices.end(),
                     [this](std::size_t a, std::size_t b) { return held_[a].holder < held_[b].holder; });
    return indices;
  }

  static std::vector<SourceRun> all_parts(std::span<const Slice> slices, const Piece& target) {
    std::vector<SourceRun> parts;
    for (std::size_t s = 0; s < slices.size(); ++s) {
      for (const Run& run : runs(slices[s], target.mine)) parts.push_back({s, run});
    }
    return parts;
  }

  void add_parts(std::size_t target, std::span<const std::size_t> indices,
                 const std::vector<SourceRun>& parts) {
    for (const SourceRun& part : parts) {
      reads_.push_back({.read = {indices[part.source], part.run.from, part.run.count},
                        .target = target,
                        .to = part.run.to});
    }
  }

  const std::span<const HeldPiece> held_;
  Holders by_name_;
  std::vector<PlannedRead> reads_;
};

}  // namespace

Result<std::vector<PlannedRead>> plan_move(std::span<const Piece> to, std::span<const HeldPiece> held) {
  Planner planner(held);
  for (std::size_t t = 0; t < to.size(); ++t) COHORT_RETURN_IF_ERROR(planner.add(t, to[t]));
  return planner.take();
}

Status move(std::span<const Piece> to, PieceSource& from) {
  const auto planned = plan_move(to, from.held());
  COHORT_RETURN_IF_ERROR(from.agree(planned ? Status() : Status(planned.error())));
  std::map<std::size_t, Merged> merged;
  std::vector<Read> reads;
  for (const PlannedRead& each : *planned) {
    const Piece& target = to[each.target];
    Read& read = reads.emplace_back(each.read);
    if (target.merge != Merge::kSame) {
      merged.try_emplace(each.target, target);
    } else {
      const std::size_t element_bytes = size_bytes(target.dtype);
      read.into = target.bytes.subspan(each.to * element_bytes, read.count * element_bytes);
    }
  }
  COHORT_RETURN_IF_ERROR(
      from.read(reads, [&](std::size_t read, std::size_t first, std::span<const std::byte> bytes) {
        const PlannedRead& each = (*planned)[read];
        const Piece& target = to[each.target];
        if (target.merge != Merge::kSame) return merged.at(each.target).add(each.to + first, bytes);
        std::byte* const place = target.bytes.data() + (each.to + first) * size_bytes(target.dtype);
        if (place != bytes.data()) std::memmove(place, bytes.data(), bytes.size());
      }));
  for (auto& [target, result] : merged) result.finish();
  return {};
}

}  // namespace cohort::state
