#pragma once

#include "base/result.h"
#include <cohort/state.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cohort::tool {

/// The state of one rank of a training that does not exist: 100 parameters, which every rank holds whole, and
/// two moments of each, as Adam has them, whose elements are shared out among the ranks. All tensors are f32
/// and equally long. The bit patterns follow from tensor, element and salt, and do not compress.
///
/// Threads: one.
class SyntheticState {
 public:
  /// `total_bytes` is the sum of all tensors, rounded so that the ranks have equal shares.
  SyntheticState(int rank, int ranks, std::uint64_t total_bytes);

  void fill(std::uint64_t salt);
  /// Overwrites everything, so that bytes that were not read are found.
  void spoil();
  /// Failure: kCorrupt, naming the first tensor that has other values than fill() writes.
  Status verify(std::uint64_t salt) const;

  std::vector<Piece> pieces();
  /// The memory of the parameters, one after the other: the same bytes on every rank.
  std::span<std::byte> parameters() { return bytes().first(parameter_bytes_); }
  /// The memory of this rank's parts of the moments.
  std::span<std::byte> moments() { return bytes().subspan(parameter_bytes_); }

  /// Elements of each tensor of such a state.
  static std::size_t elements_of_tensor(int ranks, std::uint64_t total_bytes);
  static constexpr std::size_t kParameters = 100;
  static constexpr std::size_t kTensors = 3 * kParameters;

 private:
  struct Part {
    std::string tensor{};
    std::size_t first = 0;  // element of the tensor
    std::size_t count = 0;
    std::size_t at = 0;  // element in memory
  };

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(numbers_)); }

  std::size_t elements_ = 0;  // of a tensor
  std::size_t parameter_bytes_ = 0;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace cohort::tool
