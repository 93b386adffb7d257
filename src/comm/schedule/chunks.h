#pragma once

#include "comm/schedule/schedule.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace cohort::comm {

/// A run of elements.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};
/// Part `part` of `total` elements cut into `num_parts`: as even as possible, longer parts first.
Part even_part(std::size_t total, int part, int num_parts);

/// The chunk length of messages that are not cut.
inline constexpr std::size_t kUncut = std::numeric_limits<std::size_t>::max();

/// The fewest chunks of a message of `count` elements so that no chunk is longer than `chunk_length`; 1 if
/// the message is empty.
std::size_t num_chunks(std::size_t count, std::size_t chunk_length);
/// Elements of the longest chunk.
std::size_t longest_chunk(std::size_t count, std::size_t chunk_length);

/// The chunks of a region, in order, as even as possible, longer ones first. Sender and receiver cut a
/// message the same way.
std::vector<Region> chunks_of(Region region, std::size_t chunk_length);
/// Chunk number `chunk`; empty if the region has fewer chunks.
Region chunk_of(Region region, std::size_t chunk, std::size_t chunk_length);

}  // namespace cohort::comm
