#pragma once

#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "layout/program.h"

#include <cstddef>

namespace cohort::train {

/// The flat memory of the parameters: one for all ranks, which lies in the arena of rank 0, or one of each.
///
/// Threads: as its memory is used.
/// Lifetime: group and arena must outlive it. When it dies, others may go on reading what was common.
/// Failure: throws kExhausted where the arena has no more.
/// Cost: common memory that was not given back is kept until the arena serves a new generation.
class ParameterMemory {
 public:
  ParameterMemory() = default;
  /// All ranks make it together.
  ParameterMemory(Communicator& group, Arena& arena, std::size_t size_bytes, Copies copies);
  ~ParameterMemory();
  ParameterMemory(ParameterMemory&& other) noexcept;
  ParameterMemory& operator=(ParameterMemory&& other) noexcept;

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  /// All ranks see the same memory.
  bool is_common() const { return is_common_; }
  /// This rank puts the first values there.
  bool is_mine() const { return !is_common_ || group_->rank() == 0; }
  /// After the first values are there: waits until all ranks may read them.
  void settle();
  /// When no rank will read it any more.
  void give_back();

 private:
  Communicator* group_ = nullptr;
  Arena* arena_ = nullptr;
  ArenaBlock block_{};
  std::byte* data_ = nullptr;
  bool is_common_ = false;
};

}  // namespace cohort::train
