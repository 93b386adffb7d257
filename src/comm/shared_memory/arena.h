#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "comm/shared_memory/fork_guard.h"
#include "comm/shared_memory/layout.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace cohort {

class Arena;

namespace comm {

/// A memory file mapped into this process as a whole.
///
/// Lifetime: the destructor unmaps it.
class Mapping {
 public:
  /// Mappings of different `colour` begin at addresses whose lower bits differ. Some cores choose the set of
  /// their first-level cache by these bits: with equal bits, a loop over the same offset of two arenas runs
  /// at half the speed.
  static Result<Mapping> of(const Descriptor& file, std::size_t size_bytes, int colour);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  Mapping(std::byte* data, std::size_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// The memory of an arena and its list of free blocks.
///
/// Threads: every method from any thread.
/// Lifetime: shared by the arena and its blocks, so a block stays valid after its arena is gone.
class ArenaMemory {
 public:
  ArenaMemory(Descriptor file, Mapping mapping, std::uint64_t first_free);

  /// Returns a new block, zeroed.
  Result<std::span<std::byte>> take(std::size_t size_bytes);
  void give_back(std::span<std::byte> bytes);
  std::size_t taken_bytes() const;

  const Descriptor& file() const { return file_; }
  const Mapping& mapping() const { return mapping_; }

 private:
  const Descriptor file_;
  const Mapping mapping_;
  const ForkGuard guard_{mapping_.data(), mapping_.size_bytes(), file_.number()};
  // A child made by fork() neither takes nor gives back memory: the parent uses it.
  const pid_t owner_ = ::getpid();
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t>
      free_;  // offset → length of each free range; adjacent ranges are merged
  std::size_t taken_bytes_ = 0;
};

}  // namespace comm

/// A block of arena memory; the destructor gives it back.
///
/// Threads: one at a time; its bytes as their users agree.
/// Lifetime: may outlive its arena, but then no other rank reads it any more.
class ArenaBlock {
 public:
  ArenaBlock() = default;
  ~ArenaBlock();
  ArenaBlock(ArenaBlock&& other) noexcept;
  ArenaBlock& operator=(ArenaBlock&& other) noexcept;

  std::span<std::byte> bytes() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  std::uint64_t offset() const;

 private:
  friend class Arena;
  ArenaBlock(std::shared_ptr<comm::ArenaMemory> memory, std::span<std::byte> bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}

  std::shared_ptr<comm::ArenaMemory> memory_;
  std::span<std::byte> bytes_;
};

/// Memory that the other ranks on this host can read and write. It is a memory file without a name (memfd),
/// so nothing is left behind when the last process that maps it ends, however it ends.
///
/// Threads: every method from any thread.
/// Lifetime: one per process, for all generations; must outlive every communicator made with it.
/// Failure: allocate() returns kExhausted when the arena or the machine has no memory left. An allocated
/// block is backed by memory, so touching it cannot fail. The file is sealed: no peer can shrink it.
/// Cost: address space for the whole capacity, memory only for allocated blocks.
class Arena {
 public:
  static constexpr std::size_t kDefaultCapacity = std::size_t{8} << 30;

  static Result<std::unique_ptr<Arena>> create(std::size_t capacity_bytes = kDefaultCapacity);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Returns zeroed memory, aligned to 64 bytes, or to a page if `size_bytes` is at least a page.
  Result<ArenaBlock> allocate(std::size_t size_bytes);

  /// The offset of these bytes in the arena; nullopt if they are not in the arena.
  std::optional<std::uint64_t> offset_of(const void* memory, std::size_t size_bytes) const {
    const auto* first = static_cast<const std::byte*>(memory);
    if (first < data() || size_bytes > capacity_bytes()) return std::nullopt;
    const auto offset = static_cast<std::size_t>(first - data());
    if (offset > capacity_bytes() - size_bytes) return std::nullopt;
    return offset;
  }

  std::size_t capacity_bytes() const { return memory_->mapping().size_bytes(); }
  std::size_t allocated_bytes() const { return memory_->taken_bytes(); }
  const Descriptor& file() const { return memory_->file(); }
  std::byte* data() const { return memory_->mapping().data(); }
  comm::ArenaHeader& header() const { return *reinterpret_cast<comm::ArenaHeader*>(data()); }

  /// Keeps a block that other members may still read, until the next generation begins (see fence()).
  void retire(ArenaBlock block);
  /// Records that `process` maps this arena.
  void shared_with(pid_t process, Descriptor pidfd);
  /// Records that `process` promised not to touch this arena any more.
  void no_longer_shared_with(pid_t process);
  /// Prepares the arena for a new generation: kills every process that maps it and is not among `staying`,
  /// waits for its end, and frees all retired blocks. A process that was only frozen could otherwise wake up
  /// and write. kTimedOut if a process has not ended by `deadline`.
  Status fence(const std::vector<pid_t>& staying, TimePoint deadline);

 private:
  explicit Arena(std::shared_ptr<comm::ArenaMemory> memory) : memory_(std::move(memory)) {}

  struct Sharer {
    pid_t process;
    Descriptor pidfd;
  };

  const std::shared_ptr<comm::ArenaMemory> memory_;
  std::mutex mutex_;
  std::vector<Sharer> sharers_;
  std::vector<ArenaBlock> retired_;
};

}  // namespace cohort
