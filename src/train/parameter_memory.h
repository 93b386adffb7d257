#pragma once

#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include "layout/program.h"

#include <cstddef>

namespace cohort::train {

/// The flat memory of the parameters: one copy for all ranks, in the arena of rank 0, or one copy per rank.
///
/// Threads: one at a time.
/// Lifetime: group and arena must outlive it. Other ranks may read common memory after it is destroyed.
/// Failure: throws kExhausted if the arena is full.
/// Cost: common memory that was not given back is kept until the arena serves a new generation.
class ParameterMemory {
 public:
  ParameterMemory() = default;
  /// All ranks construct it together.
  ParameterMemory(Communicator& group, Arena& arena, std::size_t size_bytes, Copies copies);
  ~ParameterMemory();
  ParameterMemory(ParameterMemory&& other) noexcept;
  ParameterMemory& operator=(ParameterMemory&& other) noexcept;

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  /// True if all ranks share this memory.
  bool is_common() const { return is_common_; }
  /// True if this rank writes the first values.
  bool is_mine() const { return !is_common_ || group_->rank() == 0; }
  /// Waits, on all ranks together, until the first values may be read.
  void settle();
  /// Frees the memory, which no rank may read afterwards.
  void give_back();

 private:
  Communicator* group_ = nullptr;
  Arena* arena_ = nullptr;
  ArenaBlock block_{};
  std::byte* data_ = nullptr;
  bool is_common_ = false;
};

}  // namespace cohort::train
