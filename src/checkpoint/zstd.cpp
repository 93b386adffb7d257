#include "checkpoint/zstd.h"

#include "base/check.h"

#include <fmt/format.h>
#include <zstd.h>

namespace cohort::checkpoint {
namespace {

constexpr int kLevel = 3;

}  // namespace

std::vector<std::byte> compressed(std::span<const std::byte> bytes) {
  std::vector<std::byte> frame(ZSTD_compressBound(bytes.size()));
  const std::size_t length = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kLevel);
  COHORT_CHECK(ZSTD_isError(length) == 0, "zstd: {}", ZSTD_getErrorName(length));
  frame.resize(length);
  return frame;
}

Result<std::vector<std::byte>> decompressed(std::span<const std::byte> frame, std::uint64_t size_bytes) {
  const unsigned long long claimed = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (claimed != size_bytes) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("its compressed form is not one of {} bytes, as expected", size_bytes));
  }
  std::vector<std::byte> bytes(size_bytes);
  const std::size_t length = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(length) == 0 && length == size_bytes) return bytes;
  return Error(ErrorCode::kCorrupt,
               fmt::format("it cannot be decompressed: {}",
                           ZSTD_isError(length) != 0 ? ZSTD_getErrorName(length) : "it is too short"));
}

}  // namespace cohort::checkpoint
