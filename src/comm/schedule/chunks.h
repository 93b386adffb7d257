#pragma once

#include "comm/schedule/schedule.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace cohort::comm {

/// The chunk length of messages that are not cut.
inline constexpr std::size_t kUncut = std::numeric_limits<std::size_t>::max();

/// Into how many chunks a message of `count` elements is cut: as few as there are if none is longer than
/// `chunk_length`. One of no elements is one.
std::size_t num_chunks(std::size_t count, std::size_t chunk_length);
/// Elements of the longest of them.
std::size_t longest_chunk(std::size_t count, std::size_t chunk_length);

/// The chunks of a region, from its beginning, as even as possible, longer ones first. Both ends of a message
/// cut it the same way.
std::vector<Region> chunks_of(Region region, std::size_t chunk_length);
/// One of them; without elements if there are not as many.
Region chunk_of(Region region, std::size_t chunk, std::size_t chunk_length);

}  // namespace cohort::comm
