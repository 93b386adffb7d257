#include "interchange/zip/crc.h"

#include <zlib.h>

namespace cohort::interchange {

std::uint32_t zip_crc(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib takes a null pointer for the beginning of a checksum
  return static_cast<std::uint32_t>(
      crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace cohort::interchange
