#include "data/slot_loader.h"

#include "base/check.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <cohort/error.h>
#include <fmt/format.h>

namespace cohort {

struct SlotLoader::Slot {
  enum class State { kWaiting, kLoading, kLoaded };

  SlotAddress address{};
  State state = State::kWaiting;
  Batch batch{};
  std::exception_ptr failure{};
};

namespace {

std::string text_of(const SlotAddress& address) {
  return fmt::format("slot {} of step {} in epoch {}", address.slot, address.step_in_epoch, address.epoch);
}

std::string text_of(const std::vector<std::int64_t>& samples) {
  constexpr std::size_t kMost = 8;
  std::string text = samples.size() == 1 ? "sample " : "samples ";
  for (std::size_t i = 0; i < std::min(samples.size(), kMost); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(samples[i]);
  }
  if (samples.size() > kMost) text += fmt::format(" and {} more", samples.size() - kMost);
  return text;
}

// Rethrows the current exception, with `context` around its text.
[[noreturn]] void rethrow_within(const std::string& context) {
  try {
    throw;
  } catch (const Error& error) {
    raise(error.within(context));
  } catch (const c10::Error& error) {
    raise(Error(ErrorCode::kIo, error.what_without_backtrace()).within(context));
  } catch (const std::exception& error) {
    raise(Error(ErrorCode::kIo, error.what()).within(context));
  } catch (...) {
    raise(Error(ErrorCode::kIo, "an exception that is not a std::exception").within(context));
  }
}

void check_rows(const Batch& batch, std::int64_t count) {
  for (const auto& [name, tensor] : batch.tensors()) {
    if (tensor.defined() && tensor.dim() >= 1 && tensor.size(0) == count) continue;
    throw UsageError(fmt::format(
        "the data set returned a batch in which the first dimension of '{}' is not {}, the number "
        "of samples",
        name, count));
  }
}

/// Measures the time since its construction.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock) : clock_(clock), start_(clock.now()) {}
  std::chrono::nanoseconds elapsed() const { return clock_.now() - start_; }

 private:
  const Clock& clock_;
  const TimePoint start_;
};

}  // namespace

SlotLoader::SlotLoader(std::shared_ptr<const Dataset> dataset, SampleOrder order, BatchPlan plan,
                       SlotLoaderOptions options)
    : dataset_(std::move(dataset)), order_(order), plan_(plan), options_(std::move(options)) {
  COHORT_CHECK(dataset_ != nullptr && options_.clock != nullptr);
  COHORT_CHECK_EQ(order_.num_samples(), plan_.num_samples());
  COHORT_CHECK_EQ(static_cast<std::uint64_t>(dataset_->size()), plan_.num_samples());
  COHORT_CHECK_GE(options_.threads, 0);
  COHORT_CHECK_GE(options_.depth, 1);
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
}

SlotLoader::~SlotLoader() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void SlotLoader::expect(std::vector<SlotAddress> upcoming) {
  {
    const std::lock_guard lock(mutex_);
    for (const SlotAddress& address : upcoming) {
      expected_.push_back(std::make_shared<Slot>());
      expected_.back()->address = address;
    }
  }
  changed_.notify_all();
}

void SlotLoader::forget() {
  const std::lock_guard lock(mutex_);
  expected_.clear();
}

// The first of the next `depth` slots that no thread has begun to load.
SlotLoader::SlotPointer SlotLoader::next_to_load() const {
  const std::size_t reach = std::min(expected_.size(), static_cast<std::size_t>(options_.depth));
  for (std::size_t i = 0; i < reach; ++i) {
    if (expected_[i]->state == Slot::State::kWaiting) return expected_[i];
  }
  return nullptr;
}

void SlotLoader::run() {
  const at::NoGradGuard no_grad;
  while (true) {
    SlotPointer slot;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || (slot = next_to_load()) != nullptr; });
      if (closed_) return;
      slot->state = Slot::State::kLoading;
    }
    load_and_keep(slot);
  }
}

void SlotLoader::load_and_keep(const SlotPointer& slot) {
  Batch batch;
  std::exception_ptr failure;
  try {
    batch = load(slot->address);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    slot->batch = std::move(batch);
    slot->failure = failure;
    slot->state = Slot::State::kLoaded;
  }
  changed_.notify_all();
}

// Takes the slot off the queue if it is the next one; otherwise makes a slot outside of the queue. The caller
// loads a slot that no thread has begun to load.
SlotLoader::SlotPointer SlotLoader::claim(const SlotAddress& address) {
  SlotPointer slot;
  {
    const std::lock_guard lock(mutex_);
    if (!expected_.empty() && expected_.front()->address == address) {
      slot = expected_.front();
      expected_.pop_front();
    } else {
      slot = std::make_shared<Slot>();
      slot->address = address;
    }
  }
  changed_.notify_all();
  return slot;
}

void SlotLoader::wait_for(const SlotPointer& slot) {
  {
    std::unique_lock lock(mutex_);
    if (slot->state != Slot::State::kWaiting) {
      const auto deadline = deadline_after(std::chrono::steady_clock::now(), options_.limit);
      const auto loaded = [&] { return slot->state == Slot::State::kLoaded; };
      if (changed_.wait_until(lock, deadline, loaded)) return;
      raise(Error(ErrorCode::kTimedOut,
                  fmt::format("{} ({}) are still being loaded after {} s", text_of(samples_of(slot->address)),
                              text_of(slot->address), std::chrono::duration<double>(options_.limit).count()))
                .with_remedy("Look at what the data set waits for: a disk, a network, a lock."));
    }
    slot->state = Slot::State::kLoading;
  }
  const at::NoGradGuard no_grad;
  load_and_keep(slot);
}

Batch SlotLoader::take(const SlotAddress& address) {
  const Stopwatch stopwatch(*options_.clock);
  const SlotPointer slot = claim(address);
  wait_for(slot);
  {
    const std::lock_guard lock(mutex_);
    stall_ += stopwatch.elapsed();
  }
  if (slot->failure) std::rethrow_exception(slot->failure);
  return std::move(slot->batch);
}

std::chrono::nanoseconds SlotLoader::stall() const {
  const std::lock_guard lock(mutex_);
  return stall_;
}

int SlotLoader::ready() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count_if(expected_.begin(), expected_.end(), [](const auto& slot) {
    return slot->state == Slot::State::kLoaded;
  }));
}

std::vector<std::int64_t> SlotLoader::samples_of(const SlotAddress& address) const {
  const IndexRange range = plan_.indices(address);
  std::vector<std::int64_t> samples;
  samples.reserve(range.count());
  for (std::uint64_t index = range.first; index < range.last; ++index) {
    samples.push_back(static_cast<std::int64_t>(order_.at(address.epoch, index)));
  }
  return samples;
}

Batch SlotLoader::load(const SlotAddress& address) const {
  std::vector<std::int64_t> samples = samples_of(address);
  if (samples.empty()) return {};
  return batch_of(std::move(samples), address.epoch, text_of(address));
}

Batch SlotLoader::any_sample(std::uint64_t epoch) const {
  const at::NoGradGuard no_grad;
  return batch_of({0}, epoch, "for a rank without samples");
}

Batch SlotLoader::batch_of(std::vector<std::int64_t> samples, std::uint64_t epoch,
                           const std::string& where) const {
  try {
    Batch batch = dataset_->batch(samples, {.seed = options_.seed, .epoch = epoch + 1});
    check_rows(batch, static_cast<std::int64_t>(samples.size()));
    batch.samples = std::move(samples);
    return batch;
  } catch (...) {
    rethrow_within(fmt::format("cannot load {} ({})", text_of(samples), where));
  }
}

}  // namespace cohort
