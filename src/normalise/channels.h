#pragma once

#include "base/parallel.h"
#include "normalise/kernels.h"

#include <span>

namespace cohort::normalise {

/// How the numbers of a batch follow each other in memory.
enum class Order {
  kPointsLast,    ///< all points of a channel, then the next channel, then the next sample: NCHW
  kChannelsLast,  ///< all channels of a point, then the next point: NHWC, and N × C
};

/// A batch as samples × channels × points; a point is a pixel, a voxel or a position in time.
struct ChannelShape {
  std::size_t samples = 0;
  std::size_t channels = 0;
  std::size_t points = 1;
  Order order = Order::kPointsLast;

  std::size_t per_channel() const { return samples * points; }
};

/// The passes of batch normalisation over the numbers of a batch. In vectors of sums and factors, those of a
/// kind are together, one for each channel: first a of all channels, then b of all channels, ….
///
/// Threads: the object is immutable; each pass divides its work by `parallel`, and gives the same bits however
/// that divides it.
/// Lifetime: `parallel` must outlive it.
/// Cost: every number is read once, every result written once. Sums are in f64; other arithmetic is in f64 for
/// f64, and in f32 for f32, bf16 and f16.
class ChannelLoops {
 public:
  ChannelLoops(DType dtype, const ChannelShape& shape, const Parallel& parallel,
               InstructionSet set = best_set());

  /// Σ(x - pivot) and Σ(x - pivot)² of each channel.
  std::vector<double> moments(const std::byte* x, std::span<const double> pivot) const;
  /// Σg and Σg(x - pivot) of each channel.
  std::vector<double> products(const std::byte* x, const std::byte* g, std::span<const double> pivot) const;
  /// Writes x·a + b. `factors`: a, b.
  void affine(const std::byte* x, std::byte* to, std::span<const double> factors) const;
  /// Writes g·a + x·b + c. `factors`: a, b, c.
  void gradient(const std::byte* x, const std::byte* g, std::byte* to, std::span<const double> factors) const;

 private:
  std::vector<double> sums(const SumLoop& loop, const std::byte* x, const std::byte* g,
                           const double* pivot) const;
  std::vector<double> sums_of_rows(const SumLoop& loop, const std::byte* x, const std::byte* g,
                                   const double* pivot) const;
  void map(const MapLoop& loop, const std::byte* x, const std::byte* g, std::byte* to,
           std::span<const double> factors) const;
  /// The factors in the type of the arithmetic.
  std::vector<std::byte> converted(std::span<const double> factors) const;
  Runs runs() const {
    return {.number = shape_.samples, .length = shape_.points, .stride = shape_.channels * shape_.points};
  }

  const DType dtype_;
  const ChannelShape shape_;
  const Parallel& parallel_;
  const Kernels kernels_;
};

}  // namespace cohort::normalise
