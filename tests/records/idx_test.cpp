#include "records/idx.h"

#include "record_bytes.h"
#include "storage/memory_file_system.h"

#include <vector>

namespace cohort::records {
namespace {

const std::string kTwoImages =
    bytes_from({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3}) + bytes_from({1, 2, 255, 4, 5, 6});

Result<Rows> opened(std::string content, std::string path = "a") {
  return open_idx(bytes_in_memory(std::move(content), std::move(path)));
}

template <class T>
std::vector<T> numbers(const Rows& rows) {
  std::vector<T> values(rows.size() * rows.numbers_per_row());
  EXPECT_TRUE(rows.read(0, std::as_writable_bytes(std::span(values))));
  return values;
}

TEST(Idx, ReadsShapeAndNumbers) {
  const auto rows = opened(kTwoImages, "images");
  ASSERT_TRUE(rows) << rows.error().text();
  EXPECT_EQ(rows->dtype(), DType::kU8);
  EXPECT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->shape(), (Shape{1, 3}));
  EXPECT_EQ(numbers<std::uint8_t>(*rows), (std::vector<std::uint8_t>{1, 2, 255, 4, 5, 6}));
}

TEST(Idx, ReadsEveryTypeInBigEndianOrder) {
  EXPECT_EQ(numbers<std::int8_t>(*opened(bytes_from({0, 0, 9, 1, 0, 0, 0, 1, 255}), "a")),
            std::vector<std::int8_t>{-1});
  EXPECT_EQ(numbers<std::int16_t>(*opened(bytes_from({0, 0, 11, 1, 0, 0, 0, 2, 1, 2, 255, 254}), "a")),
            (std::vector<std::int16_t>{258, -2}));
  EXPECT_EQ(numbers<std::int32_t>(*opened(bytes_from({0, 0, 12, 1, 0, 0, 0, 1, 1, 2, 3, 4}), "a")),
            std::vector<std::int32_t>{0x01020304});
  EXPECT_EQ(numbers<float>(*opened(bytes_from({0, 0, 13, 1, 0, 0, 0, 1, 0x40, 0x48, 0, 0}), "a")),
            std::vector<float>{3.125f});
  EXPECT_EQ(
      numbers<double>(*opened(bytes_from({0, 0, 14, 1, 0, 0, 0, 1, 0x40, 0x09, 0, 0, 0, 0, 0, 0}), "a")),
      std::vector<double>{3.125});
}

TEST(Idx, CutAnywhereOrTooLongIsCorrupt) {
  for (std::size_t size = 0; size < kTwoImages.size(); ++size) {
    EXPECT_EQ(code_name(opened(kTwoImages.substr(0, size), "images")), "corrupt") << size;
  }
  EXPECT_EQ(text_of(opened(kTwoImages + "x", "images")),
            "'images' is not a valid IDX file: its header claims 2 × 1 × 3 numbers of type u8, 6 bytes; 7 "
            "bytes follow. "
            "Check that this is the file you meant, or get it again.");
}

TEST(Idx, RefusesAHeaderThatPromisesTheImpossible) {
  std::string huge = bytes_from({0, 0, 14, 4});
  huge += std::string(16, '\xff');
  EXPECT_NE(text_of(opened(huge, "a")).find("too many bytes; 0 bytes follow"), std::string::npos);
  // 2^32 * 2^32 would be 0 again.
  const std::string wraps = bytes_from({0, 0, 8, 3, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 4});
  EXPECT_EQ(code_name(opened(wraps, "a")), "corrupt");
  EXPECT_EQ(code_name(opened(bytes_from({0, 0, 8, 0}), "a")), "corrupt");
  EXPECT_EQ(code_name(opened(bytes_from({0, 0, 8, 9}) + std::string(36, '\0'), "a")), "corrupt");
}

TEST(Idx, ReadsArraysWithoutNumbers) {
  const auto none = opened(bytes_from({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 5}), "a");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->size(), 0u);
  EXPECT_EQ(none->shape(), Shape{5});
}

TEST(Idx, NamesWhatIsNoMagicNumber) {
  EXPECT_NE(text_of(opened("GIF89a", "cat.gif")).find("it begins with 47 49 46 38"), std::string::npos);
  EXPECT_EQ(code_name(opened(bytes_from({0, 0, 10, 1, 0, 0, 0, 0}), "a")), "corrupt");
}

TEST(Idx, ReadsFilesPlainAndPacked) {
  MemoryFileSystem fs;
  put(fs, "plain", kTwoImages);
  put(fs, "packed.gz", gzipped(kTwoImages));
  EXPECT_EQ(numbers<std::uint8_t>(*open_idx(fs, "plain")), numbers<std::uint8_t>(*open_idx(fs, "packed.gz")));
  EXPECT_EQ(code_name(open_idx(fs, "absent")), "not_found");
}

}  // namespace
}  // namespace cohort::records
