#include "checkpoint/share_out.h"

#include "checkpoint/rank_state.h"
#include "soak.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace cohort::checkpoint {
namespace {

using test::Dice;
using test::elements_of;
using test::RankState;
using test::rounds;

using Held = std::vector<std::vector<Piece>>;

std::size_t bytes_of_share(const Held& held, std::size_t rank, const std::vector<Portion>& portions) {
  std::size_t sum = 0;
  for (const Portion& portion : portions)
    sum += portion.mine.count * size_bytes(held[rank][portion.piece].dtype);
  return sum;
}

// The elements that are written of each tensor, in the order of writing.
std::map<std::string, std::vector<std::size_t>> written(const Held& held,
                                                        const std::vector<std::vector<Portion>>& shares) {
  std::map<std::string, std::vector<std::size_t>> all;
  for (std::size_t r = 0; r < shares.size(); ++r) {
    for (const Portion& portion : shares[r]) {
      const Piece& piece = held[r].at(portion.piece);
      const auto holds = elements_of(piece.shape, piece.mine),
                 writes = elements_of(piece.shape, portion.mine);
      auto& elements = all[piece.name];
      elements.insert(elements.end(), writes.begin(), writes.end());
      // The portion lies in the memory of the piece from `first` on.
      EXPECT_LE(portion.first + writes.size(), holds.size());
      EXPECT_TRUE(std::equal(writes.begin(), writes.end(),
                             holds.begin() + static_cast<std::ptrdiff_t>(portion.first)));
    }
  }
  return all;
}

TEST(SharingOut, WritesEveryElementOnceByARankThatHoldsIt) {
  for (std::size_t world = 1; world <= 8; ++world) {
    for (std::uint64_t seed = 0; seed < rounds(60U, 2000U); ++seed) {
      const auto tensors = test::random_tensors(seed);
      auto ranks = test::random_layout(tensors, seed * 8 + world, world);
      Held held;
      for (RankState& rank : ranks) held.push_back(rank.pieces());
      const auto shares = share_out(held);
      ASSERT_TRUE(shares) << shares.error().text();
      auto found = written(held, *shares);
      for (const auto& tensor : tensors) {
        auto& elements = found[tensor.name];
        std::sort(elements.begin(), elements.end());
        std::vector<std::size_t> all(num_elements(tensor.shape));
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        ASSERT_EQ(elements, all) << tensor.name << " on " << world << ", seed " << seed;
      }
    }
  }
}

TEST(SharingOut, LeavesWholeATensorThatARankHoldsAsAWhole) {
  for (std::uint64_t seed = 0; seed < rounds(100U, 5000U); ++seed) {
    const auto tensors = test::random_tensors(seed);
    auto ranks = test::random_layout(tensors, seed, 5);
    Held held;
    for (RankState& rank : ranks) held.push_back(rank.pieces());
    const auto shares = share_out(held);
    ASSERT_TRUE(shares) << shares.error().text();
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const Slice all = whole(tensors[t].shape);
      std::size_t num_whole = 0, num_portions = 0;
      for (std::size_t r = 0; r < 5; ++r) {
        num_whole += held[r][t].mine == all ? 1 : 0;
        for (const Portion& portion : (*shares)[r]) {
          if (portion.piece != t) continue;
          ++num_portions;
          if (num_whole > 0) {
            EXPECT_EQ(portion.mine, all);
          }
        }
      }
      if (num_whole > 0) {
        EXPECT_EQ(num_portions, 1u) << tensors[t].name << ", seed " << seed;
      }
    }
  }
}

// Every tensor goes to the rank with least to write, the largest first: no rank has more than the mean and
// one tensor.
TEST(SharingOut, BalancesTensorsThatAllRanksHold) {
  for (std::uint64_t seed = 0; seed < rounds(60U, 2000U); ++seed) {
    for (std::size_t world = 1; world <= 8; ++world) {
      RankState state;
      std::size_t total = 0, largest = 0;
      for (const auto& tensor : test::random_tensors(seed, 20)) {
        state.add(tensor, whole(tensor.shape));
        const std::size_t bytes = state.size_bytes_of(state.num_pieces() - 1);
        total += bytes, largest = std::max(largest, bytes);
      }
      const Held held(world, state.pieces());
      const auto shares = value_or_throw(share_out(held));
      for (std::size_t r = 0; r < world; ++r) {
        EXPECT_LE(bytes_of_share(held, r, shares[r]), total / world + largest) << "seed " << seed;
      }
    }
  }
}

// As with a sharded optimizer: rank 0 must write moments that no other rank holds, so the others write the
// weights.
TEST(SharingOut, BalancesWhatIsLeftToChoose) {
  const std::size_t kLength = 1000;
  Held held(3);
  for (std::size_t r = 0; r < 3; ++r) {
    for (int t = 0; t < 4; ++t)
      held[r].push_back({.name = fmt::format("w{}", t), .shape = {kLength}, .mine = whole({kLength})});
  }
  held[0].push_back({.name = "w/exp_avg", .shape = {2 * kLength}, .mine = whole({2 * kLength})});
  const auto shares = value_or_throw(share_out(held));
  for (std::size_t r = 0; r < 3; ++r)
    EXPECT_EQ(bytes_of_share(held, r, shares[r]), 2 * kLength * sizeof(float));
}

// A slice of the parameters on each rank, as with sharded optimizers: one portion for each piece.
TEST(SharingOut, JoinsPortionsThatLieSideBySide) {
  Held held(2);
  held[0].push_back({.name = "w", .shape = {4, 6}, .mine = {.boxes = {{{0, 0}, {4, 3}}}, .count = 12}});
  held[1].push_back({.name = "w", .shape = {4, 6}, .mine = {.boxes = {{{0, 3}, {4, 3}}}, .count = 12}});
  const auto shares = value_or_throw(share_out(held));
  for (std::size_t r = 0; r < 2; ++r) {
    ASSERT_EQ(shares[r].size(), 1u);
    EXPECT_EQ(shares[r][0].mine, held[r][0].mine);
  }
}

std::string refusal(const Held& held) {
  const auto shares = share_out(held);
  if (shares) return "";
  EXPECT_EQ(shares.error().code(), ErrorCode::kUsage);
  return shares.error().text();
}

TEST(SharingOut, NamesWhatIsMissingOrDoesNotMatch) {
  const Piece whole_one{.name = "w", .shape = {5}, .mine = whole({5})};
  Piece part = whole_one, typed = whole_one, shaped = whole_one, merged = whole_one;
  part.mine = flat_range({5}, 0, 3);
  typed.dtype = DType::kF16;
  shaped.shape = {1, 5}, shaped.mine = whole({1, 5});
  merged.merge = Merge::kMean;
  const std::string kWhere = "the state cannot be shared out among its writers: ";
  EXPECT_EQ(refusal({{part}, {}}), kWhere + "no rank holds element 3 of 'w'");
  for (const Piece& other : {typed, shaped, merged}) {
    EXPECT_EQ(refusal({{whole_one}, {other}}), kWhere + "type, shape or merge rule of 'w' differs on rank 1");
  }
  EXPECT_EQ(refusal({{whole_one}, {}}), "");
  EXPECT_EQ(refusal({{}, {}}), "");
}

}  // namespace
}  // namespace cohort::checkpoint
