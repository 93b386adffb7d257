#include "copies/area.h"

#include "comm/shared_memory/layout.h"

#include <atomic>

namespace cohort::copies {

// A process that was killed leaves the stores of the instructions before the kill and no others, so the order
// of the program is all that its readers rely on: signal fences keep it.
struct Area::Seal {
  std::atomic<std::uint64_t> key;  // 0: broken
  std::atomic<std::int64_t> version;
};

namespace {

constexpr std::size_t kSealBytes = 16;

std::size_t bytes_of_seals(std::size_t num_parcels) {
  constexpr std::size_t kLine = comm::kCacheLine;
  return (kNumSlots * num_parcels * kSealBytes + kLine - 1) / kLine * kLine;
}

}  // namespace

std::size_t Area::size_bytes(const AreaPlan& plan) {
  return bytes_of_seals(plan.parcels.size()) + kNumSlots * plan.slot_bytes;
}

Area::Area(std::byte* memory, const AreaPlan& plan)
    : memory_(memory), num_parcels_(plan.parcels.size()), slot_bytes_(plan.slot_bytes) {
  static_assert(sizeof(Seal) == kSealBytes);
}

Area::Seal& Area::seal(std::size_t slot, std::size_t parcel) const {
  return reinterpret_cast<Seal*>(memory_)[slot * num_parcels_ + parcel];
}

void Area::break_seal(std::size_t slot, std::size_t parcel) {
  seal(slot, parcel).key.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void Area::set_seal(std::size_t slot, std::size_t parcel, const Stamp& stamp) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  seal(slot, parcel).version.store(stamp.version, std::memory_order_relaxed);
  seal(slot, parcel).key.store(stamp.key, std::memory_order_release);
}

std::optional<Stamp> Area::stamp_of(std::size_t slot, std::size_t parcel) const {
  const std::uint64_t key = seal(slot, parcel).key.load(std::memory_order_acquire);
  if (key == 0) return std::nullopt;
  return Stamp{.key = key, .version = seal(slot, parcel).version.load(std::memory_order_relaxed)};
}

std::byte* Area::at(std::size_t slot, std::size_t offset) const {
  return memory_ + bytes_of_seals(num_parcels_) + slot * slot_bytes_ + offset;
}

}  // namespace cohort::copies
