#include "base/checksum.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cohort {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78u;

// Multiplies a polynomial over GF(2) by x. Bit 0 holds the highest power (reflected representation).
constexpr std::uint32_t times_x(std::uint32_t value) {
  return (value >> 1) ^ ((value & 1u) != 0 ? kPolynomial : 0u);
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = times_x(value);
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

// ----- three blocks side by side -----

// The CRC instruction has a throughput of one word per cycle and a latency of three cycles: three independent
// blocks side by side keep the unit busy. Joining two CRCs needs the CRC of a block followed by as many zeros
// as the next block has bytes. That function is linear in the bits of the CRC, so four tables of 256 entries
// give it.
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
  std::array<std::uint32_t, 32> matrix{};  // appends one zero bit
  for (std::size_t bit = 0; bit < 32; ++bit) matrix[bit] = times_x(1u << bit);
  for (std::size_t zeros = 1; zeros < 8 * kBlock; zeros *= 2) {
    const auto half = matrix;
    for (std::uint32_t& column : matrix) column = times(half, column);
  }
  Shift shift{};
  for (std::size_t index = 0; index < shift.size(); ++index) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) shift[index][byte] = times(matrix, byte << (8 * index));
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

// ----- folding -----

// A block of bytes contributes the same to the CRC when it is multiplied by x^stride modulo the polynomial
// and added (xor) to the block one stride later. Repeating this folds a long piece into a single stride with
// the same CRC. (Gopal et al., Fast CRC Computation Using PCLMULQDQ Instruction, Intel 2009.)
constexpr std::size_t kStride = 256;

constexpr long long power_of_x(std::size_t exponent) {
  std::uint32_t value = 0x80000000u;
  for (; exponent > 0; --exponent) value = times_x(value);
  return static_cast<long long>(value) << 1;  // a product of reflected polynomials is one bit short
}
// Factors for the first and the second 64-bit word of every 16 bytes.
constexpr long long kFirstFactor = power_of_x(8 * kStride + 32);
constexpr long long kSecondFactor = power_of_x(8 * kStride - 32);

#define COHORT_TARGET __attribute__((target("sse4.2,avx512f,vpclmulqdq")))

COHORT_TARGET inline __m512i fold(__m512i sum, __m512i factors, const std::byte* next) {
  const __m512i first = _mm512_clmulepi64_epi128(sum, factors, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(sum, factors, 0x11);
  return _mm512_ternarylogic_epi64(first, second, _mm512_loadu_si512(next), 0x96);  // xor of all three
}

COHORT_TARGET std::uint32_t crc_by_folding(std::span<const std::byte> bytes, std::uint32_t crc) {
  if (bytes.size() < 4 * kStride) return crc_by_instruction(bytes, crc);
  const __m512i factors = _mm512_broadcast_i32x4(_mm_set_epi64x(kSecondFactor, kFirstFactor));
  const std::byte* from = bytes.data();
  const std::byte* const end = from + bytes.size() / kStride * kStride;
  const __m512i before = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)));
  __m512i a = _mm512_xor_si512(_mm512_loadu_si512(from), before);
  __m512i b = _mm512_loadu_si512(from + 64);
  __m512i c = _mm512_loadu_si512(from + 128);
  __m512i d = _mm512_loadu_si512(from + 192);
  for (from += kStride; from < end; from += kStride) {
    a = fold(a, factors, from);
    b = fold(b, factors, from + 64);
    c = fold(c, factors, from + 128);
    d = fold(d, factors, from + 192);
  }
  std::array<std::byte, kStride> rest{};
  _mm512_storeu_si512(rest.data(), a);
  _mm512_storeu_si512(rest.data() + 64, b);
  _mm512_storeu_si512(rest.data() + 128, c);
  _mm512_storeu_si512(rest.data() + 192, d);
  return crc_by_instruction(bytes.subspan(static_cast<std::size_t>(end - bytes.data())),
                            crc_by_instruction(rest, 0));
}

#undef COHORT_TARGET
#endif

}  // namespace

std::vector<CrcKernel> crc_kernels() {
  std::vector<CrcKernel> kernels = {{"table", crc_by_table}};
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("sse4.2")) return kernels;
  kernels.push_back({"instruction", crc_by_instruction});
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("vpclmulqdq")) return kernels;
  kernels.push_back({"folding", crc_by_folding});
#endif
  return kernels;
}

}  // namespace cohort
