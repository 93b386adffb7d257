#include "checkpoint/whole_tensors.h"

#include "layout/slice.h"
#include "state/move.h"

#include <algorithm>

namespace cohort::checkpoint {
namespace {

// Long enough that the block which two windows share, and which is read twice, does not matter.
constexpr std::uint64_t kWindowBytes = std::uint64_t{32} << 20;

/// The pieces of one tensor alone, so that a read does not look at all pieces of the source.
class TensorSource final : public state::PieceSource {
 public:
  TensorSource(state::PieceSource& source, std::span<const std::size_t> indices)
      : source_(source), indices_(indices) {
    for (const std::size_t index : indices) held_.push_back(source.held()[index]);
  }

  std::span<const state::HeldPiece> held() const override { return held_; }
  Status agree(const Status& mine) override { return mine; }
  Status read(std::span<const state::Read> reads, const state::Taker& take) override {
    std::vector<state::Read> of_source(reads.begin(), reads.end());
    for (state::Read& read : of_source) read.held = indices_[read.held];
    return source_.read(of_source, take);
  }

 private:
  state::PieceSource& source_;
  const std::span<const std::size_t> indices_;
  std::vector<state::HeldPiece> held_;
};

}  // namespace

std::uint64_t WholeTensor::num_elements() const {
  return cohort::num_elements(shape);
}

std::uint64_t WholeTensor::size_bytes() const {
  return num_elements() * cohort::size_bytes(dtype);
}

WholeTensors::WholeTensors(state::PieceSource& source, IsCompressed is_compressed)
    : source_(source), is_compressed_(std::move(is_compressed)) {
  std::map<std::string_view, WholeTensor> by_name;
  for (std::size_t i = 0; i < source.held().size(); ++i) {
    const Piece& piece = source.held()[i].piece;
    const auto [found, is_new] = by_name.try_emplace(piece.name);
    if (is_new) {
      found->second = {.name = piece.name, .dtype = piece.dtype, .shape = piece.shape, .merge = piece.merge};
    }
    found->second.held.push_back(i);
  }
  for (auto& [name, tensor] : by_name) tensors_.push_back(std::move(tensor));
}

const WholeTensor* WholeTensors::find(std::string_view name) const {
  const auto found = std::lower_bound(
      tensors_.begin(), tensors_.end(), name,
      [](const WholeTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return found == tensors_.end() || found->name != name ? nullptr : &*found;
}

Status WholeTensors::read(const WholeTensor& tensor, std::uint64_t first, std::span<std::byte> into) const {
  const std::size_t count = into.size() / cohort::size_bytes(tensor.dtype);
  const Piece target{.name = tensor.name,
                     .dtype = tensor.dtype,
                     .shape = tensor.shape,
                     .mine = flat_range(tensor.shape, first, count),
                     .merge = tensor.merge,
                     .bytes = into};
  TensorSource source(source_, tensor.held);
  return state::move(std::span(&target, 1), source);
}

std::uint64_t WholeTensors::window_of(const WholeTensor& tensor) const {
  const bool is_compressed =
      is_compressed_ && std::any_of(tensor.held.begin(), tensor.held.end(), is_compressed_);
  const std::uint64_t all = std::max<std::uint64_t>(tensor.num_elements(), 1);
  return is_compressed ? all : std::min(all, kWindowBytes / cohort::size_bytes(tensor.dtype));
}

Status WholeTensors::stream(const WholeTensor& tensor, const Take& take) const {
  const std::uint64_t all = tensor.num_elements();
  const std::uint64_t window = window_of(tensor);
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < all; first += window) {
    bytes.resize(std::min(window, all - first) * cohort::size_bytes(tensor.dtype));
    COHORT_RETURN_IF_ERROR(read(tensor, first, bytes));
    COHORT_RETURN_IF_ERROR(take(first, bytes));
  }
  return {};
}

SnapshotTensors::SnapshotTensors(Snapshot& snapshot)
    : WholeTensors(snapshot, compressed_pieces_of(snapshot)), snapshot_(snapshot) {}

WholeTensors::IsCompressed compressed_pieces_of(const Snapshot& snapshot) {
  return [&snapshot](std::size_t held) { return snapshot.stored_piece(held).encoding != Encoding::kPlain; };
}

}  // namespace cohort::checkpoint
