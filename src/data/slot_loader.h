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
  int threads = 1;         ///< threads that load ahead; 0: take() loads
  int depth = 4;           ///< most slots that are loaded, or being loaded, ahead of take()
  std::uint64_t seed = 0;  ///< of the draws
  /// The timeout of take() for a slot that a thread is loading.
  std::chrono::nanoseconds limit = std::chrono::minutes(10);
  std::shared_ptr<Clock> clock = std::make_shared<RealClock>();  ///< for stall()
};

/// Loads the batches of slots, ahead of time for slots that were announced. Samples are those of the draw of
/// their epoch.
///
///     loader.expect(slots_of_the_next_steps);
///     const Batch batch = loader.take(address);
///
/// Threads: expect(), forget(), take() by one thread at a time; stall() from any.
/// Lifetime: the destructor waits for the slots that are being loaded, and joins the threads.
/// Failure: take() throws what loading the slot threw, with the numbers of the samples: an Error keeps its
/// code, any other exception becomes kIo with its text; kTimedOut after `limit`. Later slots are not
/// affected.
/// Cost: memory for depth + 1 batches.
class SlotLoader {
 public:
  SlotLoader(std::shared_ptr<const Dataset> dataset, SampleOrder order, BatchPlan plan,
             SlotLoaderOptions options = {});
  ~SlotLoader();
  SlotLoader(const SlotLoader&) = delete;
  SlotLoader& operator=(const SlotLoader&) = delete;

  /// Announces slots, in the order of their take(), after those announced before.
  void expect(std::vector<SlotAddress> upcoming);
  /// Forgets all announced slots that were not taken.
  void forget();
  /// The batch of any slot. The next announced slot has been loaded ahead; any other slot is loaded by the
  /// caller, and announced slots stay announced. A slot without samples is a batch without tensors.
  Batch take(const SlotAddress& address);
  /// A batch of one sample, loaded by the caller.
  Batch any_sample(std::uint64_t epoch) const;
  /// The total time spent in take().
  std::chrono::nanoseconds stall() const;
  /// The number of loaded slots that were not taken.
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
  Batch batch_of(std::vector<std::int64_t> samples, std::uint64_t epoch, const std::string& where) const;

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
