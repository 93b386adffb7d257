#include "state/move.h"

#include "layout/random_slices.h"
#include "state/memory_source.h"
#include "state/piece_list.h"
#include <cohort/numbers.h>

#include <cmath>
#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using state::move;

struct Tensor {
  std::string name;
  Shape shape;
};

const std::vector<Tensor> kTensors = {{"scalar", {}},      {"empty", {0}},     {"one", {1}},
                                      {"prime", {31}},     {"matrix", {5, 7}}, {"hollow", {3, 0, 2}},
                                      {"cube", {4, 3, 2}}, {"vector", {64}}};

// The number that element `index` of tensor t holds.
std::int32_t number_of(std::size_t t, std::size_t index) {
  return static_cast<std::int32_t>(1000 * (t + 1) + index);
}

// The state of the ranks of a world that share every tensor at random; some ranks hold several pieces of it.
std::vector<std::vector<Elements>> random_state(Dice& dice, std::size_t world) {
  std::vector<std::vector<Elements>> ranks(world);
  for (std::size_t t = 0; t < kTensors.size(); ++t) {
    const std::vector<Slice> slices = dice.shared_by(2 * world, kTensors[t].shape);
    for (std::size_t s = 0; s < slices.size(); ++s) {
      if (slices[s].count == 0 && dice.below(2) == 0)
        continue;  // without elements nothing needs to be visited
      ranks[s % world].emplace_back(kTensors[t].name, kTensors[t].shape, slices[s]);
    }
  }
  return ranks;
}

void fill(std::vector<std::vector<Elements>>& ranks) {
  for (auto& rank : ranks) {
    for (Elements& each : rank) {
      const auto t = static_cast<std::size_t>(
          std::find_if(kTensors.begin(), kTensors.end(),
                       [&](const Tensor& tensor) { return tensor.name == each.piece.name; }) -
          kTensors.begin());
      const auto indices = elements_of(each.piece.shape, each.piece.mine);
      for (std::size_t i = 0; i < indices.size(); ++i) each.numbers[i] = number_of(t, indices[i]);
    }
  }
}

std::vector<Piece> views(std::vector<Elements>& pieces) {
  std::vector<Piece> all;
  for (Elements& each : pieces) all.push_back(each.view());
  return all;
}

std::vector<std::vector<Piece>> views(std::vector<std::vector<Elements>>& ranks) {
  std::vector<std::vector<Piece>> all;
  for (auto& rank : ranks) all.push_back(views(rank));
  return all;
}

TEST(Move, LeadsFromAnyWorldToAnyWorld) {
  Dice dice(5);
  for (std::size_t n = 1; n <= 8; ++n) {
    for (std::size_t m = 1; m <= 8; ++m) {
      auto before = random_state(dice, n), after = random_state(dice, m), expected = after;
      fill(before);
      fill(expected);
      MemorySource source(views(before));
      for (std::size_t rank = 0; rank < m; ++rank) {
        const Status moved = move(views(after[rank]), source);
        ASSERT_TRUE(moved) << n << " to " << m << ": " << moved.error().text();
        for (std::size_t i = 0; i < after[rank].size(); ++i) {
          ASSERT_EQ(after[rank][i].numbers, expected[rank][i].numbers)
              << n << " to " << m << ": " << after[rank][i].piece.name;
        }
      }
      std::size_t all = 0;
      for (const Tensor& tensor : kTensors) all += num_elements(tensor.shape);
      EXPECT_EQ(source.num_elements(), all) << "every element is read once";
    }
  }
}

TEST(Move, ReadsCopiesOnceFromTheNearest) {
  Elements near("a", {4}, flat_range({4}, 0, 3)), far("a", {4}, whole({4})), target("a", {4}, whole({4}));
  near.numbers = {1, 2, 3};
  far.numbers = {1, 2, 3, 4};
  MemorySource source({{near.view()}, {far.view()}});
  const auto planned = state::plan_move(std::vector{target.view()}, source.held());
  ASSERT_TRUE(planned);
  ASSERT_EQ(planned->size(), 2u);
  EXPECT_EQ((*planned)[0].read.held, 0u);
  EXPECT_EQ((*planned)[0].read.count, 3u);
  EXPECT_EQ((*planned)[1].read.held, 1u);
  EXPECT_EQ((*planned)[1].read.from, 3u);
  ASSERT_TRUE(move(std::vector{target.view()}, source));
  EXPECT_EQ(target.numbers, far.numbers);
  EXPECT_EQ(source.num_elements(), 4u);
}

Error error_of(const Piece& target, const std::vector<std::vector<Piece>>& from) {
  MemorySource source(from);
  const Status moved = move(std::vector{target}, source);
  EXPECT_FALSE(moved) << "no error";
  return moved ? Error(ErrorCode::kBug, "") : moved.error();
}

TEST(Move, NamesThePieceThatIsMissing) {
  Elements target("weight", {4}, whole({4})), other("bias", {4}, whole({4}));
  const Error error = error_of(target.view(), {{other.view()}});
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_EQ(error.text(), "nobody has a piece of the name 'weight'");
}

TEST(Move, NamesThePieceThatIsAnotherTensor) {
  Elements target("weight", {4}, whole({4})), shape("weight", {2, 2}, whole({2, 2})),
      type("weight", {4}, whole({4})), merge("weight", {4}, whole({4}), Merge::kMax);
  type.piece.dtype = DType::kF32;
  for (Elements* other : {&shape, &type, &merge}) {
    const Error error = error_of(target.view(), {{}, {other->view()}});
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_NE(error.text().find("'weight' is i32 of shape [4], merged by 'same' here and "),
              std::string::npos)
        << error.text();
    EXPECT_NE(error.text().find("(holder 1)"), std::string::npos) << error.text();
  }
}

TEST(Move, NamesThePieceOfWhichAnElementIsMissing) {
  Elements target("weight", {6}, flat_range({6}, 1, 5)), a("weight", {6}, flat_range({6}, 0, 3)),
      b("weight", {6}, flat_range({6}, 5, 1));
  const Error error = error_of(target.view(), {{a.view()}, {b.view()}});
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_EQ(error.text(),
            "nobody has 2 of the 5 elements of 'weight' that are wanted (elements 1 … 5 of [0…6)), from "
            "number 2 on");
}

TEST(Move, NamesThePieceWhoseCopiesDiffer) {
  Elements a("weight", {3}, whole({3})), b = a, c = a, target = a;
  c.numbers[2] = 7;
  const Error error = error_of(target.view(), {{a.view()}, {b.view()}, {c.view()}});
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_NE(error.text().find("holders 0 and 2 have different values of 'weight' (elements 0 … 2 of [0…3))"),
            std::string::npos)
      << error.text();
  EXPECT_EQ(target.numbers, (std::vector<std::int32_t>{0, 0, 0})) << "nothing was moved";
}

TEST(Move, RefusesSlicesThatDoNotFit) {
  Elements target("weight", {3}, whole({3})), wrong("weight", {3}, whole({3}));
  Piece malformed = wrong.view();
  malformed.mine.boxes[0].first[0] = 1;
  EXPECT_NE(error_of(malformed, {{wrong.view()}}).text().find("'weight' cannot be moved"), std::string::npos);
  EXPECT_NE(error_of(target.view(), {{malformed}}).text().find("'weight' of holder 0 is malformed"),
            std::string::npos);
}

template <class Number>
Piece piece_of(std::vector<Number>& numbers, Merge merge, Slice mine = {}) {
  const Shape shape = {numbers.size()};
  if (mine.boxes.empty()) mine = whole(shape);
  return {.name = "n",
          .dtype = dtype_of<Number>(),
          .shape = shape,
          .mine = mine,
          .merge = merge,
          .bytes = std::as_writable_bytes(std::span(numbers))};
}

template <class Number>
std::vector<Number> merged(Merge merge, std::vector<std::vector<Number>> copies) {
  std::vector<std::vector<Piece>> holders;
  for (auto& copy : copies) holders.push_back({piece_of(copy, merge)});
  MemorySource source(holders);
  std::vector<Number> result(copies[0].size());
  const Status moved = move(std::vector{piece_of(result, merge)}, source);
  EXPECT_TRUE(moved) << moved.error().text();
  return result;
}

TEST(Merge, CombinesAllCopies) {
  EXPECT_EQ(merged<float>(Merge::kMean, {{1, 2}, {2, 4}, {6, 0}}), (std::vector<float>{3, 2}));
  EXPECT_EQ(merged<double>(Merge::kSum, {{1, 2}, {2, 4}, {6, 0}}), (std::vector<double>{9, 6}));
  EXPECT_EQ(merged<std::int64_t>(Merge::kMax,
                                 {{1, -2}, {(std::int64_t{1} << 60) + 1, -4}, {std::int64_t{1} << 60, -8}}),
            (std::vector<std::int64_t>{(std::int64_t{1} << 60) + 1, -2}));
}

TEST(Merge, EqualCopiesKeepTheirBits) {
  const double third = 1.0 / 3;
  const float zero = -0.0f;
  EXPECT_EQ(merged<double>(Merge::kMean, std::vector(7, std::vector{third})), std::vector{third});
  EXPECT_TRUE(std::signbit(merged<float>(Merge::kMean, std::vector(3, std::vector{zero}))[0]));
  EXPECT_TRUE(std::signbit(merged<float>(Merge::kSum, {{zero}})[0]));
}

// bf16 1, 2 and 1.5 are 0x3f80, 0x4000 and 0x3fc0.
TEST(Merge, AddsSixteenBitFloats) {
  std::vector<std::int16_t> one = {0x3f80}, two = {0x4000}, mean = {0};
  const auto as_bf16 = [](std::vector<std::int16_t>& bits) {
    Piece piece = piece_of(bits, Merge::kMean);
    piece.dtype = DType::kBF16;
    return piece;
  };
  MemorySource source({{as_bf16(one)}, {as_bf16(two)}});
  ASSERT_TRUE(move(std::vector{as_bf16(mean)}, source));
  EXPECT_EQ(mean[0], 0x3fc0);
}

// Element 1 has two copies, the others one.
TEST(Merge, CountsTheCopiesOfEachElement) {
  std::vector<float> a = {2, 4}, b = {8, 6}, result(3);
  Piece left = piece_of(a, Merge::kMean), right = piece_of(b, Merge::kMean);
  left.shape = right.shape = {3};
  left.mine = flat_range({3}, 0, 2);
  right.mine = flat_range({3}, 1, 2);
  MemorySource source({{left}, {right}});
  ASSERT_TRUE(move(std::vector{piece_of(result, Merge::kMean)}, source));
  EXPECT_EQ(result, (std::vector<float>{2, 6, 6}));
}

TEST(Merge, RefusesToAddWholeNumbers) {
  std::vector<std::int32_t> numbers(3);
  MemorySource source({{piece_of(numbers, Merge::kMean)}});
  const Status moved = move(std::vector{piece_of(numbers, Merge::kMean)}, source);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().text(),
            "'n' cannot be moved: it is merged by 'mean' and of type i32, expected floating point");
}

TEST(PieceList, IsTheSameAfterwards) {
  Dice dice(8);
  std::vector<Piece> pieces;
  for (int i = 0; i < 50; ++i) {
    const Shape shape = dice.shape();
    pieces.push_back({.name = std::string(dice.below(9), 'x'),
                      .dtype = kAllDTypes[dice.below(std::size(kAllDTypes))],
                      .shape = shape,
                      .mine = dice.slice(shape),
                      .merge = static_cast<Merge>(dice.below(4))});
  }
  const auto bytes = state::encode(pieces);
  const auto decoded = state::decode_pieces(bytes);
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece &a = pieces[i], &b = (*decoded)[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.dtype, b.dtype);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(a.mine, b.mine);
    EXPECT_EQ(a.merge, b.merge);
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_FALSE(state::decode_pieces(std::span(bytes).first(length))) << length;
  }
}

}  // namespace
}  // namespace cohort::test
