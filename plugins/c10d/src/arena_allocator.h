#pragma once

#include "comm/shared_memory/arena.h"

#include <memory>

namespace cohort::c10d_plugin {

/// Makes torch's allocator of CPU memory give tensors of `at_least` bytes out of this arena, where it has
/// room; all others, and those it has no room for, come from where they came before.
///
/// Threads: not while others allocate, as torch demands.
/// Lifetime: what was given keeps the memory of the arena, also after allocate_as_usual().
/// Cost: what was given back is kept for the next tensor of that length, so a training that goes on in the
/// same way asks the kernel for nothing.
void allocate_in(std::shared_ptr<Arena> arena, std::size_t at_least);
void allocate_as_usual();
/// The group that shares it has failed: a rank that was only frozen may wake up in the middle of a call and
/// write to what lay there. Nothing of it is given any more, and what is given back is not used again.
void give_no_more_of(const std::shared_ptr<Arena>& arena);

}  // namespace cohort::c10d_plugin
