#include "checkpoint/shard_header.h"

#include "base/byte_stream.h"
#include "layout/slice.h"
#include "state/safetensors_header.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace cohort::checkpoint {
namespace {

/// A line of a header as text, for comparison and for messages.
std::string line_of(std::string_view dtype, std::span<const std::int64_t> shape, std::uint64_t first,
                    std::uint64_t last) {
  return fmt::format("{} [{}] at bytes {} … {}", dtype, fmt::join(shape, ", "), first, last);
}

std::string expected_line(const StoredPiece& stored, const Shard& shard) {
  const bool is_plain = stored.encoding == Encoding::kPlain;
  const Piece& piece = stored.piece;
  std::vector<std::int64_t> shape;
  if (!is_plain) {
    shape = {static_cast<std::int64_t>(stored.size_bytes)};
  } else if (piece.mine == whole(piece.shape)) {
    shape.assign(piece.shape.begin(), piece.shape.end());
  } else {
    shape = {static_cast<std::int64_t>(piece.mine.count)};
  }
  const std::uint64_t first = stored.first - shard.header_bytes;
  return line_of(state::safetensors_name(is_plain ? piece.dtype : DType::kU8), shape, first,
                 first + stored.size_bytes);
}

Result<state::Header> parsed_header(std::span<const std::byte> bytes) {
  const std::size_t length = bytes.size() - std::min(bytes.size(), state::kLengthBytes);
  const std::uint64_t claimed = bytes.size() < state::kLengthBytes ? 0 : get_at<std::uint64_t>(bytes, 0);
  if (length == 0 || claimed != length) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("the length of its header is {}, expected {}", claimed, length));
  }
  return state::parse_header({reinterpret_cast<const char*>(bytes.data()) + state::kLengthBytes, length});
}

}  // namespace

std::vector<const StoredPiece*> in_order_of_bytes(const Shard& shard) {
  std::vector<const StoredPiece*> pieces;
  for (const StoredPiece& stored : shard.pieces) pieces.push_back(&stored);
  std::stable_sort(pieces.begin(), pieces.end(), [](const StoredPiece* a, const StoredPiece* b) {
    return std::pair(a->first, a->size_bytes) < std::pair(b->first, b->size_bytes);
  });
  return pieces;
}

std::vector<HeaderMistake> header_mistakes(std::span<const std::byte> bytes, const Shard& shard) {
  const auto header = parsed_header(bytes);
  if (!header) return {{.reason = header.error().message()}};
  std::map<std::string, std::string> lines;
  for (const state::HeaderEntry& entry : header->entries) {
    lines[entry.name] = line_of(entry.dtype, entry.shape, entry.data_offsets[0], entry.data_offsets[1]);
  }
  std::vector<HeaderMistake> mistakes;
  for (const StoredPiece& stored : shard.pieces) {
    const auto found = lines.find(stored.tensor);
    const std::string line = found == lines.end() ? "missing" : found->second;
    const std::string expected = expected_line(stored, shard);
    if (line != expected) {
      mistakes.push_back({stored.tensor, fmt::format("its header is {}, expected {}", line, expected)});
    }
    if (found != lines.end()) lines.erase(found);
  }
  for (const auto& [name, line] : lines) mistakes.push_back({name, "the manifest does not have it"});
  return mistakes;
}

}  // namespace cohort::checkpoint
