#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cohort {

/// A way to compute CRC-32C. Takes and gives the register of the sum, which is the sum with all bits turned.
struct CrcKernel {
  const char* name;
  std::uint32_t (*add)(std::span<const std::byte> bytes, std::uint32_t crc);
};

/// Those that this machine has the instructions for, the fastest last.
std::vector<CrcKernel> crc_kernels();

}  // namespace cohort
