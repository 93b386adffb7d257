// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a block
// cipher's shape without its secrecy. Ten rounds mix a 128-bit counter under a 64-bit key; here the key is
// the seed and the counter is (stream, index).
//
//     counter  [ index low | index high | stream low | stream high ]
//                  └── multiply ──┐  ┌── multiply ──┘
//     round    [ hi(c2)^c1^k0 | lo(c2) | hi(c0)^c3^k1 | lo(c0) ]        ten rounds; the key advances after
//     each

#include <cohort/random.h>

#include "base/check.h"
#include "base/normal.h"

namespace cohort {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;

constexpr std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> RandomStream::block(std::uint64_t index) const {
  std::uint32_t c0 = low(index), c1 = high(index), c2 = low(stream_), c3 = high(stream_);
  std::uint32_t k0 = low(seed_), k1 = high(seed_);
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(kMultiplier0) * c0;
    const std::uint64_t p1 = static_cast<std::uint64_t>(kMultiplier1) * c2;
    c0 = high(p1) ^ c1 ^ k0;
    c1 = low(p1);
    c2 = high(p0) ^ c3 ^ k1;
    c3 = low(p0);
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return {c0, c1, c2, c3};
}

std::uint64_t RandomStream::bits(std::uint64_t index) const {
  const auto words = block(index);
  return words[0] | (static_cast<std::uint64_t>(words[1]) << 32);
}

double RandomStream::uniform(std::uint64_t index) const {
  return static_cast<double>(bits(index) >> 11) * 0x1p-53;
}

std::uint64_t RandomStream::below(std::uint64_t limit, std::uint64_t index) const {
  COHORT_CHECK_GT(limit, 0u);
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits(index)) * limit) >> 64);
}

double RandomStream::normal(std::uint64_t index) const {
  // The centre of a cell of width 2^-52, so that the quantile is never asked for 0 or 1.
  return base::normal_quantile((static_cast<double>(bits(index) >> 12) + 0.5) * 0x1p-52);
}

RandomStream RandomStream::substream(std::uint64_t number) const {
  // The seed of a substream is the second half of a block; bits(), uniform() and normal() use the first half.
  const auto words = block(number);
  const std::uint64_t seed = words[2] | (static_cast<std::uint64_t>(words[3]) << 32);
  return {seed, stream_ + 0x9E3779B97F4A7C15u};
}

}  // namespace cohort
