#include "interchange/stored_elements.h"
#include "opcodes.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

/// Elements of a tensor, read from a storage in which every element is its own number.
std::vector<std::int32_t> read(const StoredTensor& tensor, std::uint64_t first, std::size_t count) {
  std::string storage;
  for (std::int32_t i = 0; i < 6000; ++i) storage += raw(i);
  MemoryBytes file(storage);
  std::vector<std::int32_t> numbers(count);
  value_or_throw(read_elements(tensor, value_or_throw(FileWindow::whole(file)), first,
                               std::as_writable_bytes(std::span(numbers))));
  return numbers;
}

StoredTensor strided(Shape shape, std::vector<std::uint64_t> strides, std::uint64_t offset) {
  return {.dtype = DType::kI32,
          .shape = std::move(shape),
          .strides = std::move(strides),
          .storage = 0,
          .offset = offset};
}

/// All elements, by the definition of strides.
std::vector<std::int32_t> expected(const StoredTensor& tensor) {
  std::vector<std::int32_t> numbers;
  for (std::uint64_t i = 0; i < num_elements_of(tensor); ++i) {
    std::uint64_t place = tensor.offset, rest = i;
    for (std::size_t d = tensor.shape.size(); d-- > 0;) {
      place += rest % tensor.shape[d] * tensor.strides[d];
      rest /= tensor.shape[d];
    }
    numbers.push_back(static_cast<std::int32_t>(place));
  }
  return numbers;
}

TEST(StoredElements, AreReadInRowMajorOrder) {
  const StoredTensor kCases[] = {
      strided({}, {}, 5),
      strided({1}, {1}, 0),
      strided({0, 3}, {3, 1}, 0),
      strided({7}, {1}, 3),
      strided({3, 4}, {4, 1}, 1),
      strided({4, 3}, {1, 4}, 2),
      strided({3, 1, 2}, {2, 99, 1}, 0),
      strided({3, 2}, {7, 2}, 11),
      strided({4}, {0}, 9),
      strided({2, 3, 5}, {1, 10, 2}, 4),
      strided({3, 1024}, {2000, 1}, 5),
      strided({2, 1500}, {1500, 1}, 0),
  };
  for (const StoredTensor& tensor : kCases) {
    const std::vector<std::int32_t> all = expected(tensor);
    EXPECT_EQ(read(tensor, 0, all.size()), all);
    for (std::size_t first = 0; first < std::min<std::size_t>(all.size(), 9); ++first) {
      const std::size_t count = (all.size() - first + 1) / 2;
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
      EXPECT_EQ(read(tensor, first, count),
                std::vector<std::int32_t>(begin, begin + static_cast<std::ptrdiff_t>(count)));
    }
  }
}

TEST(StoredElements, KnowWhetherTheyAreContiguous) {
  EXPECT_TRUE(is_contiguous(strided({}, {}, 5)));
  EXPECT_TRUE(is_contiguous(strided({0, 3}, {9, 9}, 0)));
  EXPECT_TRUE(is_contiguous(strided({3, 1, 4}, {4, 7, 1}, 0)));
  EXPECT_FALSE(is_contiguous(strided({3, 4}, {5, 1}, 0)));
  EXPECT_FALSE(is_contiguous(strided({4, 3}, {1, 4}, 0)));
  EXPECT_FALSE(is_contiguous(strided({4}, {0}, 0)));
}

}  // namespace
}  // namespace cohort::test
