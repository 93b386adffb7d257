#include "bench/start_gate.h"

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/system_error.h"

#include <atomic>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cohort::tool {

// A file of zeros is a new gate.
struct StartGate::Shared {
  std::atomic<std::uint32_t> arrived;
  alignas(128) std::atomic<std::uint32_t> opened;
};

void StartGate::Unmap::operator()(Shared* shared) const {
  ::munmap(shared, sizeof(Shared));
}

Result<StartGate> StartGate::open(const std::string& file, int processes) {
  const Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!descriptor.is_open()) return system_error(fmt::format("cannot open '{}'", file), errno);
  if (::ftruncate(descriptor.number(), sizeof(Shared)) != 0) {
    return system_error(fmt::format("cannot set the size of '{}'", file), errno);
  }
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.number(), 0);
  if (memory == MAP_FAILED) return system_error(fmt::format("cannot map '{}'", file), errno);
  return StartGate(static_cast<Shared*>(memory), processes);
}

Status StartGate::pass(std::chrono::nanoseconds limit) {
  constexpr int kSpins = 1000;
  const std::uint32_t before = shared_->opened.load(std::memory_order_acquire);
  if (shared_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      static_cast<std::uint32_t>(processes_)) {
    shared_->arrived.store(0, std::memory_order_relaxed);
    shared_->opened.store(before + 1, std::memory_order_release);
    return {};
  }
  const TimePoint deadline = deadline_after(std::chrono::steady_clock::now(), limit);
  for (int turn = 0; shared_->opened.load(std::memory_order_acquire) == before; ++turn) {
    if (turn < kSpins) continue;
    ::sched_yield();
    if (std::chrono::steady_clock::now() < deadline) continue;
    return Error(ErrorCode::kTimedOut, "another rank did not arrive at the barrier");
  }
  return {};
}

}  // namespace cohort::tool
