#pragma once

#include "interchange/file_pieces.h"
#include "interchange/name_rules.h"
#include "interchange/optimizer_dict.h"
#include "interchange/torch_file.h"

namespace cohort::interchange {

/// Tensors of a torch.save() file as pieces, under the names that rules give them.
///
///     const auto model = value_or_throw(find_model(file.root()));
///     TorchPieces pieces(file, model.tensors, rules);
///     value_or_throw(state::move(my_pieces, pieces));
///
/// Lifetime: the file must outlive it.
class TorchPieces final : public FilePieces {
 public:
  TorchPieces(const TorchFile& file, std::span<const NamedTensor> tensors, const NameRules& rules = {});

  /// Adds the state of an optimizer: tensors and numbers.
  void add(const OptimizerState& state, const NameRules& rules = {});
  void add(std::span<const NamedTensor> tensors, const NameRules& rules);

 private:
  Status read_piece(std::size_t index, std::uint64_t first, std::span<std::byte> into) override;
  bool has_cheap_parts(std::size_t index) const override;

  const TorchFile& file_;
  std::vector<std::variant<StoredTensor, std::int64_t>> pieces_;
};

}  // namespace cohort::interchange
