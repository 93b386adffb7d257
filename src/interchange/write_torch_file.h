#pragma once

#include "interchange/pickle/graph.h"
#include "interchange/zip/writer.h"

namespace cohort::interchange {

/// The tensors of a file that is to be written, each in a storage of its own.
///
/// Lifetime: bytes and functions that were added must stay valid until the file is written.
class OutgoingTensors {
 public:
  /// A tensor whose bytes are in memory: row-major, without gaps.
  StoredTensor add(DType dtype, const Shape& shape, std::span<const std::byte> bytes);
  /// A tensor whose bytes `content` appends when the file is written.
  StoredTensor add(DType dtype, const Shape& shape, WriteContent content);
  /// A number of updates, as torch.optim keeps it: a scalar of type f32, or f64 if f32 would round it.
  StoredTensor add_step(std::int64_t count);

 private:
  friend Status write_torch_file(FileSystem& fs, const std::string& path, const Value& root,
                                 const OutgoingTensors& tensors);

  std::vector<StorageKey> storages_;
  std::vector<WriteContent> contents_;
};

/// Writes a tree as torch.save() of PyTorch 2.13 does, by write_file_atomically():
/// torch.load(path, weights_only=True) reads it.
///
///     OutgoingTensors tensors;
///     Dict model{.entries = {}, .kind = DictKind::kOrderedDict};
///     model.add("weight", tensors.add(DType::kF32, {2, 3}, bytes));
///     value_or_throw(write_torch_file(fs, "model.pt", model, tensors));
///
/// Failure: kUnsupported for objects in the tree; else as write_file_atomically().
/// Cost: one pass; bytes of tensors are not copied.
Status write_torch_file(FileSystem& fs, const std::string& path, const Value& root,
                        const OutgoingTensors& tensors);

}  // namespace cohort::interchange
