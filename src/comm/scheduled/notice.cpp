#include "comm/scheduled/notice.h"

#include "comm/carried_error.h"
#include "comm/scheduled/bytes.h"

namespace cohort::comm {
namespace {

constexpr std::size_t kHeadBytes = 9;

}  // namespace

std::vector<std::byte> encode(const Notice& notice) {
  ByteWriter writer;
  writer.put_u8(static_cast<std::uint8_t>(notice.kind));
  writer.put_u64(notice.num_completed);
  std::vector<std::byte> bytes = writer.take();
  const std::vector<std::byte> why = encode(notice.why);
  bytes.insert(bytes.end(), why.begin(), why.end());
  return bytes;
}

Result<Notice> decode_notice(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) return Error(ErrorCode::kCorrupt, "a notice is too short");
  ByteReader reader(bytes.first(kHeadBytes));
  const std::uint8_t kind = reader.u8();
  const std::uint64_t num_completed = reader.u64();
  if (kind > static_cast<std::uint8_t>(Notice::Kind::kLeft)) {
    return Error(ErrorCode::kCorrupt, "a notice of no known kind");
  }
  return Notice{static_cast<Notice::Kind>(kind), num_completed, decode_error(bytes.subspan(kHeadBytes))};
}

}  // namespace cohort::comm
