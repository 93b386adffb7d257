#include "normalise/channels.h"

#include "base/float16.h"

#include <bit>
#include <cmath>
#include <cohort/random.h>
#include <cstring>
#include <gtest/gtest.h>

namespace cohort::normalise {
namespace {

constexpr DType kFloats[] = {DType::kF32, DType::kF64, DType::kBF16, DType::kF16};
constexpr Order kOrders[] = {Order::kPointsLast, Order::kChannelsLast};

void put(std::vector<std::byte>& to, std::size_t i, DType dtype, double value) {
  const auto narrow = static_cast<float>(value);
  if (dtype == DType::kF64) {
    std::memcpy(to.data() + i * 8, &value, 8);
  } else if (dtype == DType::kF32) {
    std::memcpy(to.data() + i * 4, &narrow, 4);
  } else {
    const std::uint16_t bits = dtype == DType::kBF16 ? bf16_from_f32(narrow) : f16_from_f32(narrow);
    std::memcpy(to.data() + i * 2, &bits, 2);
  }
}

double get(const std::vector<std::byte>& from, std::size_t i, DType dtype) {
  double value = 0;
  float narrow = 0;
  std::uint16_t bits = 0;
  if (dtype == DType::kF64) {
    std::memcpy(&value, from.data() + i * 8, 8);
    return value;
  }
  if (dtype == DType::kF32) {
    std::memcpy(&narrow, from.data() + i * 4, 4);
    return static_cast<double>(narrow);
  }
  std::memcpy(&bits, from.data() + i * 2, 2);
  return static_cast<double>(dtype == DType::kBF16 ? f32_from_bf16(bits) : f32_from_f16(bits));
}

/// Divides a loop into pieces of one grain.
struct InGrains final : Parallel {
  void run(std::size_t count, std::size_t grain, const Body& body) const override {
    for (std::size_t first = 0; first < count; first += grain) body(first, std::min(first + grain, count));
  }
};

std::size_t index_of(const ChannelShape& shape, std::size_t sample, std::size_t channel, std::size_t point) {
  return shape.order == Order::kPointsLast ? (sample * shape.channels + channel) * shape.points + point
                                           : (sample * shape.points + point) * shape.channels + channel;
}

std::size_t count_of(const ChannelShape& shape) {
  return shape.samples * shape.channels * shape.points;
}

std::vector<std::byte> whole_numbers(DType dtype, std::size_t count, std::size_t factor) {
  std::vector<std::byte> all(count * size_bytes(dtype));
  for (std::size_t i = 0; i < count; ++i) put(all, i, dtype, static_cast<double>((i * factor) % 7) - 3);
  return all;
}

std::vector<std::byte> rough_numbers(DType dtype, std::size_t count, std::uint64_t stream) {
  std::vector<std::byte> all(count * size_bytes(dtype));
  for (std::size_t i = 0; i < count; ++i) put(all, i, dtype, RandomStream(5, stream).normal(i) + 2);
  return all;
}

std::vector<double> per_channel(std::size_t count, std::size_t factor) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<double>((i * factor) % 5) - 2;
  return all;
}

const std::vector<ChannelShape> kShapes = {
    {.samples = 0, .channels = 3, .points = 4},     {.samples = 1, .channels = 1, .points = 1},
    {.samples = 5, .channels = 3, .points = 1},     {.samples = 3, .channels = 17, .points = 5},
    {.samples = 2, .channels = 16, .points = 16},   {.samples = 7, .channels = 33, .points = 31},
    {.samples = 9, .channels = 2, .points = 10000}, {.samples = 40, .channels = 130, .points = 7}};

std::vector<ChannelShape> all_shapes() {
  std::vector<ChannelShape> all;
  for (ChannelShape shape : kShapes) {
    for (const Order order : kOrders) {
      shape.order = order;
      all.push_back(shape);
    }
  }
  return all;
}

TEST(ChannelLoops, SumsAreThoseOfTheFormula) {
  const InGrains in_grains;
  for (const ChannelShape& shape : all_shapes()) {
    for (const DType dtype : kFloats) {
      const auto x = whole_numbers(dtype, count_of(shape), 5), g = whole_numbers(dtype, count_of(shape), 3);
      const auto pivot = per_channel(shape.channels, 2);
      std::vector<double> moments(2 * shape.channels), products(2 * shape.channels);
      for (std::size_t s = 0; s < shape.samples; ++s) {
        for (std::size_t c = 0; c < shape.channels; ++c) {
          for (std::size_t p = 0; p < shape.points; ++p) {
            const std::size_t i = index_of(shape, s, c, p);
            const double value = get(x, i, dtype) - pivot[c];
            moments[c] += value;
            moments[shape.channels + c] += value * value;
            products[c] += get(g, i, dtype);
            products[shape.channels + c] += get(g, i, dtype) * value;
          }
        }
      }
      for (const InstructionSet set : available_sets()) {
        const ChannelLoops loops(dtype, shape, in_grains, set);
        EXPECT_EQ(loops.moments(x.data(), pivot), moments);
        EXPECT_EQ(loops.products(x.data(), g.data(), pivot), products);
      }
    }
  }
}

TEST(ChannelLoops, MapsAreThoseOfTheFormula) {
  const InGrains in_grains;
  for (const ChannelShape& shape : all_shapes()) {
    for (const DType dtype : kFloats) {
      const auto x = whole_numbers(dtype, count_of(shape), 5), g = whole_numbers(dtype, count_of(shape), 3);
      const auto factors = per_channel(3 * shape.channels, 2);
      const std::size_t n = shape.channels;
      for (const InstructionSet set : available_sets()) {
        const ChannelLoops loops(dtype, shape, in_grains, set);
        std::vector<std::byte> y(x.size()), dx(x.size());
        loops.affine(x.data(), y.data(), std::span(factors).first(2 * n));
        loops.gradient(x.data(), g.data(), dx.data(), factors);
        for (std::size_t s = 0; s < shape.samples; ++s) {
          for (std::size_t c = 0; c < n; ++c) {
            for (std::size_t p = 0; p < shape.points; ++p) {
              const std::size_t i = index_of(shape, s, c, p);
              const double a = get(x, i, dtype), b = get(g, i, dtype);
              ASSERT_EQ(get(y, i, dtype), a * factors[c] + factors[n + c]);
              ASSERT_EQ(get(dx, i, dtype), b * factors[c] + a * factors[n + c] + factors[2 * n + c]);
            }
          }
        }
      }
    }
  }
}

TEST(ChannelLoops, EverySetAndEveryDivisionGivesTheSameBits) {
  const SerialLoop serial;
  const InGrains in_grains;
  const ThreadedLoop threads(3);
  for (const ChannelShape& shape : all_shapes()) {
    for (const DType dtype : kFloats) {
      const auto x = rough_numbers(dtype, count_of(shape), 1), g = rough_numbers(dtype, count_of(shape), 2);
      const auto pivot = per_channel(shape.channels, 2), factors = per_channel(3 * shape.channels, 3);
      const ChannelLoops first(dtype, shape, serial, InstructionSet::kGeneric);
      std::vector<std::byte> y(x.size()), dx(x.size());
      first.affine(x.data(), y.data(), std::span(factors).first(2 * shape.channels));
      first.gradient(x.data(), g.data(), dx.data(), factors);
      for (const InstructionSet set : available_sets()) {
        for (const Parallel* parallel :
             std::initializer_list<const Parallel*>{&serial, &in_grains, &threads}) {
          const ChannelLoops loops(dtype, shape, *parallel, set);
          EXPECT_EQ(loops.moments(x.data(), pivot), first.moments(x.data(), pivot));
          EXPECT_EQ(loops.products(x.data(), g.data(), pivot), first.products(x.data(), g.data(), pivot));
          std::vector<std::byte> other_y(x.size()), other_dx(x.size());
          loops.affine(x.data(), other_y.data(), std::span(factors).first(2 * shape.channels));
          loops.gradient(x.data(), g.data(), other_dx.data(), factors);
          EXPECT_EQ(other_y, y);
          EXPECT_EQ(other_dx, dx);
        }
      }
    }
  }
}

TEST(ChannelLoops, ANaNStaysInItsChannel) {
  const SerialLoop serial;
  for (const Order order : kOrders) {
    const ChannelShape shape{.samples = 3, .channels = 18, .points = 2, .order = order};
    auto x = whole_numbers(DType::kBF16, count_of(shape), 5);
    put(x, index_of(shape, 1, 4, 1), DType::kBF16, NAN);
    const auto moments =
        ChannelLoops(DType::kBF16, shape, serial).moments(x.data(), per_channel(shape.channels, 1));
    for (std::size_t c = 0; c < shape.channels; ++c) EXPECT_EQ(std::isnan(moments[c]), c == 4) << c;
  }
}

}  // namespace
}  // namespace cohort::normalise
