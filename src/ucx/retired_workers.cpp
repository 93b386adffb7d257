#include "ucx/worker.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>

// UCX 1.13 aborts a process that answers a connection and finds the other end gone (openucx/ucx#8175). A
// worker that still exists, even if nothing progresses it, is enough to avoid that.

namespace cohort::ucx {
namespace {

using std::chrono::steady_clock;

// The longest time that a peer may take to answer a connection: its cores may be busy.
constexpr std::chrono::seconds kRest(5);

struct Retired {
  UcxLibrary library;
  ucp_worker_h worker = nullptr;
  ucp_context_h context = nullptr;
  steady_clock::time_point since{};
};

struct Home {
  std::mutex mutex;
  std::deque<Retired> workers;  // oldest first
};

// Called with the mutex held.
void destroy_those_before(std::deque<Retired>& workers, steady_clock::time_point time) {
  for (; !workers.empty() && workers.front().since < time; workers.pop_front()) {
    const Retired& first = workers.front();
    first.library.ucp_worker_destroy(first.worker);
    first.library.ucp_cleanup(first.context);
  }
}

void destroy_all();

// Never destroyed itself: workers may retire while the process exits.
Home& home() {
  static Home& only = []() -> Home& {
    std::atexit(&destroy_all);
    return *new Home;
  }();
  return only;
}

void destroy_all() {
  const std::lock_guard lock(home().mutex);
  destroy_those_before(home().workers, steady_clock::time_point::max());
}

}  // namespace

void retire(const UcxLibrary& library, ucp_worker_h worker, ucp_context_h context) {
  const auto now = steady_clock::now();
  const std::lock_guard lock(home().mutex);
  std::deque<Retired>& workers = home().workers;
  workers.push_back({library, worker, context, now});
  destroy_those_before(workers, now - kRest);
}

}  // namespace cohort::ucx
