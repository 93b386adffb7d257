#pragma once

#include "comm/progress.h"
#include "comm/shared_memory/layout.h"

namespace cohort::comm {

/// Asks the kernel to make threads of this process pass a memory barrier whenever a peer wants it; false if
/// it cannot. With it, whoever publishes needs no barrier of its own before it looks for sleepers: the
/// sleeper makes one for everybody.
bool allow_barriers();

/// Changes the bell and wakes whoever sleeps at it, in any process.
void ring_now(ArenaHeader& header);

/// After something was published that the owner of `header` may wait for: rings only if somebody sleeps
/// there. The caller has passed a sequentially consistent fence since it published.
inline void ring_if_asleep(ArenaHeader& header) {
  if (header.sleepers.load(std::memory_order_relaxed) != 0) ring_now(header);
}

/// The bell of this process's arena: other processes ring it. A futex.
///
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
