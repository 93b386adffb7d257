#include "interchange/write_torch_file.h"

#include "base/byte_stream.h"
#include "interchange/pickle/pickler.h"

namespace cohort::interchange {
namespace {

constexpr std::string_view kArchive = "archive/";

std::vector<std::uint64_t> row_major_strides(const Shape& shape) {
  std::vector<std::uint64_t> strides(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<std::size_t>(shape[d], 1);
  }
  return strides;
}

Status add_text(ZipWriter& zip, std::string_view name, std::string_view text) {
  return zip.add(std::string(kArchive) + std::string(name), std::as_bytes(std::span(text)));
}

}  // namespace

StoredTensor OutgoingTensors::add(DType dtype, const Shape& shape, WriteContent content) {
  std::uint64_t count = 1;
  for (const std::size_t length : shape) count *= length;
  const std::size_t index = storages_.size();
  storages_.push_back({.key = std::to_string(index), .dtype = dtype, .count = count});
  contents_.push_back(std::move(content));
  return {.dtype = dtype, .shape = shape, .strides = row_major_strides(shape), .storage = index, .offset = 0};
}

StoredTensor OutgoingTensors::add(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  return add(dtype, shape,
             [bytes](WritableFile& file) { return bytes.empty() ? Status() : file.append(bytes); });
}

StoredTensor OutgoingTensors::add_step(std::int64_t count) {
  const auto as_float = static_cast<float>(count);
  const bool is_exact = static_cast<std::int64_t>(as_float) == count;
  ByteWriter bytes;
  is_exact ? bytes.number(as_float) : bytes.number(static_cast<double>(count));
  return add(is_exact ? DType::kF32 : DType::kF64, {},
             [bytes = bytes.take()](WritableFile& file) { return file.append(bytes); });
}

Status write_torch_file(FileSystem& fs, const std::string& path, const Value& root,
                        const OutgoingTensors& tensors) {
  COHORT_ASSIGN_OR_RETURN(const std::string pickle, pickled(root, tensors.storages_));
  return write_file_atomically(fs, path, [&](WritableFile& file) -> Status {
    ZipWriter zip(file);
    COHORT_RETURN_IF_ERROR(add_text(zip, "data.pkl", pickle));
    COHORT_RETURN_IF_ERROR(add_text(zip, ".format_version", "1"));
    COHORT_RETURN_IF_ERROR(add_text(zip, ".storage_alignment", "64"));
    COHORT_RETURN_IF_ERROR(add_text(zip, "byteorder", "little"));
    for (std::size_t i = 0; i < tensors.storages_.size(); ++i) {
      const StorageKey& storage = tensors.storages_[i];
      COHORT_RETURN_IF_ERROR(zip.add(fmt::format("{}data/{}", kArchive, storage.key),
                                     storage.count * storage.element_bytes(), tensors.contents_[i]));
    }
    COHORT_RETURN_IF_ERROR(add_text(zip, "version", "3\n"));
    return zip.finish();
  });
}

}  // namespace cohort::interchange
