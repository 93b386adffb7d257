#pragma once

#include "layout/slice.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace cohort::test {

/// The row-major index of each element of a slice, found by walking through its boxes.
inline std::vector<std::size_t> elements_of(const Shape& shape, const Slice& slice) {
  std::vector<std::size_t> all;
  for (const Box& box : slice.boxes) {
    for (std::size_t i = 0; i < num_elements(box.lengths); ++i) {
      std::size_t rest = i, index = 0, stride = 1;
      for (std::size_t d = shape.size(); d-- > 0;) {
        index += (box.first[d] + rest % box.lengths[d]) * stride;
        rest /= box.lengths[d];
        stride *= shape[d];
      }
      all.push_back(index);
    }
  }
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(slice.first);
  return {first, first + static_cast<std::ptrdiff_t>(slice.count)};
}

/// Shapes and slices at random, the same for the same seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t end) { return engine_() % end; }

  /// Up to four dimensions, some of length 0 and 1.
  Shape shape() {
    Shape lengths(below(5));
    for (std::size_t& length : lengths) length = below(8) == 0 ? 0 : 1 + below(5);
    return lengths;
  }

  Box box(const Shape& shape) {
    Box made{.first = Shape(shape.size()), .lengths = Shape(shape.size())};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (below(2) == 0) {
        made.lengths[d] = shape[d];
      } else {
        made.first[d] = below(shape[d] + 1);
        made.lengths[d] = below(shape[d] - made.first[d] + 1);
      }
    }
    return made;
  }

  /// Up to three boxes that do not overlap, and a range of them.
  Slice slice(const Shape& shape) {
    Slice made;
    std::size_t count = 0;
    for (std::size_t b = below(4); b > 0; --b) {
      const Box more = box(shape);
      const Slice alone{.boxes = {more}, .first = 0, .count = num_elements(more.lengths)};
      const Slice others{.boxes = made.boxes, .first = 0, .count = count};
      if (!runs_by_hand(shape, alone, others).empty()) continue;
      made.boxes.push_back(more);
      count += alone.count;
    }
    made.first = below(count + 1);
    made.count = below(count - made.first + 1);
    return made;
  }

  /// The slices of `world` ranks, which have every element exactly once: the tensor is cut into a grid of
  /// boxes, these are dealt to groups of ranks, and the ranks of a group share its boxes by flat ranges.
  std::vector<Slice> shared_by(std::size_t world, const Shape& shape) {
    std::vector<std::vector<Box>> by_group(1 + below(world));
    for (Box& each : grid(shape)) by_group[below(by_group.size())].push_back(std::move(each));
    std::vector<Slice> slices(world);
    for (std::size_t g = 0; g < by_group.size(); ++g) {
      std::size_t count = 0;
      for (const Box& each : by_group[g]) count += num_elements(each.lengths);
      std::vector<std::size_t> ranks;
      for (std::size_t r = g; r < world; r += by_group.size()) ranks.push_back(r);
      std::vector<std::size_t> cuts = {0, count};
      for (std::size_t i = 1; i < ranks.size(); ++i) cuts.push_back(below(count + 1));
      std::sort(cuts.begin(), cuts.end());
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        slices[ranks[i]] = {.boxes = by_group[g], .first = cuts[i], .count = cuts[i + 1] - cuts[i]};
      }
    }
    return slices;
  }

 private:
  static std::vector<std::size_t> runs_by_hand(const Shape& shape, const Slice& a, const Slice& b) {
    const auto some = elements_of(shape, a), others = elements_of(shape, b);
    std::vector<std::size_t> common;
    for (const std::size_t each : some) {
      if (std::find(others.begin(), others.end(), each) != others.end()) common.push_back(each);
    }
    return common;
  }

  /// Boxes that fill the tensor, without a gap and in any order.
  std::vector<Box> grid(const Shape& shape) {
    std::vector<Box> boxes = {{.first = Shape(shape.size(), 0), .lengths = shape}};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] < 2 || below(2) == 0) continue;
      const std::size_t cut = 1 + below(shape[d] - 1);
      std::vector<Box> more;
      for (Box each : boxes) {
        each.lengths[d] = cut;
        more.push_back(each);
        each.first[d] = cut;
        each.lengths[d] = shape[d] - cut;
        more.push_back(each);
      }
      boxes = std::move(more);
    }
    std::shuffle(boxes.begin(), boxes.end(), engine_);
    return boxes;
  }

  std::mt19937_64 engine_;
};

}  // namespace cohort::test
