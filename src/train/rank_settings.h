#pragma once

#include <string>

namespace cohort::train {

/// Makes this process a good rank: its compute threads, and an allocator that keeps large blocks instead of
/// returning them to the kernel after every step. Once, before any tensor is made. Returns what was set, in
/// words.
std::string settle_in(int threads);

}  // namespace cohort::train
