#include "model/initializer.h"

#include "base/normal.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <span>

namespace cohort::model {
namespace {

constexpr std::uint64_t kParameterStream = 0x706172616d;  // "param"
constexpr std::size_t kNumbersAtOnce = 64;                // each number takes one block

/// Gives every element number(its 64 random bits).
template <class Number>
at::Tensor filled(at::IntArrayRef shape, const StreamName& stream, Number number) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  float* out = tensor.mutable_data_ptr<float>();
  const auto count = static_cast<std::size_t>(tensor.numel());
  std::array<std::uint32_t, 4 * kNumbersAtOnce> words;
  for (std::size_t first = 0; first < count; first += kNumbersAtOnce) {
    const std::size_t size = std::min(kNumbersAtOnce, count - first);
    random_words(stream, first, std::span(words).first(4 * size));
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t bits = words[4 * i] | (static_cast<std::uint64_t>(words[4 * i + 1]) << 32);
      out[first + i] = static_cast<float>(number(bits));
    }
  }
  return tensor;
}

/// RandomStream::uniform of these bits.
double uniform_of(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
}

/// RandomStream::normal of these bits.
double normal_of(std::uint64_t bits) {
  return base::normal_quantile((static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52);
}

}  // namespace

Initializer::Initializer(std::uint64_t seed) : stream_(seed, kParameterStream) {}

StreamName Initializer::next() const {
  return {.seed = stream_.bits(made_), .stream = made_};
}

at::Tensor Initializer::uniform(at::IntArrayRef shape, double bound) {
  at::Tensor tensor =
      filled(shape, next(), [=](std::uint64_t bits) { return -bound + (bound + bound) * uniform_of(bits); });
  ++made_;
  return tensor;
}

at::Tensor Initializer::normal(at::IntArrayRef shape, double deviation) {
  at::Tensor tensor = filled(shape, next(), [=](std::uint64_t bits) { return deviation * normal_of(bits); });
  ++made_;
  return tensor;
}

}  // namespace cohort::model
