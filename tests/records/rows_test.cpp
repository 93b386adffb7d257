#include "records/rows.h"

#include "record_bytes.h"
#include "storage/memory_file_system.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cohort::records {
namespace {

std::vector<std::uint8_t> read_bytes(const Rows& rows, std::uint64_t first, std::size_t count) {
  std::vector<std::uint8_t> bytes(count * rows.row_bytes());
  const Status done = rows.read(first, std::as_writable_bytes(std::span(bytes)));
  EXPECT_TRUE(done) << done.error().text();
  return bytes;
}

// Three rows of two bytes after a byte each, then two that lie together.
Rows rows_of_two_files() {
  const auto apart = bytes_in_memory(bytes_from({99, 0, 1, 99, 10, 11, 99, 20, 21}), "apart");
  const auto together = bytes_in_memory(bytes_from({99, 99, 30, 31, 40, 41}), "together");
  return Rows(DType::kU8, {2}, ByteOrder::kLittleEndian, {{apart, 1, 3, 3}, {together, 2, 2, 2}});
}

TEST(Rows, OfSeveralFilesAreNumberedThrough) {
  const Rows rows = rows_of_two_files();
  EXPECT_EQ(rows.size(), 5u);
  std::vector<std::uint8_t> all = {0, 1, 10, 11, 20, 21, 30, 31, 40, 41};
  for (std::size_t first = 0; first <= 5; ++first) {
    for (std::size_t count = 0; first + count <= 5; ++count) {
      const std::vector<std::uint8_t> expected(
          all.begin() + static_cast<std::ptrdiff_t>(2 * first),
          all.begin() + static_cast<std::ptrdiff_t>(2 * (first + count)));
      EXPECT_EQ(read_bytes(rows, first, count), expected) << first << " " << count;
    }
  }
}

TEST(Rows, FarApartAreReadOneByOne) {
  std::string content(3 << 20, 'x');
  content[0] = 'a';
  content[(1 << 20) + 5] = 'b';
  content[(2 << 20) + 10] = 'c';
  const Rows rows(DType::kU8, {}, ByteOrder::kLittleEndian,
                  {{bytes_in_memory(content, "f"), 0, (1 << 20) + 5, 3}});
  EXPECT_EQ(read_bytes(rows, 0, 3), (std::vector<std::uint8_t>{'a', 'b', 'c'}));
}

TEST(Rows, HaveTheByteOrderOfThisMachine) {
  const auto bytes = bytes_in_memory(bytes_from({0, 1, 0, 2}), "f");
  std::vector<float> numbers(2);
  std::vector<std::byte> content(4);
  const Rows big(DType::kI16, {2}, ByteOrder::kBigEndian, {{bytes, 0, 4, 1}});
  ASSERT_TRUE(big.read(0, content));
  floats(DType::kI16, content, numbers.data());
  EXPECT_EQ(numbers, (std::vector<float>{1, 2}));
  const Rows little(DType::kI16, {2}, ByteOrder::kLittleEndian, {{bytes, 0, 4, 1}});
  ASSERT_TRUE(little.read(0, content));
  floats(DType::kI16, content, numbers.data());
  EXPECT_EQ(numbers, (std::vector<float>{256, 512}));
}

TEST(Rows, OfAFileThatBecameShorterAreAnError) {
  MemoryFileSystem fs;
  put(fs, "f", bytes_from({1, 2, 3, 4}));
  const auto bytes = open_file_bytes(fs, "f");
  ASSERT_TRUE(bytes);
  const Rows rows(DType::kU8, {3}, ByteOrder::kLittleEndian, {{*bytes, 0, 3, 2}});
  std::vector<std::byte> content(6);
  const Status done = rows.read(0, content);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(done.error().message(), "'f' ends after 4 bytes, expected 6 or more");
}

}  // namespace
}  // namespace cohort::records
