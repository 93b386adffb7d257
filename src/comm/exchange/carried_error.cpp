#include "comm/exchange/carried_error.h"

#include "base/error_codes.h"
#include "base/result.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string>

namespace cohort::comm {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire is little endian");

constexpr std::uint32_t kLevelCap = 16;
constexpr std::uint32_t kTextCap = 4096;
constexpr auto kRankCap = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
constexpr auto kLastCode = static_cast<std::uint32_t>(kLastErrorCode);

void put(std::vector<std::byte>& bytes, std::uint32_t value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void put(std::vector<std::byte>& bytes, const std::string& text) {
  const std::size_t length = std::min<std::size_t>(text.size(), kTextCap);
  put(bytes, static_cast<std::uint32_t>(length));
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), first, first + length);
}

// Reads fields one after the other.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<std::uint32_t> number(std::uint32_t least, std::uint32_t most) {
    std::uint32_t value = 0;
    if (bytes_.size() < sizeof value) return too_short(sizeof value);
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    if (value < least || value > most) {
      return corrupt(fmt::format("a field is {}, expected {} … {}", value, least, most));
    }
    return value;
  }

  Result<std::string> text() {
    COHORT_ASSIGN_OR_RETURN(const std::uint32_t length, number(0, kTextCap));
    if (bytes_.size() < length) return too_short(length);
    std::string text(reinterpret_cast<const char*>(bytes_.data()), length);
    bytes_ = bytes_.subspan(length);
    return text;
  }

  Status end() const {
    if (bytes_.empty()) return {};
    return corrupt(fmt::format("{} bytes are left over, expected 0", bytes_.size()));
  }

 private:
  static Error corrupt(std::string words) {
    return Error(ErrorCode::kCorrupt, std::move(words)).within("corrupt error from another member");
  }
  Error too_short(std::size_t expected) const {
    return corrupt(fmt::format("{} bytes are left, expected {}", bytes_.size(), expected));
  }

  std::span<const std::byte> bytes_;
};

struct Levels {
  ErrorCode code = ErrorCode::kBug;
  std::vector<std::string> texts{};
  std::string remedy{};
  std::optional<int> rank{};
};

Result<Levels> read(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Levels levels;
  COHORT_ASSIGN_OR_RETURN(const std::uint32_t code, reader.number(0, kLastCode));
  levels.code = static_cast<ErrorCode>(code);
  COHORT_ASSIGN_OR_RETURN(const std::uint32_t num_levels, reader.number(1, kLevelCap));
  for (std::uint32_t level = 0; level < num_levels; ++level) {
    COHORT_ASSIGN_OR_RETURN(std::string text, reader.text());
    levels.texts.push_back(std::move(text));
  }
  COHORT_ASSIGN_OR_RETURN(levels.remedy, reader.text());
  COHORT_ASSIGN_OR_RETURN(const std::uint32_t after_rank, reader.number(0, kRankCap));
  if (after_rank > 0) levels.rank = static_cast<int>(after_rank - 1);
  COHORT_RETURN_IF_ERROR(reader.end());
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
  std::vector<std::byte> bytes;
  put(bytes, static_cast<std::uint32_t>(error.code()));
  put(bytes, static_cast<std::uint32_t>(levels.size()));
  for (const Error* level : levels) put(bytes, level->message());
  put(bytes, error.remedy());
  put(bytes, error.rank() ? static_cast<std::uint32_t>(*error.rank()) + 1 : 0u);
  return bytes;
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
