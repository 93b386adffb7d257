#include "callbacks.h"

#include <chrono>
#include <memory>

namespace cohort::c10d_plugin {
namespace {

// A callback may wait for another callback, so each runs on a thread of its own.
constexpr int kMostThreads = 1024;
constexpr std::chrono::seconds kDrainLimit{5};

}  // namespace

Callbacks::Callbacks() : pool_({.running_cap = kMostThreads, .thread_cap = kMostThreads}) {}

Callbacks& Callbacks::of_process() {
  static auto* const callbacks = new Callbacks;
  return *callbacks;
}

void Callbacks::add(std::function<void()> job) {
  open_.begin();
  if (is_drained_) {
    new auto(std::move(job));  // leaked: its destructor may need the GIL
    return open_.end();
  }
  pool_.add({.run = [this, kept = std::make_shared<std::function<void()>>(std::move(job))] {
    (*kept)();
    *kept = nullptr;
    open_.end();
  }});
}

void Callbacks::drain() {
  is_drained_ = true;
  if (!home_.is_here()) return;
  open_.wait_for_none(kDrainLimit);
}

}  // namespace cohort::c10d_plugin
