#include "state/row_major.h"

#include "base/check.h"
#include "layout/slice.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cohort::state {
namespace {

enum class Direction : std::uint8_t { kToRowMajor, kFromRowMajor };

/// A dimension of a box: its length, and the distance of its elements in memory.
struct Dimension {
  std::size_t length = 1;
  std::size_t stride = 1;
};

/// The dimensions of a full box in row-major order. Those that lie side by side in memory as well are one.
std::vector<Dimension> dimensions_of(const Shape& lengths, const std::vector<std::size_t>& order) {
  std::vector<Dimension> by_place(lengths.size());
  std::size_t stride = 1;
  for (std::size_t place = lengths.size(); place-- > 0; stride *= lengths[place]) {
    by_place[order[place]] = {lengths[place], stride};
  }
  std::vector<Dimension> joined;
  for (const Dimension& each : by_place) {
    if (!joined.empty() && joined.back().stride == each.length * each.stride) {
      joined.back() = {joined.back().length * each.length, each.stride};
    } else {
      joined.push_back(each);
    }
  }
  return joined;
}

template <class Element>
Element* copy_row(Direction direction, Element* memory, Element* row_major, const Dimension& dimension) {
  for (std::size_t i = 0; i < dimension.length; ++i) {
    Element& there = memory[i * dimension.stride];
    if (direction == Direction::kToRowMajor) {
      row_major[i] = there;
    } else {
      there = row_major[i];
    }
  }
  return row_major + dimension.length;
}

/// Returns the end of the elements in row-major order.
template <class Element>
Element* copy_box(Direction direction, Element* memory, Element* row_major,
                  std::span<const Dimension> dimensions) {
  const Dimension& outer = dimensions.front();
  if (dimensions.size() == 1) return copy_row(direction, memory, row_major, outer);
  for (std::size_t i = 0; i < outer.length; ++i) {
    row_major = copy_box(direction, memory + i * outer.stride, row_major, dimensions.subspan(1));
  }
  return row_major;
}

template <class Element>
void copy_boxes(Direction direction, const Piece& piece, std::span<const Box> boxes, std::byte* row_major) {
  auto* memory = reinterpret_cast<Element*>(piece.bytes.data());
  auto* next = reinterpret_cast<Element*>(row_major);
  for (const Box& box : boxes) {
    next = copy_box(direction, memory, next, dimensions_of(box.lengths, piece.order));
    memory += num_elements(box.lengths);
  }
}

std::vector<Box> full_boxes(const Slice& slice) {
  std::vector<Box> boxes;
  std::size_t begin = 0;
  const std::size_t end = slice.first + slice.count;
  for (const Box& box : slice.boxes) {
    const std::size_t length = num_elements(box.lengths);
    const std::size_t first = std::max(begin, slice.first), last = std::min(begin + length, end);
    if (first < last) {
      for (Box& part : boxes_of_range(box, first - begin, last - first)) boxes.push_back(std::move(part));
    }
    begin += length;
  }
  return boxes;
}

/// The same box with dimensions in the order of the tensor's shape.
Box in_order_of_shape(const Box& box, const std::vector<std::size_t>& order) {
  Box turned = box;
  for (std::size_t place = 0; place < order.size(); ++place) {
    turned.first[order[place]] = box.first[place];
    turned.lengths[order[place]] = box.lengths[place];
  }
  return turned;
}

void copy(Direction direction, const Piece& piece, std::byte* row_major) {
  const std::vector<Box> boxes = full_boxes(piece.mine);
  switch (size_bytes(piece.dtype)) {
    case 1:
      return copy_boxes<std::uint8_t>(direction, piece, boxes, row_major);
    case 2:
      return copy_boxes<std::uint16_t>(direction, piece, boxes, row_major);
    case 4:
      return copy_boxes<std::uint32_t>(direction, piece, boxes, row_major);
    default:
      return copy_boxes<std::uint64_t>(direction, piece, boxes, row_major);
  }
}

// `row` has one index of the outermost dimension.
void add_part_of_row(const Box& row, std::size_t first, std::size_t count, std::vector<Box>& boxes) {
  const Box inner{{row.first.begin() + 1, row.first.end()}, {row.lengths.begin() + 1, row.lengths.end()}};
  for (Box& part : boxes_of_range(inner, first, count)) {
    part.first.insert(part.first.begin(), row.first.front());
    part.lengths.insert(part.lengths.begin(), 1);
    boxes.push_back(std::move(part));
  }
}

}  // namespace

std::vector<Box> boxes_of_range(const Box& box, std::size_t first, std::size_t count) {
  if (count == 0) return {};
  if (count == num_elements(box.lengths)) return {box};
  const std::size_t row = num_elements({box.lengths.begin() + 1, box.lengths.end()});
  std::vector<Box> boxes;
  for (const std::size_t end = first + count; first < end;) {
    const bool has_whole_rows = first % row == 0 && end - first >= row;
    const std::size_t num_rows = has_whole_rows ? (end - first) / row : 1;
    const std::size_t last = has_whole_rows ? first + num_rows * row : std::min(end, (first / row + 1) * row);
    Box rows = box;
    rows.first[0] += first / row;
    rows.lengths[0] = num_rows;
    if (has_whole_rows) {
      boxes.push_back(std::move(rows));
    } else {
      add_part_of_row(rows, first % row, last - first, boxes);
    }
    first = last;
  }
  return boxes;
}

RowMajorPieces::RowMajorPieces(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (Piece& piece : pieces_) {
    if (piece.order.empty()) continue;
    COHORT_CHECK_EQ(piece.order.size(), piece.shape.size(), "{}", piece.name);
    Turned& turned = turned_.emplace_back(Turned{.given = piece});
    turned.bytes.resize(piece.bytes.size());
    piece.mine = {.count = turned.given.mine.count};
    for (const Box& box : full_boxes(turned.given.mine)) {
      piece.mine.boxes.push_back(in_order_of_shape(box, piece.order));
    }
    piece.order.clear();
    piece.bytes = turned.bytes;
    piece.memory = PieceMemory::kOwn;
  }
}

void RowMajorPieces::read() {
  for (Turned& each : turned_) copy(Direction::kToRowMajor, each.given, each.bytes.data());
}

void RowMajorPieces::write() {
  for (Turned& each : turned_) copy(Direction::kFromRowMajor, each.given, each.bytes.data());
}

}  // namespace cohort::state
