#include "checkpoint/changes.h"

#include "base/check.h"
#include "base/checksum.h"

#include <algorithm>

namespace cohort::checkpoint {
namespace {

constexpr std::size_t kShortestBytes = 512;
constexpr std::size_t kLongestBytes = std::size_t{64} << 10;

// In elements.
std::size_t row_length(const Piece& piece) {
  const std::size_t element_bytes = size_bytes(piece.dtype);
  std::size_t row = 1;
  for (std::size_t d = 1; d < piece.shape.size(); ++d) row *= std::max<std::size_t>(piece.shape[d], 1);
  if (row * element_bytes > kLongestBytes) return kLongestBytes / element_bytes;
  const std::size_t shortest = kShortestBytes / element_bytes;
  return row >= shortest ? row : (shortest + row - 1) / row * row;
}

std::span<const std::byte> row_of(const Piece& piece, std::size_t row, std::size_t length) {
  const std::size_t row_bytes = length * size_bytes(piece.dtype);
  const std::size_t first = row * row_bytes;
  return std::span<const std::byte>(piece.bytes)
      .subspan(first, std::min(row_bytes, piece.bytes.size() - first));
}

std::size_t num_rows(const Piece& piece, std::size_t length) {
  return (piece.mine.count + length - 1) / length;
}

Piece part_of(const Piece& piece, std::size_t first, std::size_t last) {
  const std::size_t element_bytes = size_bytes(piece.dtype);
  Piece part = piece;
  part.mine.first += first;
  part.mine.count = last - first;
  part.bytes = piece.bytes.subspan(first * element_bytes, (last - first) * element_bytes);
  return part;
}

}  // namespace

void Changes::set_base(std::span<const Piece> pieces) {
  hashes_.assign(pieces.size(), {});
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const std::size_t length = row_length(pieces[p]);
    for (std::size_t row = 0; row < num_rows(pieces[p], length); ++row) {
      hashes_[p].push_back(content_hash(row_of(pieces[p], row, length)));
    }
  }
}

std::vector<Piece> Changes::since_base(std::span<const Piece> pieces) const {
  COHORT_CHECK_EQ(pieces.size(), hashes_.size());
  std::vector<Piece> changed;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = pieces[p];
    if (piece.merge != Merge::kSame) {
      changed.push_back(piece);
      continue;
    }
    const std::size_t length = row_length(piece);
    for (std::size_t row = 0; row < hashes_[p].size(); ++row) {
      if (content_hash(row_of(piece, row, length)) == hashes_[p][row]) continue;
      const std::size_t first = row;
      while (row + 1 < hashes_[p].size() &&
             content_hash(row_of(piece, row + 1, length)) != hashes_[p][row + 1]) {
        ++row;
      }
      changed.push_back(part_of(piece, first * length, std::min((row + 1) * length, piece.mine.count)));
    }
  }
  return changed;
}

}  // namespace cohort::checkpoint
