#include "interchange/stored_elements.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

namespace cohort::interchange {
namespace {

/// Shorter rows are not read one by one.
constexpr std::uint64_t kLongRowBytes = 4096;

// The elements of a tensor as rows, whose elements lie side by side in the storage.
class Rows {
 public:
  explicit Rows(const StoredTensor& tensor) : tensor_(tensor), num_outer_(tensor.shape.size()) {
    while (num_outer_ > 0 && continues_row(num_outer_ - 1)) length_ *= tensor.shape[--num_outer_];
  }

  std::uint64_t length() const { return length_; }
  /// The place of the first element of a row in the storage.
  std::uint64_t begin(std::uint64_t row) const {
    std::uint64_t place = tensor_.offset;
    for (std::size_t d = num_outer_; d-- > 0;) {
      place += row % tensor_.shape[d] * tensor_.strides[d];
      row /= tensor_.shape[d];
    }
    return place;
  }
  /// Calls `use(place in the storage, number of elements)` for elements `first` … `first + count - 1`.
  template <class Use>
  Status for_each(std::uint64_t first, std::uint64_t count, const Use& use) const {
    for (const std::uint64_t end = first + count; first < end;) {
      const std::uint64_t in_row = first % length_;
      const std::uint64_t part = std::min(length_ - in_row, end - first);
      COHORT_RETURN_IF_ERROR(use(begin(first / length_) + in_row, part));
      first += part;
    }
    return {};
  }

 private:
  bool continues_row(std::size_t dim) const {
    return tensor_.shape[dim] == 1 || tensor_.strides[dim] == length_;
  }

  const StoredTensor& tensor_;
  std::size_t num_outer_;  // dimensions that are not part of a row
  std::uint64_t length_ = 1;
};

// One more than the last element that the tensor takes of its storage.
std::uint64_t end_in_storage(const StoredTensor& tensor) {
  std::uint64_t end = tensor.offset + 1;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) end += (tensor.shape[d] - 1) * tensor.strides[d];
  return end;
}

Status read_rows(const Rows& rows, std::size_t size, const FileWindow& storage, std::uint64_t first,
                 std::span<std::byte> into) {
  return rows.for_each(first, into.size() / size, [&](std::uint64_t place, std::uint64_t count) {
    const auto part = into.first(count * size);
    into = into.subspan(count * size);
    return storage.read(place * size, part);
  });
}

Status gather_rows(const StoredTensor& tensor, const Rows& rows, const FileWindow& storage,
                   std::uint64_t first, std::span<std::byte> into) {
  const std::size_t size = size_bytes(tensor.dtype);
  // The extent of the tensor was compared with its storage, which is in the file: no other check is needed
  // before so much memory is taken.
  std::vector<std::byte> region((end_in_storage(tensor) - tensor.offset) * size);
  COHORT_RETURN_IF_ERROR(storage.read(tensor.offset * size, region));
  return rows.for_each(first, into.size() / size, [&](std::uint64_t place, std::uint64_t count) -> Status {
    std::memcpy(into.data(), region.data() + (place - tensor.offset) * size, count * size);
    into = into.subspan(count * size);
    return {};
  });
}

}  // namespace

std::uint64_t num_elements_of(const StoredTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::size_t length : tensor.shape) count *= length;
  return count;
}

bool is_contiguous(const StoredTensor& tensor) {
  const std::uint64_t count = num_elements_of(tensor);
  return count == 0 || Rows(tensor).length() == count;
}

Status read_elements(const StoredTensor& tensor, const FileWindow& storage, std::uint64_t first,
                     std::span<std::byte> into) {
  const std::size_t size = size_bytes(tensor.dtype);
  COHORT_CHECK_EQ(into.size() % size, 0u);
  COHORT_CHECK_LE(first + into.size() / size, num_elements_of(tensor));
  if (into.empty()) return {};
  const Rows rows(tensor);
  const bool has_long_rows = rows.length() * size >= kLongRowBytes || is_contiguous(tensor);
  return has_long_rows ? read_rows(rows, size, storage, first, into)
                       : gather_rows(tensor, rows, storage, first, into);
}

}  // namespace cohort::interchange
