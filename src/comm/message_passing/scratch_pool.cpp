#include "comm/message_passing/scratch_pool.h"

#include <algorithm>
#include <utility>

namespace cohort::comm {
namespace {

constexpr std::size_t kGrain = std::size_t{64} << 10;
// A kept piece is reused if it is at most this many times as long as requested.
constexpr std::size_t kMostWaste = 4;

}  // namespace

ScratchPool::Scratch& ScratchPool::Scratch::operator=(Scratch&& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

ScratchPool::Scratch::~Scratch() {
  if (pool_ && bytes_) pool_->give_back({std::move(bytes_), capacity_});
}

ScratchPool::Scratch ScratchPool::take(std::size_t size_bytes) {
  Scratch scratch;
  if (size_bytes == 0) return scratch;
  scratch.pool_ = shared_from_this();
  scratch.size_ = size_bytes;
  {
    const std::lock_guard lock(mutex_);
    auto best = kept_.end();
    for (auto piece = kept_.begin(); piece != kept_.end(); ++piece) {
      const bool fits =
          piece->capacity >= size_bytes && piece->capacity <= std::max(kGrain, kMostWaste * size_bytes);
      if (fits && (best == kept_.end() || piece->capacity < best->capacity)) best = piece;
    }
    if (best != kept_.end()) {
      scratch.bytes_ = std::move(best->bytes);
      scratch.capacity_ = best->capacity;
      num_kept_bytes_ -= best->capacity;
      kept_.erase(best);
      return scratch;
    }
  }
  scratch.capacity_ = (size_bytes + kGrain - 1) / kGrain * kGrain;
  scratch.bytes_ = std::make_unique_for_overwrite<std::byte[]>(scratch.capacity_);
  return scratch;
}

// The piece that came back last is the likeliest to be reused: older pieces are freed for it.
void ScratchPool::give_back(Piece piece) {
  std::vector<Piece> gone;  // freed without the lock
  const std::lock_guard lock(mutex_);
  if (piece.capacity > kKeptBytes) return gone.push_back(std::move(piece));
  num_kept_bytes_ += piece.capacity;
  kept_.push_back(std::move(piece));
  while (num_kept_bytes_ > kKeptBytes) {
    num_kept_bytes_ -= kept_.front().capacity;
    gone.push_back(std::move(kept_.front()));
    kept_.erase(kept_.begin());
  }
}

std::size_t ScratchPool::num_kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return num_kept_bytes_;
}

}  // namespace cohort::comm
