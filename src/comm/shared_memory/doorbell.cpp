#include "comm/shared_memory/doorbell.h"

#include <algorithm>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cohort::comm {
namespace {

// The longest sleep without a check. A peer that died before it rang costs at most this much.
constexpr std::chrono::milliseconds kLongestNap(50);

std::uint32_t* word_of(std::atomic<std::uint32_t>& bell) {
  static_assert(sizeof(bell) == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  return reinterpret_cast<std::uint32_t*>(&bell);
}

}  // namespace

bool allow_barriers() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void ring_now(ArenaHeader& header) {
  header.doorbell.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, word_of(header.doorbell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

std::uint32_t ArenaDoorbell::arm() {
  header_.sleepers.fetch_add(1, std::memory_order_seq_cst);
  // After this barrier, either a peer sees the sleeper, or the sleeper's next check sees the value that the
  // peer published before.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (header_.passes_barriers != 0) ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  return header_.doorbell.load(std::memory_order_seq_cst);
}

void ArenaDoorbell::sleep(std::uint32_t ticket, TimePoint until) {
  const TimePoint now = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds nap = std::min<std::chrono::nanoseconds>(until - now, kLongestNap);
  if (nap <= std::chrono::nanoseconds::zero()) return;
  const timespec limit{.tv_sec = 0, .tv_nsec = static_cast<long>(nap.count())};
  ::syscall(SYS_futex, word_of(header_.doorbell), FUTEX_WAIT, ticket, &limit, nullptr, 0);
}

void ArenaDoorbell::disarm() {
  header_.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace cohort::comm
