#include "base/exact_sum.h"

#include <bit>
#include <cmath>

namespace cohort {
namespace {

constexpr int kLimbBits = 32;
constexpr std::int64_t kLimbMask = (std::int64_t{1} << kLimbBits) - 1;
// Far from the overflow of a limb, whatever is added to it once.
constexpr std::int64_t kFullLimb = std::int64_t{1} << 61;

}  // namespace

void ExactSum::add(double number) {
  if (!std::isfinite(number)) {
    special_ += number;
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
    limbs_[limb + i] += part;
    if (limbs_[limb + i] >= kFullLimb) carry();
  }
}

void ExactSum::add(const ExactSum& other) {
  ExactSum carried = other;
  carried.carry();
  carry();
  for (std::size_t i = 0; i < limbs_.size(); ++i) limbs_[i] += carried.limbs_[i];
  special_ += carried.special_;
}

// Makes every limb but the highest less than 2³²: there is one such form of each sum.
void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < limbs_.size(); ++i) {
    limbs_[i + 1] += limbs_[i] >> kLimbBits;
    limbs_[i] &= kLimbMask;
  }
}

double ExactSum::value() const {
  ExactSum carried = *this;
  carried.carry();
  double sum = 0;
  for (std::size_t i = 0; i < carried.limbs_.size(); ++i) {
    sum +=
        std::ldexp(static_cast<double>(carried.limbs_[i]), kUnitExponent + kLimbBits * static_cast<int>(i));
  }
  return sum + carried.special_;
}

}  // namespace cohort
