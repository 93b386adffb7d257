#pragma once

#include <cohort/dataset.h>

#include "base/clock.h"
#include "layout/batch_plan.h"
#include "layout/sample_order.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cohort {

struct SlotLoaderOptions {
  int threads = 1;  ///< that load ahead; with none, take() loads
  int depth = 4;    ///< how many slots may be loaded, or under way, ahead of take()
  /// How long take() waits for a slot that a thread loads.
  std::chrono::nanoseconds limit = std::chrono::minutes(10);
  std::shared_ptr<Clock> clock = std::make_shared<RealClock>();  ///< for stall()
};

/// Fetches the samples of slots, ahead of time where it is told which will be wanted.
///
///     loader.expect(slots_of_the_next_steps);
///     const Batch batch = loader.take(address);
///
/// Threads: expect(), forget(), take() by one thread at a time; stall() from any.
/// Lifetime: the destructor waits for what its threads load at that moment, and joins them.
/// Failure: take() throws what loading the slot threw, with the numbers of the samples: an Error keeps its
/// code, any other exception becomes kIo around its words; kTimedOut after `limit`. Later slots are not
/// affected. Cost: memory for depth + 1 batches.
class SlotLoader {
 public:
  SlotLoader(std::shared_ptr<const Dataset> dataset, SampleOrder order, BatchPlan plan,
             SlotLoaderOptions options = {});
  ~SlotLoader();
  SlotLoader(const SlotLoader&) = delete;
  SlotLoader& operator=(const SlotLoader&) = delete;

  /// These will be asked for, in this order, after what was said before.
  void expect(std::vector<SlotAddress> upcoming);
  /// What was expected and not yet taken will not be asked for.
  void forget();
  /// The samples of any slot. The next expected one comes from those loaded ahead; another is fetched at
  /// once, and what was expected stays so. A slot without samples is a batch without tensors.
  Batch take(const SlotAddress& address);
  /// How long take() has kept its callers, in all.
  std::chrono::nanoseconds stall() const;
  /// How many slots lie ready to be taken now.
  int ready() const;

 private:
  struct Slot;
  using SlotPointer = std::shared_ptr<Slot>;

  void run();
  SlotPointer next_to_load() const;  // with the lock held
  void load_and_keep(const SlotPointer& slot);
  SlotPointer claim(const SlotAddress& address);
  void wait_for(const SlotPointer& slot);
  std::vector<std::int64_t> samples_of(const SlotAddress& address) const;
  Batch load(const SlotAddress& address) const;

  const std::shared_ptr<const Dataset> dataset_;
  const SampleOrder order_;
  const BatchPlan plan_;
  const SlotLoaderOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  std::deque<SlotPointer> expected_;
  std::chrono::nanoseconds stall_{0};
  std::vector<std::thread> threads_;
};

}  // namespace cohort
