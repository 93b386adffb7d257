#pragma once

#include "comm/progress/progress.h"
#include "comm/shared_memory/layout.h"

namespace cohort::comm {

/// Registers this process with membarrier(), so that a peer can force a memory barrier on its threads; false
/// if the kernel cannot. A publisher then needs no barrier of its own before it looks for sleepers: the
/// sleeper forces one on every core.
bool allow_barriers();

/// Rings: changes the doorbell and wakes every thread that sleeps at it, in any process.
void ring_now(ArenaHeader& header);

/// Rings only if a thread sleeps at the doorbell of `header`. Called after publishing a value that the owner
/// of `header` may wait for; the caller must have passed a sequentially consistent fence since.
inline void ring_if_asleep(ArenaHeader& header) {
  if (header.sleepers.load(std::memory_order_relaxed) != 0) ring_now(header);
}

/// The doorbell in this process's arena, a futex that other processes ring.
///
/// Threads: as every Doorbell; other processes ring it, too.
/// Lifetime: the arena must outlive it.
class ArenaDoorbell final : public Doorbell {
 public:
  explicit ArenaDoorbell(ArenaHeader& header) : header_(header) {}

  std::uint32_t arm() override;
  void sleep(std::uint32_t ticket, TimePoint until) override;
  void disarm() override;
  void ring() override { ring_now(header_); }

 private:
  ArenaHeader& header_;
};

}  // namespace cohort::comm
