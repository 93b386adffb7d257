#pragma once

#include "interchange/input/file_window.h"
#include "interchange/pickle/value.h"

namespace cohort::interchange {

/// A tensor of a file and its name.
struct NamedTensor {
  std::string name{};
  StoredTensor tensor{};
};

std::uint64_t num_elements_of(const StoredTensor& tensor);
/// Whether the elements lie in row-major order without gaps.
bool is_contiguous(const StoredTensor& tensor);

/// Reads elements of a tensor in row-major order, from number `first` on, as many as `into` has room for.
/// `storage` has the bytes of its storage.
///
/// Failure: as FileWindow::read().
/// Cost: no copy if the tensor is contiguous, or its rows are long. Otherwise the part of the storage that
/// the tensor lies in is read as a whole, and needs memory: read such a tensor in one call.
Status read_elements(const StoredTensor& tensor, const FileWindow& storage, std::uint64_t first,
                     std::span<std::byte> into);

}  // namespace cohort::interchange
