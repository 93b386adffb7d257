#include "train/gradient_pool.h"

#include <ATen/ATen.h>
#include <atomic>
#include <c10/core/CPUAllocator.h>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace cohort::train {

struct GradientPool::Blocks {
  Blocks(Arena& in, std::size_t padding) : arena(in), padding_bytes(padding) {}

  Arena& arena;
  const std::size_t padding_bytes;
  std::mutex mutex;
  std::vector<std::unique_ptr<ArenaBlock>> all;
  std::map<std::size_t, std::vector<ArenaBlock*>> free;  // by the size that was asked for
  std::size_t held_bytes = 0;

  ArenaBlock* take(std::size_t size_bytes) {
    const std::lock_guard lock(mutex);
    auto& unused = free[size_bytes];
    if (!unused.empty()) {
      ArenaBlock* block = unused.back();
      unused.pop_back();
      return block;
    }
    Result<ArenaBlock> fresh = arena.allocate(size_bytes + padding_bytes);
    if (!fresh) return nullptr;
    held_bytes += fresh->bytes().size();
    all.push_back(std::make_unique<ArenaBlock>(std::move(*fresh)));
    return all.back().get();
  }

  void give_back(ArenaBlock* block, std::size_t size_bytes) {
    const std::lock_guard lock(mutex);
    free[size_bytes].push_back(block);
  }
};

/// One tensor's use of a block. torch frees memory by its address alone, so all leases of the process are
/// found by address.
struct GradientPool::Lease {
  std::shared_ptr<Blocks> blocks;
  ArenaBlock* block;
  std::size_t size_bytes;

  static void begin(const Lease& lease) {
    const std::lock_guard lock(mutex());
    all().emplace(lease.block->bytes().data(), lease);
  }
  /// False if no lease has this address.
  static bool end(void* data) {
    std::unique_lock lock(mutex());
    const auto found = all().find(data);
    if (found == all().end()) return false;
    const Lease ended = std::move(found->second);
    all().erase(found);
    lock.unlock();
    ended.blocks->give_back(ended.block, ended.size_bytes);
    return true;
  }

 private:
  // Never destroyed: tensors may outlive every other static object.
  static std::mutex& mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
  }
  static std::unordered_map<const void*, Lease>& all() {
    static auto* const leases = new std::unordered_map<const void*, Lease>;
    return *leases;
  }
};

namespace {

// torch's allocator interface passes no context, so the pool of a thread is a thread-local variable.
thread_local std::shared_ptr<GradientPool::Turn> turn_of_thread;

}  // namespace

struct GradientPool::Turn {
  explicit Turn(GradientPool* of) : pool(of) {}
  std::atomic<GradientPool*> pool;  // null when it is over
};

/// The allocator of torch in this process: serves from the pool of the calling thread, or from torch's own
/// allocator.
class ArenaAllocator final : public c10::Allocator {
 public:
  static void install() {
    static auto* const allocator = new ArenaAllocator;  // tensors may outlive every other static object
    static const bool installed = (c10::SetCPUAllocator(allocator, /*priority=*/1), true);
    (void)installed;
  }

  c10::DataPtr allocate(std::size_t size_bytes) override {
    GradientPool* const pool = turn_of_thread ? turn_of_thread->pool.load() : nullptr;
    if (pool != nullptr) {
      c10::DataPtr memory = pool->allocate(size_bytes);
      if (memory) return memory;
    }
    return own_.allocate(size_bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  static void free(void* data) {
    if (!GradientPool::Lease::end(data)) c10::GetDefaultCPUAllocator()->raw_deleter()(data);
  }

 private:
  c10::Allocator& own_ = *c10::GetDefaultCPUAllocator();
};

GradientPool::GradientPool(Arena& arena, std::set<std::size_t> sizes, std::size_t padding_bytes)
    : sizes_(std::move(sizes)), blocks_(std::make_shared<Blocks>(arena, padding_bytes)) {
  ArenaAllocator::install();
}

GradientPool::~GradientPool() = default;

c10::DataPtr GradientPool::allocate(std::size_t size_bytes) {
  if (sizes_.count(size_bytes) == 0) return {};
  ArenaBlock* block = blocks_->take(size_bytes);
  if (block == nullptr) return {};
  Lease::begin({blocks_, block, size_bytes});
  void* const data = block->bytes().data();
  return {data, data, &ArenaAllocator::free, c10::Device(c10::kCPU)};
}

at::Tensor GradientPool::tensor_like(const at::Tensor& other, at::ScalarType type) {
  const Use use(this);
  at::Tensor tensor =
      at::empty_strided(other.sizes(), other.strides(), other.options().dtype(type).requires_grad(false));
  if (!owns(tensor.const_data_ptr())) {
    raise(Error(ErrorCode::kExhausted, "no room for the gradients in the shared memory of this rank"));
  }
  return tensor;
}

bool GradientPool::owns(const void* data) const {
  const std::lock_guard lock(blocks_->mutex);
  for (const auto& block : blocks_->all) {
    if (block->bytes().data() == data) return true;
  }
  return false;
}

std::size_t GradientPool::size_bytes() const {
  const std::lock_guard lock(blocks_->mutex);
  return blocks_->held_bytes;
}

bool GradientPool::lends(const at::Tensor& tensor) const {
  return tensor.layout() == at::kStrided && tensor.storage().nbytes() == tensor.nbytes() &&
         owns(tensor.const_data_ptr());
}

GradientPool::Use::Use(GradientPool* pool) : before_(turn_of_thread), mine_(std::make_shared<Turn>(pool)) {
  turn_of_thread = mine_;
}

GradientPool::Use::~Use() {
  mine_->pool = nullptr;
  if (turn_of_thread == mine_) turn_of_thread = before_;
}

}  // namespace cohort::train
