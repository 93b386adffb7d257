#pragma once

#include "base/checksum.h"
#include "state/piece_source.h"

#include <string>
#include <vector>

namespace cohort::test {

/// The pieces of several holders, in memory.
class MemorySource final : public state::PieceSource {
 public:
  explicit MemorySource(const std::vector<std::vector<Piece>>& by_holder) {
    for (std::size_t holder = 0; holder < by_holder.size(); ++holder) {
      for (const Piece& piece : by_holder[holder]) {
        bytes_.push_back(piece.bytes);
        held_.push_back(
            {.piece = piece, .holder = static_cast<int>(holder), .hash = content_hash(piece.bytes)});
        held_.back().piece.bytes = {};
      }
    }
  }

  std::span<const state::HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override { return mine; }
  Status read(std::span<const state::Read> reads, const state::Taker& take) override {
    for (std::size_t r = 0; r < reads.size(); ++r) {
      const std::size_t size = size_bytes(held_[reads[r].held].piece.dtype);
      take(r, 0, bytes_[reads[r].held].subspan(reads[r].from * size, reads[r].count * size));
      num_elements_ += reads[r].count;
    }
    return {};
  }
  std::size_t num_elements() const { return num_elements_; }

 private:
  std::vector<state::HeldPiece> held_;
  std::vector<std::span<const std::byte>> bytes_;
  std::size_t num_elements_ = 0;
};

/// Memory for the elements of a slice. An element of tensor `tensor` is a number that says which one it is.
class Elements {
 public:
  Elements(std::string name, const Shape& shape, Slice mine, Merge merge = Merge::kSame)
      : numbers(mine.count),
        piece{.name = std::move(name),
              .dtype = DType::kI32,
              .shape = shape,
              .mine = std::move(mine),
              .merge = merge} {}

  /// With the address of the memory as it is now.
  Piece view() {
    Piece made = piece;
    made.bytes = std::as_writable_bytes(std::span(numbers));
    return made;
  }

  std::vector<std::int32_t> numbers;
  Piece piece;
};

}  // namespace cohort::test
