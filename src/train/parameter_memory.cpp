#include "train/parameter_memory.h"

#include <utility>

namespace cohort::train {
namespace {

ArenaBlock allocate(Arena& arena, std::size_t size_bytes) {
  return value_or_throw(
      arena.allocate(size_bytes).within("no room for the parameters in the shared memory of this rank"));
}

}  // namespace

ParameterMemory::ParameterMemory(const Company& groups, Arena& arena, std::size_t size_bytes, Sharing sharing)
    : near_(groups.near()), arena_(&arena) {
  if (sharing == Sharing::kWherePossible && near_ != nullptr) {
    if (near_->rank() == 0) block_ = allocate(arena, size_bytes);
    data_ = value_or_throw(near_->see(0, block_.bytes()));
    is_common_ = data_ != nullptr;
    if (is_common_) return;
  }
  if (block_.bytes().empty()) block_ = allocate(arena, size_bytes);
  data_ = block_.bytes().data();
}

ParameterMemory::ParameterMemory(ParameterMemory&& other) noexcept
    : near_(other.near_),
      arena_(other.arena_),
      block_(std::move(other.block_)),
      data_(std::exchange(other.data_, nullptr)),
      is_common_(std::exchange(other.is_common_, false)) {}

ParameterMemory& ParameterMemory::operator=(ParameterMemory&& other) noexcept {
  std::swap(near_, other.near_);
  std::swap(arena_, other.arena_);
  std::swap(block_, other.block_);
  std::swap(data_, other.data_);
  std::swap(is_common_, other.is_common_);
  return *this;
}

ParameterMemory::~ParameterMemory() {
  if (is_common_ && !block_.bytes().empty()) arena_->retire(std::move(block_));
}

void ParameterMemory::settle() {
  if (is_common_) value_or_throw(near_->run(barrier()));
}

void ParameterMemory::give_back() {
  block_ = ArenaBlock();
  data_ = nullptr;
  is_common_ = false;
}

}  // namespace cohort::train
