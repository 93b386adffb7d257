#include "checkpoint/staging.h"

#include "base/units.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <utility>

namespace cohort::checkpoint {

// Pages of two megabytes, where the system has them, make both the first touch and the copy cheaper.
Result<Staging> Staging::make(std::size_t size_bytes) {
  if (size_bytes == 0) return Staging();
  void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error(ErrorCode::kExhausted,
                 fmt::format("no memory for a copy of {} of the state", format_bytes(size_bytes)))
        .with_remedy("Write checkpoints while training waits: checkpoint.background = false.");
  }
  madvise(memory, size_bytes, MADV_HUGEPAGE);
  madvise(memory, size_bytes, MADV_POPULATE_WRITE);
  return Staging({static_cast<std::byte*>(memory), size_bytes});
}

Staging::~Staging() {
  release();
}

Staging::Staging(Staging&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Staging& Staging::operator=(Staging&& other) noexcept {
  if (this != &other) {
    release();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void Staging::release() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

}  // namespace cohort::checkpoint
