#include "layout/slice.h"

#include "base/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>

namespace cohort {
namespace {

std::optional<std::size_t> product(const Shape& lengths) {
  std::size_t count = 1;
  bool is_empty = false;
  for (const std::size_t length : lengths) {
    is_empty = is_empty || length == 0;
    if (!is_empty && __builtin_mul_overflow(count, length, &count)) return std::nullopt;
  }
  return is_empty ? 0 : count;
}

// The common part of two boxes as rows: elements that lie side by side in both boxes. A row has all elements
// of the inner dimensions that belong to both boxes in full, and those of the next dimension. Rows are
// numbered in row-major order, so their offsets grow with their number, in both boxes.
class CommonRows {
 public:
  CommonRows(const Box& a, const Box& b) {
    const std::size_t num_dims = a.first.size();
    COHORT_CHECK_EQ(num_dims, b.first.size(), "slices of different tensors");
    Shape first(num_dims), lengths(num_dims);
    for (std::size_t d = 0; d < num_dims; ++d) {
      first[d] = std::max(a.first[d], b.first[d]);
      const std::size_t end = std::min(a.first[d] + a.lengths[d], b.first[d] + b.lengths[d]);
      if (end <= first[d]) return;
      lengths[d] = end - first[d];
    }
    fill(a, b, first, lengths);
  }

  std::size_t count() const { return count_; }
  std::size_t length() const { return length_; }
  std::size_t offset_in_a(std::size_t row) const { return offset(row, first_in_a_, strides_a_); }
  std::size_t offset_in_b(std::size_t row) const { return offset(row, first_in_b_, strides_b_); }

 private:
  void fill(const Box& a, const Box& b, const Shape& first, const Shape& lengths) {
    count_ = 1;
    std::size_t stride_a = 1, stride_b = 1;
    bool is_side_by_side = true;
    for (std::size_t d = first.size(); d-- > 0;) {
      first_in_a_ += (first[d] - a.first[d]) * stride_a;
      first_in_b_ += (first[d] - b.first[d]) * stride_b;
      if (is_side_by_side) {
        length_ *= lengths[d];
      } else {
        outer_.push_back(lengths[d]);
        strides_a_.push_back(stride_a);
        strides_b_.push_back(stride_b);
        count_ *= lengths[d];
      }
      is_side_by_side = is_side_by_side && lengths[d] == a.lengths[d] && lengths[d] == b.lengths[d];
      stride_a *= a.lengths[d];
      stride_b *= b.lengths[d];
    }
  }

  std::size_t offset(std::size_t row, std::size_t first, const Shape& strides) const {
    for (std::size_t d = 0; d < outer_.size(); ++d) {
      first += row % outer_[d] * strides[d];
      row /= outer_[d];
    }
    return first;
  }

  std::size_t count_ = 0;
  std::size_t length_ = 1;
  std::size_t first_in_a_ = 0;
  std::size_t first_in_b_ = 0;
  Shape outer_, strides_a_, strides_b_;  // the innermost first
};

// A box of a slice, and the number of elements in the boxes before it.
struct PlacedBox {
  const Box& box;
  std::size_t before = 0;
};

void add_runs(const Slice& have, const PlacedBox& a, const Slice& want, const PlacedBox& b,
              std::vector<Run>& all) {
  const CommonRows rows(a.box, b.box);
  const auto from_of = [&](std::size_t row) { return a.before + rows.offset_in_a(row); };
  const auto to_of = [&](std::size_t row) { return b.before + rows.offset_in_b(row); };
  std::size_t row = 0;
  for (std::size_t more = rows.count(); more > 0;) {  // the first row that does not end before a range begins
    const std::size_t half = more / 2;
    const bool is_before =
        from_of(row + half) + rows.length() <= have.first || to_of(row + half) + rows.length() <= want.first;
    row += is_before ? half + 1 : 0;
    more = is_before ? more - half - 1 : half;
  }
  const std::size_t have_end = have.first + have.count, want_end = want.first + want.count;
  for (; row < rows.count(); ++row) {
    const std::size_t from = from_of(row), to = to_of(row);
    if (from >= have_end || to >= want_end) return;
    const std::size_t skip =
        std::max(have.first > from ? have.first - from : 0, want.first > to ? want.first - to : 0);
    const std::size_t end = std::min({rows.length(), have_end - from, want_end - to});
    if (skip < end) all.push_back({from + skip - have.first, to + skip - want.first, end - skip});
  }
}

std::vector<Run> joined(std::vector<Run> all) {
  std::sort(all.begin(), all.end(),
            [](const Run& a, const Run& b) { return std::pair(a.to, a.from) < std::pair(b.to, b.from); });
  std::vector<Run> fewer;
  for (const Run& run : all) {
    const bool continues = !fewer.empty() && fewer.back().to + fewer.back().count == run.to &&
                           fewer.back().from + fewer.back().count == run.from;
    if (continues) {
      fewer.back().count += run.count;
    } else {
      fewer.push_back(run);
    }
  }
  return fewer;
}

// The elements of a slice that no source has yet: ranges that do not touch.
class Missing {
 public:
  explicit Missing(std::size_t count) {
    if (count > 0) ends_.emplace(0, count);
  }

  bool is_empty() const { return ends_.empty(); }

  // Takes out those elements of the run that are missing, and appends them to the parts.
  void take(const Run& run, std::size_t source, std::vector<SourceRun>& parts) {
    const std::size_t run_end = run.to + run.count;
    auto range = ends_.upper_bound(run.to);
    if (range != ends_.begin() && std::prev(range)->second > run.to) --range;
    while (range != ends_.end() && range->first < run_end) {
      const auto [first, end] = *range;
      const std::size_t from = std::max(first, run.to), to = std::min(end, run_end);
      parts.push_back({source, {run.from + (from - run.to), from, to - from}});
      range = ends_.erase(range);
      if (first < from) ends_.emplace(first, from);
      if (to < end) range = ends_.emplace(to, end).first;
    }
  }

  std::vector<Gap> gaps() const {
    std::vector<Gap> all;
    for (const auto& [first, end] : ends_) all.push_back({first, end - first});
    return all;
  }

 private:
  std::map<std::size_t, std::size_t> ends_;  // by the first element
};

std::string text_of_box(const Box& box) {
  std::string text;
  for (std::size_t d = 0; d < box.first.size(); ++d) {
    text += fmt::format("{}[{}…{})", d > 0 ? "×" : "", box.first[d], box.first[d] + box.lengths[d]);
  }
  return text.empty() ? "a scalar" : text;
}

Status check_box(const Shape& shape, const Box& box) {
  if (box.first.size() != shape.size() || box.lengths.size() != shape.size()) {
    return Error(ErrorCode::kUsage,
                 fmt::format("a box has {} first indices and {} lengths, expected {} of each",
                             box.first.size(), box.lengths.size(), shape.size()));
  }
  bool fits = true;
  for (std::size_t d = 0; fits && d < shape.size(); ++d) {
    fits = box.first[d] <= shape[d] && box.lengths[d] <= shape[d] - box.first[d];
  }
  if (fits) return {};
  return Error(ErrorCode::kUsage, fmt::format("the box {} does not fit into {}", text_of_box(box),
                                              text_of_box({.first = Shape(shape.size()), .lengths = shape})));
}

}  // namespace

std::size_t num_elements(const Shape& shape) {
  const auto count = product(shape);
  COHORT_CHECK(count.has_value(), "the shape has more elements than 64 bits can count");
  return *count;
}

Slice whole(const Shape& shape) {
  return flat_range(shape, 0, num_elements(shape));
}

Slice flat_range(const Shape& shape, std::size_t first, std::size_t count) {
  return {.boxes = {{.first = Shape(shape.size(), 0), .lengths = shape}}, .first = first, .count = count};
}

Status check_slice(const Shape& shape, const Slice& slice) {
  std::size_t count = 0;
  for (const Box& box : slice.boxes) {
    COHORT_RETURN_IF_ERROR(check_box(shape, box));
    const auto more = product(box.lengths);
    if (!more || __builtin_add_overflow(count, *more, &count)) {
      return Error(ErrorCode::kUsage, "the boxes have more elements than 64 bits can count");
    }
  }
  if (slice.first <= count && slice.count <= count - slice.first) return {};
  return Error(ErrorCode::kUsage, fmt::format("{}, which have only {} elements", text_of(slice), count));
}

std::string text_of(const Slice& slice) {
  std::string text = slice.count == 0
                         ? std::string("no elements of ")
                         : fmt::format("elements {} … {} of ", slice.first, slice.first + slice.count - 1);
  for (std::size_t i = 0; i < slice.boxes.size(); ++i) {
    text += (i > 0 ? " + " : "") + text_of_box(slice.boxes[i]);
  }
  return text + (slice.boxes.empty() ? "no boxes" : "");
}

std::vector<Run> runs(const Slice& have, const Slice& want) {
  std::vector<Run> all;
  std::size_t before_a = 0;
  for (const Box& a : have.boxes) {
    std::size_t before_b = 0;
    for (const Box& b : want.boxes) {
      add_runs(have, {a, before_a}, want, {b, before_b}, all);
      before_b += num_elements(b.lengths);
    }
    before_a += num_elements(a.lengths);
  }
  return joined(std::move(all));
}

Cover cover(std::span<const Slice> have, const Slice& want) {
  Cover found;
  Missing missing(want.count);
  for (std::size_t i = 0; i < have.size() && !missing.is_empty(); ++i) {
    for (const Run& run : runs(have[i], want)) missing.take(run, i, found.parts);
  }
  found.missing = missing.gaps();
  return found;
}

}  // namespace cohort
