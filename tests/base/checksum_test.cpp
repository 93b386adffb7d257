#include "base/checksum.h"

#include "base/hash_kernel.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace cohort {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// RFC 3720, appendix B.4.
TEST(Crc32c, MatchesThePublishedVectors) {
  EXPECT_EQ(crc32c(bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0x00})), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, GoesOnOverPieces) {
  const std::string_view text = "the pieces of a record, cut anywhere";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes(text.substr(cut)), crc32c(bytes(text.substr(0, cut)))), crc32c(bytes(text)));
  }
}

// The sizes reach every path of the kernels: word by word, three blocks side by side, folding.
TEST(Crc32c, EveryKernelGivesTheSameSum) {
  std::vector<std::byte> record(100'003);
  for (std::size_t i = 0; i < record.size(); ++i) record[i] = static_cast<std::byte>(i * 7 + i / 251);
  const std::vector<CrcKernel> kernels = crc_kernels();
  for (const std::size_t size : {0u, 7u, 255u, 1023u, 1024u, 1025u, 1279u, 6143u, 6144u, 6151u, 100'002u}) {
    const auto piece = std::span<const std::byte>(record).subspan(1, size);
    for (const std::uint32_t before : {0u, 0xFFFFFFFFu, 0x12345678u}) {
      const std::uint32_t by_table = kernels.front().add(piece, before);
      for (const CrcKernel& kernel : kernels) {
        EXPECT_EQ(kernel.add(piece, before), by_table) << kernel.name << " of " << size;
      }
    }
  }
}

TEST(Crc32c, SeesEverySingleBitFlip) {
  std::vector<std::byte> record(67, std::byte{0x5A});
  const std::uint32_t before = crc32c(record);
  for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
    record[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(crc32c(record), before);
    record[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(ContentHash, MatchesThePublishedVectors) {
  EXPECT_EQ(content_hash({}), 0x2D06800538D394C2u);  // XXH3_64bits of nothing, seed 0
}

// Lengths on both sides of each of XXH3's paths; hashes of one kernel are on disks that another one reads.
TEST(ContentHash, TheFastKernelGivesTheSameHashes) {
  std::vector<std::byte> data(1'000'003);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
  const HashKernel& fast = hash_kernel();
  for (const std::size_t size :
       {0u, 1u, 3u, 16u, 17u, 128u, 129u, 240u, 241u, 1023u, 1024u, 1025u, 1'000'002u}) {
    for (const std::uint64_t seed : {0u, 5u}) {
      EXPECT_EQ(fast.of(data.data() + 1, size, seed), kPortableHash.of(data.data() + 1, size, seed))
          << fast.name << " of " << size;
    }
  }
}

TEST(ContentHash, IsTheSameForAnyCutAndDependsOnTheSeed) {
  std::vector<std::byte> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
  const std::span<const std::byte> all = data;
  for (const std::size_t cut : {0ul, 1ul, 17ul, 256ul, 999ul, 1000ul}) {
    ContentHash hash(5);
    hash.add(all.first(cut));
    hash.add(all.subspan(cut));
    EXPECT_EQ(hash.value(), content_hash(all, 5));
  }
  EXPECT_NE(content_hash(all, 5), content_hash(all, 6));
}

}  // namespace
}  // namespace cohort
