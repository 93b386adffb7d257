#include "normalise/channels.h"

#include "base/check.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cohort::normalise {
namespace {

constexpr std::size_t kNumbersPerPiece = std::size_t{16} << 10;  // worth waking a thread for

std::size_t at_least_one(std::size_t number) {
  return std::max<std::size_t>(number, 1);
}

const std::byte* moved(const std::byte* data, std::size_t bytes) {
  return data == nullptr ? nullptr : data + bytes;
}

}  // namespace

ChannelLoops::ChannelLoops(DType dtype, const ChannelShape& shape, const Parallel& parallel,
                           InstructionSet set)
    : dtype_(dtype), shape_(shape), parallel_(parallel), kernels_(kernels_of(set, dtype)) {
  COHORT_CHECK(is_floating(dtype));
}

std::vector<double> ChannelLoops::moments(const std::byte* x, std::span<const double> pivot) const {
  COHORT_CHECK_EQ(pivot.size(), shape_.channels);
  return sums(kernels_.moments, x, nullptr, pivot.data());
}

std::vector<double> ChannelLoops::products(const std::byte* x, const std::byte* g,
                                           std::span<const double> pivot) const {
  COHORT_CHECK_EQ(pivot.size(), shape_.channels);
  return sums(kernels_.products, x, g, pivot.data());
}

void ChannelLoops::affine(const std::byte* x, std::byte* to, std::span<const double> factors) const {
  COHORT_CHECK_EQ(factors.size(), 2 * shape_.channels);
  map(kernels_.affine, x, nullptr, to, factors);
}

void ChannelLoops::gradient(const std::byte* x, const std::byte* g, std::byte* to,
                            std::span<const double> factors) const {
  COHORT_CHECK_EQ(factors.size(), 3 * shape_.channels);
  map(kernels_.gradient, x, g, to, factors);
}

std::vector<double> ChannelLoops::sums(const SumLoop& loop, const std::byte* x, const std::byte* g,
                                       const double* pivot) const {
  if (shape_.order == Order::kChannelsLast) return sums_of_rows(loop, x, g, pivot);
  std::vector<double> all(2 * shape_.channels);
  const std::size_t run_bytes = shape_.points * size_bytes(dtype_);
  const std::size_t grain = at_least_one(kNumbersPerPiece / at_least_one(shape_.per_channel()));
  parallel_.run(shape_.channels, grain, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c) {
      std::array<double, 2> own{};
      loop.runs(moved(x, c * run_bytes), moved(g, c * run_bytes), runs(), pivot + c, own.data());
      all[c] = own[0];
      all[shape_.channels + c] = own[1];
    }
  });
  return all;
}

// Pieces of rows are added up on their own, then in order: the pieces do not depend on the number of threads.
std::vector<double> ChannelLoops::sums_of_rows(const SumLoop& loop, const std::byte* x, const std::byte* g,
                                               const double* pivot) const {
  constexpr std::size_t kMostPieces = 16;
  const std::size_t num_rows = shape_.per_channel();
  const std::size_t least = kNumbersPerPiece / at_least_one(shape_.channels);
  const std::size_t per_piece = at_least_one(std::max((num_rows + kMostPieces - 1) / kMostPieces, least));
  const std::size_t pieces = (num_rows + per_piece - 1) / per_piece;
  const std::size_t row_bytes = shape_.channels * size_bytes(dtype_);
  const std::size_t count = 2 * shape_.channels;
  std::vector<double> partial(at_least_one(pieces) * count);
  parallel_.run(pieces, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t piece = first; piece < last; ++piece) {
      const std::size_t row = piece * per_piece;
      const Rows rows{.number = std::min(per_piece, num_rows - row), .channels = shape_.channels};
      loop.rows(moved(x, row * row_bytes), moved(g, row * row_bytes), rows, pivot,
                partial.data() + piece * count);
    }
  });
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    for (std::size_t i = 0; i < count; ++i) partial[i] += partial[piece * count + i];
  }
  partial.resize(count);
  return partial;
}

std::vector<std::byte> ChannelLoops::converted(std::span<const double> factors) const {
  if (dtype_ == DType::kF64) {
    const auto bytes = std::as_bytes(factors);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> bytes(factors.size() * sizeof(float));
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto narrow = static_cast<float>(factors[i]);
    std::memcpy(bytes.data() + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return bytes;
}

void ChannelLoops::map(const MapLoop& loop, const std::byte* x, const std::byte* g, std::byte* to,
                       std::span<const double> factors) const {
  if (shape_.per_channel() == 0) return;  // arrays without elements may have no address
  const std::vector<std::byte> all = converted(factors);
  const bool by_rows = shape_.order == Order::kChannelsLast;
  const std::size_t step = (by_rows ? shape_.channels : shape_.points) * size_bytes(dtype_);
  const std::size_t per_item = by_rows ? shape_.channels : shape_.per_channel();
  const std::size_t grain = at_least_one(kNumbersPerPiece / at_least_one(per_item));
  const std::size_t count = by_rows ? shape_.per_channel() : shape_.channels;
  parallel_.run(count, grain, [&](std::size_t first, std::size_t last) {
    if (by_rows) {
      loop.rows(moved(x, first * step), moved(g, first * step), to + first * step,
                {.number = last - first, .channels = shape_.channels}, all.data());
      return;
    }
    const std::size_t kinds = factors.size() / shape_.channels, width = all.size() / factors.size();
    for (std::size_t c = first; c < last; ++c) {
      alignas(double) std::array<std::byte, 3 * sizeof(double)> own;
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        std::memcpy(own.data() + kind * width, all.data() + (kind * shape_.channels + c) * width, width);
      }
      loop.runs(moved(x, c * step), moved(g, c * step), to + c * step, runs(), own.data());
    }
  });
}

}  // namespace cohort::normalise
