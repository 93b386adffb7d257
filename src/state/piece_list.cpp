#include "state/piece_list.h"

#include "base/byte_stream.h"

namespace cohort::state {
namespace {

constexpr std::uint32_t kMostDims = 64;
constexpr std::uint32_t kMostBoxes = std::uint32_t{1} << 20;

void put(ByteWriter& out, const Shape& lengths) {
  for (const std::size_t length : lengths) out.number(std::uint64_t{length});
}

Shape lengths_in(ByteReader& in, std::uint32_t num_dims, std::string_view field) {
  Shape lengths;
  for (std::uint32_t d = 0; d < num_dims && in.is_fine(); ++d) {
    lengths.push_back(in.number<std::uint64_t>(field));
  }
  return lengths;
}

void put(ByteWriter& out, const Piece& piece) {
  out.text(piece.name);
  out.number(static_cast<std::uint8_t>(piece.dtype)).number(static_cast<std::uint8_t>(piece.merge));
  out.number(static_cast<std::uint32_t>(piece.shape.size()));
  put(out, piece.shape);
  out.number(static_cast<std::uint32_t>(piece.mine.boxes.size()));
  for (const Box& box : piece.mine.boxes) {
    put(out, box.first);
    put(out, box.lengths);
  }
  out.number(std::uint64_t{piece.mine.first}).number(std::uint64_t{piece.mine.count});
}

Piece piece_in(ByteReader& in) {
  Piece piece{.name = in.text("name")};
  piece.dtype = kAllDTypes[in.number_within<std::uint8_t>("dtype", 0, std::size(kAllDTypes) - 1)];
  piece.merge =
      static_cast<Merge>(in.number_within<std::uint8_t>("merge", 0, static_cast<std::uint8_t>(Merge::kMax)));
  const auto num_dims = in.number_within<std::uint32_t>("number of dimensions", 0, kMostDims);
  piece.shape = lengths_in(in, num_dims, "shape");
  const auto num_boxes = in.number_within<std::uint32_t>("number of boxes", 0, kMostBoxes);
  for (std::uint32_t b = 0; b < num_boxes && in.is_fine(); ++b) {
    Shape first = lengths_in(in, num_dims, "first of a box");
    piece.mine.boxes.push_back(
        {.first = std::move(first), .lengths = lengths_in(in, num_dims, "length of a box")});
  }
  piece.mine.first = in.number<std::uint64_t>("first element");
  piece.mine.count = in.number<std::uint64_t>("number of elements");
  return piece;
}

}  // namespace

std::vector<std::byte> encode(std::span<const Piece> pieces) {
  ByteWriter out;
  out.number(static_cast<std::uint32_t>(pieces.size()));
  for (const Piece& piece : pieces) put(out, piece);
  return out.take();
}

Result<std::vector<Piece>> decode_pieces(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto count = in.number<std::uint32_t>("number of pieces");
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < count && in.is_fine(); ++i) pieces.push_back(piece_in(in));
  COHORT_RETURN_IF_ERROR(in.finish("list of pieces"));
  return pieces;
}

}  // namespace cohort::state
