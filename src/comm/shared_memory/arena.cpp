#include "comm/shared_memory/arena.h"

#include "base/system_error.h"
#include "base/units.h"
#include "comm/shared_memory/doorbell.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/falloc.h>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cohort {
namespace comm {
namespace {

// A stride of 37 pages: the lower address bits of any two colours differ in more than one bit.
constexpr std::size_t kColourStride = std::size_t{37} * 4096;
constexpr std::size_t kColours = 256;

constexpr std::size_t kPage = 4096;

std::size_t rounded_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Result<Mapping> Mapping::of(const Descriptor& file, std::size_t size_bytes, int colour) {
  // Reserves more addresses than needed, maps the file at the address of its colour, and unmaps the rest.
  const std::size_t room_bytes = size_bytes + kColours * kColourStride;
  void* room = ::mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return system_error("cannot reserve addresses for shared memory", errno);
  auto* first = static_cast<std::byte*>(room);
  auto* data = first + static_cast<std::size_t>(colour) % kColours * kColourStride;
  constexpr int kFlags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  if (::mmap(data, size_bytes, PROT_READ | PROT_WRITE, kFlags, file.number(), 0) == MAP_FAILED) {
    const Error error = system_error("cannot map shared memory", errno);
    ::munmap(room, room_bytes);
    return error;
  }
  if (data > first) ::munmap(first, static_cast<std::size_t>(data - first));
  std::byte* behind = data + size_bytes;
  ::munmap(behind, static_cast<std::size_t>(first + room_bytes - behind));
  ::madvise(data, size_bytes, MADV_DONTDUMP);
  return Mapping(data, size_bytes);
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

ArenaMemory::ArenaMemory(Descriptor file, Mapping mapping, std::uint64_t first_free)
    : file_(std::move(file)), mapping_(std::move(mapping)) {
  free_.emplace(first_free, mapping_.size_bytes() - first_free);
}

Result<std::span<std::byte>> ArenaMemory::take(std::size_t size_bytes) {
  if (::getpid() != owner_) {
    return Error(ErrorCode::kUsage,
                 "an arena was used in a forked child; only the process that made it can allocate");
  }
  const std::size_t boundary = size_bytes >= kPage ? kPage : kCacheLine;
  // Clamped so that rounding up cannot overflow; the clamped size does not fit either.
  const std::size_t wanted = std::min(size_bytes, mapping_.size_bytes() + kPage);
  const std::size_t length = std::max(rounded_up(wanted, boundary), kCacheLine);
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [offset, free_length] = *it;
    const std::uint64_t first = rounded_up(offset, boundary);
    if (first + length > offset + free_length) continue;
    if (::fallocate(file_.number(), 0, static_cast<off_t>(first), static_cast<off_t>(length)) != 0) {
      return system_error("cannot allocate " + format_bytes(length) + " of shared memory", errno);
    }
    free_.erase(it);
    if (first > offset) free_.emplace(offset, first - offset);
    if (first + length < offset + free_length) {
      free_.emplace(first + length, offset + free_length - first - length);
    }
    taken_bytes_ += length;
    std::memset(mapping_.data() + first, 0, length);
    return std::span(mapping_.data() + first, length);
  }
  return Error(ErrorCode::kExhausted, "the arena has no free block of " + format_bytes(length) +
                                          " (capacity " + format_bytes(mapping_.size_bytes()) + ", in use " +
                                          format_bytes(taken_bytes_) + ")")
      .with_remedy("Make the arena larger: ContextOptions::arena_bytes.");
}

void ArenaMemory::give_back(std::span<std::byte> bytes) {
  if (::getpid() != owner_) return;
  const auto first = static_cast<std::uint64_t>(bytes.data() - mapping_.data());
  const std::lock_guard lock(mutex_);
  taken_bytes_ -= bytes.size();
  // Whole pages are returned to the kernel.
  const std::uint64_t page_first = rounded_up(first, kPage);
  const std::uint64_t page_last = (first + bytes.size()) / kPage * kPage;
  if (page_last > page_first) {
    ::fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(page_first),
                static_cast<off_t>(page_last - page_first));
  }
  auto [it, unused] = free_.emplace(first, bytes.size());
  if (auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it != free_.begin()) {
    if (auto previous = std::prev(it); previous->first + previous->second == it->first) {
      previous->second += it->second;
      free_.erase(it);
    }
  }
}

std::size_t ArenaMemory::taken_bytes() const {
  const std::lock_guard lock(mutex_);
  return taken_bytes_;
}

}  // namespace comm

namespace {

using comm::kPage;

Status kill_and_wait(pid_t process, const Descriptor& pidfd, TimePoint deadline) {
  // A pidfd cannot hit another process that was given the same process id since.
  if (::syscall(SYS_pidfd_send_signal, pidfd.number(), SIGKILL, nullptr, 0) != 0 && errno != ESRCH) {
    return system_error("cannot kill process " + std::to_string(process) + " of an earlier generation",
                        errno);
  }
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd wanted{.fd = pidfd.number(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000)));
    if (ready > 0) return {};
    if (left.count() <= 0) {
      return Error(ErrorCode::kTimedOut, "process " + std::to_string(process) +
                                             " of an earlier generation was killed but has not ended")
          .with_remedy(
              "The process may be stuck in the kernel. Its shared memory can be used again once it has "
              "ended.");
    }
  }
}

}  // namespace

ArenaBlock::~ArenaBlock() {
  if (memory_ != nullptr) memory_->give_back(bytes_);
}

ArenaBlock::ArenaBlock(ArenaBlock&& other) noexcept
    : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, {})) {}

ArenaBlock& ArenaBlock::operator=(ArenaBlock&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::uint64_t ArenaBlock::offset() const {
  return static_cast<std::uint64_t>(bytes_.data() - memory_->mapping().data());
}

Result<std::unique_ptr<Arena>> Arena::create(std::size_t capacity_bytes) {
  const std::size_t capacity = std::max(comm::rounded_up(capacity_bytes, kPage), 2 * kPage);
  Descriptor file(::memfd_create("cohort-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) return system_error("cannot create shared memory (memfd_create)", errno);
  if (::ftruncate(file.number(), static_cast<off_t>(capacity)) != 0) {
    return system_error("cannot set the size of shared memory to " + format_bytes(capacity), errno);
  }
  if (::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_error("cannot seal shared memory", errno);
  }
  COHORT_ASSIGN_OR_RETURN(comm::Mapping mapping, comm::Mapping::of(file, capacity, 0));
  static_assert(sizeof(comm::ArenaHeader) <= kPage);
  std::unique_ptr<Arena> arena(
      new Arena(std::make_shared<comm::ArenaMemory>(std::move(file), std::move(mapping), kPage)));
  auto* header = new (arena->data()) comm::ArenaHeader;
  header->passes_barriers = comm::allow_barriers() ? 1 : 0;
  return arena;
}

Arena::~Arena() {
  // Retired blocks are not given back: other members may still read them. The kernel frees the file when the
  // last process unmaps it.
  for (ArenaBlock& block : retired_) block.memory_ = nullptr;
}

Result<ArenaBlock> Arena::allocate(std::size_t size_bytes) {
  COHORT_ASSIGN_OR_RETURN(const std::span<std::byte> bytes, memory_->take(size_bytes));
  return ArenaBlock(memory_, bytes);
}

void Arena::shared_with(pid_t process, Descriptor pidfd) {
  const std::lock_guard lock(mutex_);
  for (Sharer& sharer : sharers_) {
    if (sharer.process == process) {
      sharer.pidfd = std::move(pidfd);  // the process id was reused: the earlier process has ended
      return;
    }
  }
  sharers_.push_back({process, std::move(pidfd)});
}

void Arena::retire(ArenaBlock block) {
  const std::lock_guard lock(mutex_);
  retired_.push_back(std::move(block));
}

Status Arena::fence(const std::vector<pid_t>& staying, TimePoint deadline) {
  std::vector<ArenaBlock> retired;  // freed after the lock is released
  const std::lock_guard lock(mutex_);
  for (auto it = sharers_.begin(); it != sharers_.end();) {
    if (std::find(staying.begin(), staying.end(), it->process) != staying.end()) {
      ++it;
      continue;
    }
    COHORT_RETURN_IF_ERROR(kill_and_wait(it->process, it->pidfd, deadline));
    it = sharers_.erase(it);
  }
  retired.swap(retired_);
  return {};
}

void Arena::no_longer_shared_with(pid_t process) {
  const std::lock_guard lock(mutex_);
  std::erase_if(sharers_, [&](const Sharer& sharer) { return sharer.process == process; });
}

}  // namespace cohort
