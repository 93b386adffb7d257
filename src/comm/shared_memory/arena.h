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

/// A memory file seen by this process: mapped whole, for as long as this lives.
class Mapping {
 public:
  /// Mappings of different `colour` lie at addresses whose lower bits differ, too. A core finds a line in its
  /// first-level cache by a few of those bits: loops over the same place in two arenas run at half the speed
  /// if they are equal.
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

/// The memory of an arena, and which of it is free. Blocks hold it: what lies in one is there as long as the
/// block is, whatever becomes of the arena.
///
/// Threads: every method from any thread.
class ArenaMemory {
 public:
  ArenaMemory(Descriptor file, Mapping mapping, std::uint64_t first_free);

  /// The bytes of a new block, zeroed.
  Result<std::span<std::byte>> take(std::size_t size_bytes);
  void give_back(std::span<std::byte> bytes);
  std::size_t taken_bytes() const;

  const Descriptor& file() const { return file_; }
  const Mapping& mapping() const { return mapping_; }

 private:
  const Descriptor file_;
  const Mapping mapping_;
  const ForkGuard guard_{mapping_.data(), mapping_.size_bytes(), file_.number()};
  // A process that inherited it by fork takes nothing and gives nothing back: it is in use elsewhere.
  const pid_t owner_ = ::getpid();
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  // offset → length of what is free; neighbours are joined
  std::size_t taken_bytes_ = 0;
};

}  // namespace comm

/// A piece of an arena, given back when it dies.
///
/// Threads: as its memory is used.
/// Lifetime: may outlive its arena, but no other rank reads it then.
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

/// Memory that the other members on this host can read and write: a memory file without a name, so that
/// nothing of it is left when the last process that maps it is gone, however that happens.
///
/// Threads: every method from any thread.
/// Lifetime: one per process, outlives generations; must outlive every communicator made with it.
/// Failure: allocate() says kExhausted when the arena or the machine has no more; memory that was given is
/// there, so touching it cannot fail. The file is sealed: no peer can cut it short under our feet.
/// Cost: address space for all of it, memory only for what is allocated.
class Arena {
 public:
  static constexpr std::size_t kDefaultCapacity = std::size_t{8} << 30;

  static Result<std::unique_ptr<Arena>> create(std::size_t capacity_bytes = kDefaultCapacity);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Zeroed memory on a boundary of 64 bytes, or of a page if it is that long.
  Result<ArenaBlock> allocate(std::size_t size_bytes);

  /// Where these bytes lie in the arena; nothing if they do not.
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

  /// Keeps a block that others may still read, until the arena serves a new generation.
  void retire(ArenaBlock block);
  /// Remembers a process that maps this arena.
  void shared_with(pid_t process, Descriptor pidfd);
  /// That process has said that it will not touch this arena any more.
  void no_longer_shared_with(pid_t process);
  /// Before the arena serves a new generation: what was retired is given back, and every process that mapped
  /// it and is not among `staying` is killed and its end waited for, because one that was only frozen could
  /// wake up and write. kTimedOut if it does not end by `deadline`.
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
