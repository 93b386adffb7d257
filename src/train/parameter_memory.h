#pragma once

#include "comm/shared_memory/arena.h"
#include "reduce/company.h"

#include <cstddef>

namespace cohort::train {

/// Whether the ranks of a host share a copy of the parameters.
enum class Sharing {
  kWherePossible,  ///< one copy for the near ranks of a Company
  kNone,           ///< each rank has its own
};

/// The flat memory of the parameters: one copy for the ranks of a host, in the arena of the first of them, or
/// one copy per rank.
///
/// Threads: one at a time.
/// Lifetime: groups and arena must outlive it. Other ranks may read common memory after it is destroyed.
/// Failure: throws kExhausted if the arena is full.
/// Cost: common memory that was not given back is kept until the arena serves a new generation.
class ParameterMemory {
 public:
  ParameterMemory() = default;
  /// All ranks construct it together.
  ParameterMemory(const Company& groups, Arena& arena, std::size_t size_bytes, Sharing sharing);
  ~ParameterMemory();
  ParameterMemory(ParameterMemory&& other) noexcept;
  ParameterMemory& operator=(ParameterMemory&& other) noexcept;

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  /// True if the ranks of this host share this memory.
  bool is_common() const { return is_common_; }
  /// True if this rank writes the first values.
  bool is_mine() const { return !is_common_ || near_->rank() == 0; }
  /// Waits, with the ranks of this host, until the first values may be read.
  void settle();
  /// Frees the memory, which no rank may read afterwards.
  void give_back();

 private:
  Communicator* near_ = nullptr;
  Arena* arena_ = nullptr;
  ArenaBlock block_{};
  std::byte* data_ = nullptr;
  bool is_common_ = false;
};

}  // namespace cohort::train
