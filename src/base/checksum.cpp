#include "base/checksum.h"

#include <array>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace cohort {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78u;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1u) != 0 ? kPolynomial : 0u);
    table[byte] = value;
  }
  return table;
}
constexpr auto kTable = make_table();

std::uint32_t crc_by_table(std::span<const std::byte> bytes, std::uint32_t crc) {
  for (const std::byte b : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<std::uint32_t>(b)) & 0xffu];
  }
  return crc;
}

#if defined(__x86_64__)
// The instruction takes a word each cycle, and three until its result is there: three blocks side by side
// keep it busy. What the sum of a block becomes by the zeros of a block behind it is linear in its bits, so
// it is looked up byte by byte.
constexpr std::size_t kBlock = 2048;
using Shift = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr std::uint32_t times(const std::array<std::uint32_t, 32>& matrix, std::uint32_t bits) {
  std::uint32_t product = 0;
  for (std::size_t column = 0; bits != 0; bits >>= 1, ++column) {
    if ((bits & 1u) != 0) product ^= matrix[column];
  }
  return product;
}

constexpr Shift make_shift() {
  std::array<std::uint32_t, 32> matrix{};  // of one bit of zero
  matrix[0] = kPolynomial;
  for (std::size_t bit = 1; bit < 32; ++bit) matrix[bit] = 1u << (bit - 1);
  for (std::size_t zeros = 1; zeros < 8 * kBlock; zeros *= 2) {
    const auto half = matrix;
    for (std::uint32_t& column : matrix) column = times(half, column);
  }
  Shift shift{};
  for (std::size_t place = 0; place < shift.size(); ++place) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) shift[place][byte] = times(matrix, byte << (8 * place));
  }
  return shift;
}
constexpr Shift kShift = make_shift();

std::uint32_t shifted(std::uint32_t crc) {
  return kShift[0][crc & 0xffu] ^ kShift[1][(crc >> 8) & 0xffu] ^ kShift[2][(crc >> 16) & 0xffu] ^
         kShift[3][crc >> 24];
}

std::uint64_t word_at(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t crc_of_three_blocks(const std::byte* from,
                                                                    std::uint32_t crc) {
  std::uint64_t first = crc;
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  for (const std::byte* end = from + kBlock; from < end; from += sizeof(std::uint64_t)) {
    first = _mm_crc32_u64(first, word_at(from));
    second = _mm_crc32_u64(second, word_at(from + kBlock));
    third = _mm_crc32_u64(third, word_at(from + 2 * kBlock));
  }
  const std::uint32_t two = shifted(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
  return shifted(two) ^ static_cast<std::uint32_t>(third);
}

__attribute__((target("sse4.2"))) std::uint32_t crc_by_instruction(std::span<const std::byte> bytes,
                                                                   std::uint32_t crc) {
  for (; bytes.size() >= 3 * kBlock; bytes = bytes.subspan(3 * kBlock)) {
    crc = crc_of_three_blocks(bytes.data(), crc);
  }
  std::uint64_t wide = crc;
  for (; bytes.size() >= sizeof wide; bytes = bytes.subspan(sizeof wide)) {
    wide = _mm_crc32_u64(wide, word_at(bytes.data()));
  }
  return crc_by_table(bytes, static_cast<std::uint32_t>(wide));
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(bytes, ~before);
#endif
  return ~crc_by_table(bytes, ~before);
}

struct ContentHash::State {
  XXH3_state_t xxh;
};

ContentHash::ContentHash(std::uint64_t seed) : state_(std::make_unique<State>()) {
  XXH3_64bits_reset_withSeed(&state_->xxh, seed);
}
ContentHash::~ContentHash() = default;
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;

void ContentHash::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t ContentHash::value() const {
  return XXH3_64bits_digest(&state_->xxh);
}

std::uint64_t content_hash(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace cohort
