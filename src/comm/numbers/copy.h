#pragma once

#include <cstddef>

namespace cohort::comm {

/// Copies bytes between buffers that do not overlap; does nothing if both are the same. memcpy() is several
/// times slower on some cores when both addresses have the same offset in their pages, which is usual for
/// buffers and arenas. Copies of more than a few megabytes bypass the caches.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t size_bytes);
/// As copy_bytes(), but copies of any length bypass the caches: for one of many copies that together are
/// longer than the caches, and are not read soon.
void stream_bytes(std::byte* to, const std::byte* from, std::size_t size_bytes);

}  // namespace cohort::comm
