#include "base/exact_sum.h"

#include <algorithm>
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

typedef double Doubles __attribute__((vector_size(64)));
typedef std::int64_t Bits __attribute__((vector_size(64)));
constexpr std::size_t kWidth = sizeof(Doubles) / sizeof(double);

/// Numbers that are added together; zeros fill up the last vector.
struct Batch {
  static constexpr std::size_t kMost = 256;

  std::array<Doubles, kMost / kWidth> vectors;
  std::size_t count = 0;  // vectors

  explicit Batch(std::span<const double> numbers) : count((numbers.size() + kWidth - 1) / kWidth) {
    vectors[count - 1] = Doubles{};
    std::memcpy(vectors.data(), numbers.data(), numbers.size_bytes());
  }

  // By the bits of the amounts, which have the order of the numbers; NaN is above all of them.
  double largest_amount() const {
    Bits most{};
    for (std::size_t i = 0; i < count; ++i) {
      Bits amounts;
      std::memcpy(&amounts, &vectors[i], sizeof amounts);
      amounts &= std::numeric_limits<std::int64_t>::max();
      most = amounts > most ? amounts : most;
    }
    std::int64_t largest = 0;
    for (std::size_t i = 0; i < kWidth; ++i) largest = std::max<std::int64_t>(largest, most[i]);
    return std::bit_cast<double>(largest);
  }
};

/// The sum of those parts of some numbers that are multiples of a unit, which is exact as a double.
class UnitSum {
 public:
  explicit UnitSum(double unit) : large_(Doubles{} + 0x1.8p52 * unit) {}

  /// Moves the nearest multiples from the numbers to the sum.
  void take_from(Doubles& numbers) {
    const Doubles multiples = (numbers + large_) - large_;
    sum_ += multiples;
    numbers -= multiples;
  }
  double value() const {
    double sum = 0;
    for (std::size_t i = 0; i < kWidth; ++i) sum += sum_[i];
    return sum;
  }

 private:
  const Doubles large_;  // numbers that are added to it lose their bits below the unit
  Doubles sum_{};
};

}  // namespace

// Two sums of 45 bits, the second for what the first one leaves, hold the 53 bits of each number that is not
// much smaller than the largest: 2⁸ numbers below 2ᵉ are less than 2ᵉ⁺⁸, which has 53 bits above 2ᵉ⁻⁴⁵.
void ExactSum::add(std::span<const double> numbers) {
  constexpr int kBits = 45;
  while (!numbers.empty()) {
    const auto part = numbers.first(std::min(numbers.size(), Batch::kMost));
    numbers = numbers.subspan(part.size());
    Batch batch(part);
    const double most = batch.largest_amount();
    if (!(most > 0x1p-200 && most < kTooLarge)) {
      for (const double number : part) add(number);
      continue;
    }
    const int exponent = std::ilogb(most) + 1;
    UnitSum upper(std::ldexp(1.0, exponent - kBits)), lower(std::ldexp(1.0, exponent - 2 * kBits - 1));
    Bits has_rest{};
    for (std::size_t i = 0; i < batch.count; ++i) {
      upper.take_from(batch.vectors[i]);
      lower.take_from(batch.vectors[i]);
      has_rest |= batch.vectors[i] != Doubles{};
    }
    add(upper.value());
    add(lower.value());
    constexpr std::array<std::int64_t, kWidth> kNone{};
    if (std::memcmp(&has_rest, kNone.data(), sizeof has_rest) != 0) {
      for (std::size_t i = 0; i < batch.count * kWidth; ++i) add(batch.vectors[i / kWidth][i % kWidth]);
    }
  }
}

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
