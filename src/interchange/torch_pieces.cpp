#include "interchange/torch_pieces.h"

#include "layout/slice.h"

#include <cstring>

namespace cohort::interchange {
namespace {

state::HeldPiece whole_piece(std::string name, DType dtype, const Shape& shape) {
  return {.piece = {.name = std::move(name), .dtype = dtype, .shape = shape, .mine = whole(shape)},
          .holder = 0,
          .hash = {}};
}

}  // namespace

TorchPieces::TorchPieces(const TorchFile& file, std::span<const NamedTensor> tensors, const NameRules& rules)
    : file_(file) {
  add(tensors, rules);
}

void TorchPieces::add(std::span<const NamedTensor> tensors, const NameRules& rules) {
  for (const NamedTensor& each : tensors) {
    FilePieces::add(whole_piece(rules.apply(each.name).name, each.tensor.dtype, each.tensor.shape));
    pieces_.emplace_back(each.tensor);
  }
}

void TorchPieces::add(const OptimizerState& state, const NameRules& rules) {
  add(state.tensors, rules);
  for (const OptimizerState::Number& each : state.numbers) {
    FilePieces::add(whole_piece(rules.apply(each.name).name, DType::kI64, {}));
    pieces_.emplace_back(each.value);
  }
}

Status TorchPieces::read_piece(std::size_t index, std::uint64_t first, std::span<std::byte> into) {
  if (const auto* const tensor = std::get_if<StoredTensor>(&pieces_[index])) {
    return file_.read(*tensor, first, into);
  }
  std::memcpy(into.data(), &std::get<std::int64_t>(pieces_[index]), into.size());
  return {};
}

bool TorchPieces::has_cheap_parts(std::size_t index) const {
  const auto* const tensor = std::get_if<StoredTensor>(&pieces_[index]);
  return tensor != nullptr && is_contiguous(*tensor);
}

}  // namespace cohort::interchange
