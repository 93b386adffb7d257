#pragma once

#include "checkpoint/snapshot.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::checkpoint {

/// A tensor of a snapshot, whichever files have parts of it.
struct WholeTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  Merge merge = Merge::kSame;
  std::vector<std::size_t> held{};  ///< indices in Snapshot::held(); those of a difference come first

  std::uint64_t num_elements() const;
  std::uint64_t size_bytes() const;
};

/// The tensors of a snapshot, put together from the pieces that its ranks have written.
///
/// Threads: one at a time.
/// Lifetime: the snapshot must outlive it.
/// Failure: as Snapshot::read(); kUsage, naming the tensor, for elements that no file has.
/// Cost: stream() has one window of the tensor in memory; a tensor with compressed pieces as a whole.
class WholeTensors {
 public:
  /// Gets consecutive elements; `first` is the number of the first one.
  using Take = std::function<Status(std::uint64_t first, std::span<const std::byte> bytes)>;

  explicit WholeTensors(Snapshot& snapshot);

  /// In the order of their names.
  std::span<const WholeTensor> all() const { return tensors_; }
  /// The tensor with this name, or null.
  const WholeTensor* find(std::string_view name) const;
  const Snapshot& snapshot() const { return snapshot_; }

  /// Fills `into` with elements from number `first` on, in row-major order.
  Status read(const WholeTensor& tensor, std::uint64_t first, std::span<std::byte> into) const;
  /// Reads all elements from first to last.
  Status stream(const WholeTensor& tensor, const Take& take) const;
  /// How many elements a read should have, for one that is neither small nor needs much memory.
  std::uint64_t window_of(const WholeTensor& tensor) const;

 private:
  Snapshot& snapshot_;
  std::vector<WholeTensor> tensors_;
};

}  // namespace cohort::checkpoint
