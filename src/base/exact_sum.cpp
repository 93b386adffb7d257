#include "base/exact_sum.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace cohort {
namespace {

constexpr int kLimbBits = 32;
constexpr std::int64_t kLimbMask = (std::int64_t{1} << kLimbBits) - 1;
// Far from the overflow of a limb, whatever is added to it once.
constexpr std::int64_t kFullLimb = std::int64_t{1} << 61;
constexpr double kTooLarge = 0x1p300;

}  // namespace

void ExactSum::add(double number) {
  if (!(std::abs(number) < kTooLarge)) {
    special_ += std::isnan(number) ? number : std::copysign(std::numeric_limits<double>::infinity(), number);
    return;
  }
  constexpr int kMantissaBits = 52;
  constexpr int kExponentOfLowestBit = 1075;  // of a normal number: 2^(biased exponent − 1075)
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const int exponent = static_cast<int>(bits >> kMantissaBits & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << kMantissaBits;
  int shift = exponent - kExponentOfLowestBit - kUnitExponent;
  if (shift < 0) {
    mantissa = shift < -63 ? 0 : mantissa >> -shift;
    shift = 0;
  }
  const auto limb = static_cast<std::size_t>(shift / kLimbBits);
  const int offset = shift % kLimbBits;
  // 53 bits, moved by less than a limb, fill up to three limbs.
  const std::uint64_t low = mantissa << offset;
  const std::uint64_t high = offset == 0 ? 0 : mantissa >> (64 - offset);
  const std::array<std::uint64_t, 3> parts = {low, low >> kLimbBits, high};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = static_cast<std::int64_t>(parts[i]) & kLimbMask;
    if (part == 0) continue;
    limbs_[limb + i] += std::signbit(number) ? -part : part;
    if (std::abs(limbs_[limb + i]) >= kFullLimb) carry();
  }
}

void ExactSum::add(const ExactSum& other) {
  ExactSum carried = other;
  carried.carry();
  carry();
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += carried.limbs_[i];
  special_ += carried.special_;
}

// Makes every limb but the highest a number from 0 to below 2³²: there is one such form of each sum. The
// highest has the sign.
void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < limbs_.size(); ++i) {
    limbs_[i + 1] += limbs_[i] >> kLimbBits;
    limbs_[i] &= kLimbMask;
  }
}

// The amount is rounded: limbs of a small negative number would be large, and cancel each other.
double ExactSum::value() const {
  ExactSum carried = *this;
  carried.carry();
  const bool is_negative = carried.limbs_.back() < 0;
  if (is_negative) {
    for (std::int64_t& limb : carried.limbs_) limb = -limb;
    carried.carry();
  }
  double sum = 0;
  for (std::size_t i = 0; i < carried.limbs_.size(); ++i) {
    sum +=
        std::ldexp(static_cast<double>(carried.limbs_[i]), kUnitExponent + kLimbBits * static_cast<int>(i));
  }
  return (is_negative ? -sum : sum) + carried.special_;
}

// A sum whose highest limb has no room counts as infinite.
void ExactSum::pack(std::span<std::byte, kPackedBytes> to) const {
  ExactSum carried = *this;
  carried.carry();
  std::array<std::uint32_t, kLimbs> limbs{};
  for (std::size_t i = 0; i < limbs.size(); ++i) limbs[i] = static_cast<std::uint32_t>(carried.limbs_[i]);
  float special = static_cast<float>(carried.special_);
  if (carried.limbs_.back() > std::numeric_limits<std::int32_t>::max()) special = INFINITY;
  if (carried.limbs_.back() < std::numeric_limits<std::int32_t>::min()) special = -INFINITY;
  static_assert(sizeof limbs + sizeof special == kPackedBytes);
  std::memcpy(to.data(), limbs.data(), sizeof limbs);
  std::memcpy(to.data() + sizeof limbs, &special, sizeof special);
}

ExactSum ExactSum::unpack(std::span<const std::byte, kPackedBytes> from) {
  std::array<std::uint32_t, kLimbs> limbs{};
  float special = 0;
  std::memcpy(limbs.data(), from.data(), sizeof limbs);
  std::memcpy(&special, from.data() + sizeof limbs, sizeof special);
  ExactSum sum;
  for (std::size_t i = 0; i < limbs.size(); ++i) sum.limbs_[i] = limbs[i];
  sum.limbs_.back() = static_cast<std::int32_t>(limbs.back());
  sum.special_ = static_cast<double>(special);
  return sum;
}

}  // namespace cohort
