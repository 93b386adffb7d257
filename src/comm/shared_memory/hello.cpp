#include "comm/shared_memory/hello.h"

#include <cstring>

namespace cohort::comm {
namespace {

constexpr std::uint64_t kMagic = 0x3174726f686f4331;  // changes with every other layout of what follows
constexpr std::uint32_t kVersion = 1;

// This host talks to itself only, and is little endian.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

template <class T>
void put(std::byte*& at, T value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

template <class T>
T take(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

}  // namespace

std::array<std::byte, Hello::kSize> Hello::encode() const {
  std::array<std::byte, kSize> bytes{};
  std::byte* at = bytes.data();
  put(at, kMagic);
  put(at, kVersion);
  put(at, rank);
  put(at, world);
  put(at, generation);
  put(at, arena_bytes);
  return bytes;
}

Result<Hello> Hello::decode(std::span<const std::byte> bytes) {
  if (bytes.size() != kSize) return Error(ErrorCode::kCorrupt, "a hello of the wrong length");
  const std::byte* at = bytes.data();
  if (take<std::uint64_t>(at) != kMagic) return Error(ErrorCode::kCorrupt, "a hello that is none");
  if (const auto version = take<std::uint32_t>(at); version != kVersion) {
    return Error(ErrorCode::kUnsupported, "a hello of version " + std::to_string(version))
        .with_remedy("Start every rank with the same version of Cohort.");
  }
  Hello hello;
  hello.rank = take<std::uint32_t>(at);
  hello.world = take<std::uint32_t>(at);
  hello.generation = take<std::uint32_t>(at);
  hello.arena_bytes = take<std::uint64_t>(at);
  return hello;
}

}  // namespace cohort::comm
