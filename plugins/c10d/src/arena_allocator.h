#pragma once

#include "comm/shared_memory/arena.h"

#include <memory>

namespace cohort::c10d_plugin {

/// Replaces torch's CPU allocator: tensors of at least `at_least` bytes are allocated in this arena. Smaller
/// tensors, and all tensors once the arena is full, still come from torch's original allocator.
///
/// Threads: not while other threads allocate, as c10::SetCPUAllocator() demands.
/// Lifetime: a tensor keeps the memory of its arena, also after allocate_as_usual().
/// Cost: freed memory is kept for the next tensor of the same length, so a steady training loop makes no
/// system calls for memory.
void allocate_in(std::shared_ptr<Arena> arena, std::size_t at_least);
void allocate_as_usual();
/// Stops allocating in an arena whose group has failed, and never reuses its freed memory: a rank that was
/// only frozen may wake up in the middle of a call and write there.
void give_no_more_of(const std::shared_ptr<Arena>& arena);

}  // namespace cohort::c10d_plugin
