#pragma once

#include <cstdint>

namespace cohort {

enum class Shuffle { kNone, kEveryEpoch };

/// The order of samples in an epoch: a permutation that is computed sample by sample and never stored.
///
///     const SampleOrder order(60000, Shuffle::kEveryEpoch, seed);
///     for (std::uint64_t index = 0; index < 60000; ++index) use(order.at(epoch, index));
///
/// Threads: immutable; any number of threads may use it.
/// Cost: constant memory; per sample five blocks of random numbers and eight rounds of mixing.
class SampleOrder {
 public:
  SampleOrder(std::uint64_t num_samples, Shuffle shuffle, std::uint64_t seed);

  /// The sample at this index of this epoch: a pure function of both, and of the seed.
  std::uint64_t at(std::uint64_t epoch, std::uint64_t index) const;
  std::uint64_t num_samples() const { return num_samples_; }

 private:
  std::uint64_t num_samples_;
  Shuffle shuffle_;
  std::uint64_t seed_;
  std::uint64_t rows_;
  std::uint64_t columns_;
};

}  // namespace cohort
