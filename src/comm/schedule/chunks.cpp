#include "comm/schedule/chunks.h"

#include "base/check.h"

#include <algorithm>

namespace cohort::comm {

Part even_part(std::size_t total, int part, int num_parts) {
  COHORT_CHECK(part >= 0 && part < num_parts, "part {} of {}", part, num_parts);
  const auto index = static_cast<std::size_t>(part);
  const auto parts = static_cast<std::size_t>(num_parts);
  const std::size_t length = total / parts;
  const std::size_t longer = total % parts;
  return {index * length + std::min(index, longer), length + (index < longer ? 1 : 0)};
}

std::size_t num_chunks(std::size_t count, std::size_t chunk_length) {
  COHORT_CHECK_GE(chunk_length, std::size_t{1});
  return count == 0 ? 1 : (count - 1) / chunk_length + 1;
}

std::size_t longest_chunk(std::size_t count, std::size_t chunk_length) {
  return even_part(count, 0, static_cast<int>(num_chunks(count, chunk_length))).count;
}

std::vector<Region> chunks_of(Region region, std::size_t chunk_length) {
  const std::size_t chunks = num_chunks(region.count, chunk_length);
  std::vector<Region> cut;
  cut.reserve(chunks);
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) cut.push_back(chunk_of(region, chunk, chunk_length));
  return cut;
}

Region chunk_of(Region region, std::size_t chunk, std::size_t chunk_length) {
  const std::size_t chunks = num_chunks(region.count, chunk_length);
  if (chunk >= chunks) return {region.memory, region.first, 0};
  const Part part = even_part(region.count, static_cast<int>(chunk), static_cast<int>(chunks));
  return {region.memory, region.first + part.first, part.count};
}

}  // namespace cohort::comm
