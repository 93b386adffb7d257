#include "group_allocator.h"

#include <algorithm>
#include <c10/core/CPUAllocator.h>
#include <cstring>

namespace cohort::c10d_plugin {
namespace {

struct Given {
  std::shared_ptr<Arena> arena;  // before `block`, to be destroyed after it
  ArenaBlock block;
};

}  // namespace

c10::DataPtr GroupAllocator::allocate(std::size_t size_bytes) {
  const std::shared_ptr<Arena> arena = arena_.lock();
  if (arena == nullptr) return c10::GetCPUAllocator()->allocate(size_bytes);
  Result<ArenaBlock> block = arena->allocate(std::max<std::size_t>(size_bytes, 1));
  if (!block) return c10::GetCPUAllocator()->allocate(size_bytes);
  auto* const given = new Given{arena, std::move(*block)};
  return {given->block.bytes().data(), given, [](void* context) { delete static_cast<Given*>(context); },
          c10::Device(c10::DeviceType::CPU)};
}

void GroupAllocator::copy_data(void* to, const void* from, std::size_t size_bytes) const {
  std::memcpy(to, from, size_bytes);
}

}  // namespace cohort::c10d_plugin
