#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::interchange {

/// The checksum of zip files, CRC-32. A checksum over several pieces passes the result of each call as
/// `before` of the next.
std::uint32_t zip_crc(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace cohort::interchange
