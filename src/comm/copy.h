#pragma once

#include <cstddef>

namespace cohort::comm {

/// Copies bytes between places that do not overlap; does nothing if they are the same. The library's own copy
/// is several times slower than it should be on some cores when both places lie alike within their pages,
/// which is how buffers and arenas lie. Above a few megabytes the caches are passed by.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t size_bytes);

}  // namespace cohort::comm
