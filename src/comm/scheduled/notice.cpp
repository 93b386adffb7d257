#include "comm/scheduled/notice.h"

#include "comm/scheduled/bytes.h"

namespace cohort::comm {
namespace {

std::string words(const Error& error) {
  std::string text = error.message();
  for (const Error* level = error.cause(); level != nullptr; level = level->cause())
    text += ": " + level->message();
  return text;
}

}  // namespace

std::vector<std::byte> encode(const Notice& notice) {
  ByteWriter writer;
  writer.put_u8(static_cast<std::uint8_t>(notice.kind));
  writer.put_u8(static_cast<std::uint8_t>(notice.why.code()));
  writer.put_u64(notice.num_completed);
  writer.put_text(words(notice.why));
  writer.put_text(notice.why.remedy());
  return writer.take();
}

Result<Notice> decode_notice(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const std::uint8_t kind = reader.u8();
  const std::uint8_t code = reader.u8();
  const std::uint64_t num_completed = reader.u64();
  const std::string text = reader.text();
  const std::string remedy = reader.text();
  COHORT_RETURN_IF_ERROR(reader.finish("a notice"));
  if (kind > static_cast<std::uint8_t>(Notice::Kind::kLeft) ||
      code > static_cast<std::uint8_t>(ErrorCode::kIo)) {
    return Error(ErrorCode::kCorrupt, "a notice of no known kind");
  }
  Error why(static_cast<ErrorCode>(code), text);
  if (!remedy.empty()) why = why.with_remedy(remedy);
  return Notice{static_cast<Notice::Kind>(kind), num_completed, std::move(why)};
}

}  // namespace cohort::comm
