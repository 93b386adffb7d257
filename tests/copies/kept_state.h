#pragma once

#include "copies/random_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort::test {

/// The pieces of one rank with their memory. An element is a number that says which one it is, of which
/// tensor, and of which version of the state; copies that are merged by their largest also differ by rank.
class KeptState {
 public:
  KeptState(const RandomState& state, std::size_t world, std::size_t rank, std::uint64_t layout)
      : rank_(rank), pieces_(state.layout(world, layout)[rank]) {
    for (Piece& piece : pieces_) {
      numbers_.push_back(std::make_unique<std::vector<double>>(piece.mine.count, -1));
      piece.bytes = std::as_writable_bytes(std::span(*numbers_.back()));
    }
  }

  std::span<const Piece> pieces() const { return pieces_; }

  /// The state of this version, as this rank has it.
  void become(std::int64_t version) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      std::ranges::copy(expected(i, version, rank_), numbers_[i]->begin());
    }
  }

  /// The first element that is not what the ranks of the kept version had together.
  std::optional<std::string> differs_from(std::int64_t version, std::size_t world_that_kept) const {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::vector<double> wanted = expected(i, version, world_that_kept - 1);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        if ((*numbers_[i])[k] == wanted[k]) continue;
        return fmt::format("'{}' (merge {}): element {} of {} is {} instead of {}", pieces_[i].name,
                           static_cast<int>(pieces_[i].merge), k, wanted.size(), (*numbers_[i])[k],
                           wanted[k]);
      }
    }
    return std::nullopt;
  }

 private:
  // The copy of the last rank is the result of a tensor whose copies are merged by their largest.
  std::vector<double> expected(std::size_t piece, std::int64_t version, std::size_t rank) const {
    const Piece& each = pieces_[piece];
    std::vector<double> numbers;
    for (const std::size_t index : elements_of(each.shape, each.mine)) {
      const double own = each.merge == Merge::kSame ? 0 : 0.01 * static_cast<double>(rank);
      numbers.push_back(static_cast<double>(version) * 1000 + static_cast<double>(index) + 0.5 + own);
    }
    return numbers;
  }

  std::size_t rank_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<std::vector<double>>> numbers_;
};

}  // namespace cohort::test
