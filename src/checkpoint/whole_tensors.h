#pragma once

#include "checkpoint/snapshot.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::checkpoint {

/// A tensor of a snapshot or of another source, whichever files have parts of it.
struct WholeTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  Merge merge = Merge::kSame;
  std::vector<std::size_t> held{};  ///< indices in PieceSource::held()

  std::uint64_t num_elements() const;
  std::uint64_t size_bytes() const;
};

/// The tensors of a source, such as a snapshot, put together from their pieces.
///
/// Threads: one at a time.
/// Lifetime: the source must outlive it.
/// Failure: as PieceSource::read(); kUsage, naming the tensor, for elements that no file has.
/// Cost: stream() has one window of the tensor in memory; a tensor with compressed pieces as a whole.
class WholeTensors {
 public:
  /// Gets consecutive elements; `first` is the number of the first one.
  using Take = std::function<Status(std::uint64_t first, std::span<const std::byte> bytes)>;
  /// Whether a held piece cannot be read in parts at no extra cost.
  using IsCompressed = std::function<bool(std::size_t held)>;

  explicit WholeTensors(state::PieceSource& source, IsCompressed is_compressed = {});

  /// In the order of their names.
  std::span<const WholeTensor> all() const { return tensors_; }
  /// The tensor with this name, or null.
  const WholeTensor* find(std::string_view name) const;

  /// Fills `into` with elements from number `first` on, in row-major order.
  Status read(const WholeTensor& tensor, std::uint64_t first, std::span<std::byte> into) const;
  /// Reads all elements from first to last.
  Status stream(const WholeTensor& tensor, const Take& take) const;
  /// How many elements a read should have, for one that is neither small nor needs much memory.
  std::uint64_t window_of(const WholeTensor& tensor) const;

 private:
  state::PieceSource& source_;
  const IsCompressed is_compressed_;
  std::vector<WholeTensor> tensors_;
};

/// The tensors of a snapshot. Pieces of a difference come before those of its base in WholeTensor::held.
class SnapshotTensors final : public WholeTensors {
 public:
  explicit SnapshotTensors(Snapshot& snapshot);
  const Snapshot& snapshot() const { return snapshot_; }

 private:
  Snapshot& snapshot_;
};

/// Tells which held pieces of a snapshot are compressed.
WholeTensors::IsCompressed compressed_pieces_of(const Snapshot& snapshot);

}  // namespace cohort::checkpoint
