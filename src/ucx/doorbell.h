#pragma once

#include "base/descriptor.h"
#include "comm/progress/progress.h"
#include "ucx/worker.h"

#include <atomic>

namespace cohort::ucx {

/// A doorbell that messages of a UCX worker ring, too.
///
/// Threads: as every Doorbell.
/// Lifetime: shares the worker.
/// Failure: after the worker was destroyed, only ring() rings it.
class UcxDoorbell final : public comm::Doorbell {
 public:
  explicit UcxDoorbell(std::shared_ptr<UcxWorker> worker);

  std::uint32_t arm() override;
  void sleep(std::uint32_t ticket, TimePoint until) override;
  void disarm() override;
  void ring() override;

 private:
  const std::shared_ptr<UcxWorker> worker_;
  Descriptor bell_;
  std::atomic<std::uint32_t> rings_ = 0;
  std::atomic<std::uint32_t> sleepers_ = 0;
};

}  // namespace cohort::ucx
