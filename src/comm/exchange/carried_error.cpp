#include "comm/exchange/carried_error.h"

#include "base/byte_stream.h"
#include "base/error_codes.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace cohort::comm {
namespace {

constexpr std::uint32_t kLevelCap = 16;
constexpr std::uint32_t kTextCap = 4096;
constexpr auto kRankCap = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
constexpr auto kLastCode = static_cast<std::uint32_t>(kLastErrorCode);

struct Levels {
  ErrorCode code = ErrorCode::kBug;
  std::vector<std::string> texts{};
  std::string remedy{};
  std::optional<int> rank{};
};

Result<Levels> read(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  Levels levels;
  levels.code = static_cast<ErrorCode>(reader.number_within<std::uint32_t>("code", 0, kLastCode));
  const auto num_levels = reader.number_within<std::uint32_t>("levels", 1, kLevelCap);
  for (std::uint32_t level = 0; level < num_levels; ++level) {
    levels.texts.push_back(reader.text("text", kTextCap));
  }
  levels.remedy = reader.text("remedy", kTextCap);
  const auto after_rank = reader.number_within<std::uint32_t>("rank", 0, kRankCap);
  if (after_rank > 0) levels.rank = static_cast<int>(after_rank - 1);
  COHORT_RETURN_IF_ERROR(reader.finish("error from another member"));
  return levels;
}

}  // namespace

std::vector<std::byte> encode(const Error& error) {
  std::vector<const Error*> levels;
  for (const Error* at = &error; at != nullptr; at = at->cause()) levels.push_back(at);
  if (levels.size() > kLevelCap) {
    // The innermost level says most.
    levels.erase(levels.begin() + kLevelCap - 1, levels.end() - 1);
  }
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(error.code())).number(static_cast<std::uint32_t>(levels.size()));
  for (const Error* level : levels) writer.text(level->message().substr(0, kTextCap));
  writer.text(error.remedy().substr(0, kTextCap));
  return writer.number(error.rank() ? static_cast<std::uint32_t>(*error.rank()) + 1 : 0u).take();
}

Error decode_error(std::span<const std::byte> bytes) {
  const Result<Levels> levels = read(bytes);
  if (!levels) return levels.error();
  Error error(levels->code, levels->texts.back());
  for (std::size_t i = levels->texts.size() - 1; i > 0; --i) error = error.within(levels->texts[i - 1]);
  if (levels->rank) error = error.with_rank(*levels->rank);
  return levels->remedy.empty() ? error : error.with_remedy(levels->remedy);
}

}  // namespace cohort::comm
