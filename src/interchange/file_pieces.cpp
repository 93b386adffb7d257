#include "interchange/file_pieces.h"

#include "base/byte_stream.h"

#include <cmath>

namespace cohort::interchange {
namespace {

constexpr std::size_t kPartBytes = std::size_t{4} << 20;

bool is_number_of_updates(const Piece& piece) {
  return piece.name.ends_with("/step") && piece.shape.empty() &&
         (piece.dtype == DType::kF32 || piece.dtype == DType::kF64);
}

Result<std::int64_t> whole_number(DType dtype, std::span<const std::byte> bytes) {
  const double number = dtype == DType::kF32 ? double{get_at<float>(bytes, 0)} : get_at<double>(bytes, 0);
  constexpr double kMost = 9.0e15;  // all whole numbers up to here are exact
  if (number >= 0 && number < kMost && std::trunc(number) == number) return static_cast<std::int64_t>(number);
  return Error(ErrorCode::kCorrupt,
               fmt::format("the number of updates is {}, expected a whole number", number));
}

}  // namespace

void FilePieces::add(state::HeldPiece piece) {
  stored_.push_back(piece.piece.dtype);
  if (is_number_of_updates(piece.piece)) piece.piece.dtype = DType::kI64;
  held_.push_back(std::move(piece));
}

Status FilePieces::read_numbers(std::size_t read, const state::Read& what, const state::Taker& take) {
  std::array<std::byte, sizeof(double)> buffer{};
  const auto stored = std::span(buffer).first(size_bytes(stored_[what.held]));
  COHORT_RETURN_IF_ERROR(read_piece(what.held, 0, stored));
  COHORT_ASSIGN_OR_RETURN(const std::int64_t number, whole_number(stored_[what.held], stored));
  take(read, 0, std::as_bytes(std::span(&number, 1)));
  return {};
}

Status FilePieces::read_parts(std::size_t read, const state::Read& what, const state::Taker& take) {
  const std::size_t size = size_bytes(stored_[what.held]);
  const std::size_t most = has_cheap_parts(what.held) ? kPartBytes / size : what.count;
  std::vector<std::byte> buffer(std::min(most, what.count) * size);
  for (std::size_t done = 0; done < what.count;) {
    const std::size_t count = std::min(most, what.count - done);
    const auto part = std::span(buffer).first(count * size);
    COHORT_RETURN_IF_ERROR(read_piece(what.held, what.from + done, part));
    take(read, done, part);
    done += count;
  }
  return {};
}

Status FilePieces::read(std::span<const state::Read> reads, const state::Taker& take) {
  for (std::size_t r = 0; r < reads.size(); ++r) {
    const state::HeldPiece& piece = held_[reads[r].held];
    const bool is_converted = piece.piece.dtype != stored_[reads[r].held];
    COHORT_RETURN_IF_ERROR((is_converted ? read_numbers(r, reads[r], take) : read_parts(r, reads[r], take))
                               .within(fmt::format("cannot read '{}'", piece.piece.name)));
  }
  return {};
}

}  // namespace cohort::interchange
