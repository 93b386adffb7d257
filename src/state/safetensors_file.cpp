#include "base/units.h"
#include "state/safetensors.h"
#include "state/safetensors_header.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <new>

namespace cohort {
namespace {

constexpr std::align_val_t kMemoryAlignment{64};

Error corrupt(const std::string& reason) {
  return Error(ErrorCode::kCorrupt, reason);
}

// Fails if the file ends before `into` is full.
Status read_exactly(ReadableFile& file, std::uint64_t offset, std::span<std::byte> into) {
  COHORT_ASSIGN_OR_RETURN(const std::size_t count, file.read_at(offset, into));
  if (count != into.size()) return corrupt("it became shorter while it was read");
  return {};
}

/// The sizes of the two parts of a file.
struct Extent {
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
};

Result<Extent> measure(ReadableFile& file) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t file_bytes, file.size_bytes());
  if (file_bytes < state::kLengthBytes) {
    return corrupt(fmt::format("it has {} bytes, fewer than the {} of the header's length", file_bytes,
                               state::kLengthBytes));
  }
  std::array<std::byte, state::kLengthBytes> bytes{};
  COHORT_RETURN_IF_ERROR(read_exactly(file, 0, bytes));
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  if (length > state::kMaxHeaderBytes) {
    return corrupt(fmt::format("its header claims {} bytes; {} are allowed", length, state::kMaxHeaderBytes));
  }
  if (length > file_bytes - state::kLengthBytes) {
    return corrupt(
        fmt::format("its header claims {} bytes; {} are there", length, file_bytes - state::kLengthBytes));
  }
  return Extent{.header_bytes = length, .data_bytes = file_bytes - state::kLengthBytes - length};
}

Result<state::Header> read_header(ReadableFile& file, std::uint64_t header_bytes) {
  std::string text(header_bytes, ' ');
  COHORT_RETURN_IF_ERROR(read_exactly(file, state::kLengthBytes, std::as_writable_bytes(std::span(text))));
  return state::parse_header(text);
}

Result<DType> dtype_of(const state::HeaderEntry& entry) {
  for (const DType dtype : kAllDTypes) {
    if (state::safetensors_name(dtype) == entry.dtype) return dtype;
  }
  // Types of the format without a DType.
  static constexpr std::string_view kOthers[] = {"U16",     "U32",     "U64",     "F8_E4M3", "F8_E5M2",
                                                 "F8_E8M0", "F6_E2M3", "F6_E3M2", "F4",      "C64"};
  if (std::find(std::begin(kOthers), std::end(kOthers), entry.dtype) != std::end(kOthers)) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("tensor '{}' has type {}, which is not supported", entry.name, entry.dtype))
        .with_remedy("Convert it to F32 or BF16 with the program that wrote it.");
  }
  return corrupt(fmt::format("tensor '{}' has the unknown type '{}'", entry.name, entry.dtype));
}

// Tensors, in the order of their bytes, follow each other without gap or overlap up to the end of the file.
Status check_offsets(std::span<const state::HeaderEntry> entries, std::uint64_t data_bytes) {
  std::uint64_t end = 0;
  for (const state::HeaderEntry& entry : entries) {
    const std::uint64_t first = entry.data_offsets[0];
    const std::uint64_t last = entry.data_offsets[1];
    if (last < first) return corrupt(fmt::format("tensor '{}' ends before it begins", entry.name));
    if (last > data_bytes) {
      return corrupt(fmt::format("tensor '{}' ends at byte {} of {}", entry.name, last, data_bytes));
    }
    if (first < end) return corrupt(fmt::format("tensor '{}' overlaps the one before it", entry.name));
    if (first > end) return corrupt(fmt::format("before tensor '{}' there is a gap", entry.name));
    end = last;
  }
  if (end != data_bytes) {
    return corrupt(fmt::format("{} bytes after the last tensor belong to none", data_bytes - end));
  }
  return {};
}

Result<TensorView> view_of(const state::HeaderEntry& entry, std::span<const std::byte> data) {
  COHORT_ASSIGN_OR_RETURN(const DType dtype, dtype_of(entry));
  const auto needed = state::bytes_of(dtype, entry.shape);
  const std::uint64_t found = entry.data_offsets[1] - entry.data_offsets[0];
  if (!needed) return corrupt(fmt::format("tensor '{}' has an impossible shape", entry.name));
  if (*needed != found) {
    return corrupt(
        fmt::format("tensor '{}' has {} bytes where its shape needs {}", entry.name, found, *needed));
  }
  return TensorView{.name = entry.name,
                    .dtype = dtype,
                    .shape = entry.shape,
                    .bytes = data.subspan(entry.data_offsets[0], found)};
}

}  // namespace

void SafetensorsFile::Release::operator()(std::byte* data) const {
  ::operator delete(data, kMemoryAlignment);
}

SafetensorsFile::Data SafetensorsFile::allocate(std::uint64_t size_bytes) {
  return Data(static_cast<std::byte*>(
      ::operator new(std::max<std::uint64_t>(size_bytes, 1), kMemoryAlignment, std::nothrow)));
}

Result<SafetensorsFile> SafetensorsFile::open(FileSystem& fs, const std::string& path) {
  const auto read = [&]() -> Result<SafetensorsFile> {
    COHORT_ASSIGN_OR_RETURN(const auto file, fs.open_read(path));
    COHORT_ASSIGN_OR_RETURN(const Extent extent, measure(*file));
    COHORT_ASSIGN_OR_RETURN(state::Header header, read_header(*file, extent.header_bytes));
    std::stable_sort(header.entries.begin(), header.entries.end(),
                     [](const auto& a, const auto& b) { return a.data_offsets < b.data_offsets; });
    COHORT_RETURN_IF_ERROR(check_offsets(header.entries, extent.data_bytes));

    SafetensorsFile result;
    result.metadata_ = std::move(header.metadata);
    result.data_ = allocate(extent.data_bytes);
    if (result.data_ == nullptr) {
      return Error(ErrorCode::kExhausted,
                   fmt::format("no memory for its {}", format_bytes(extent.data_bytes)));
    }
    const std::span<std::byte> data(result.data_.get(), extent.data_bytes);
    for (const state::HeaderEntry& entry : header.entries) {
      COHORT_ASSIGN_OR_RETURN(TensorView view, view_of(entry, data));
      result.index_.emplace(view.name, result.tensors_.size());
      result.tensors_.push_back(std::move(view));
    }
    COHORT_RETURN_IF_ERROR(read_exactly(*file, state::kLengthBytes + extent.header_bytes, data));
    return result;
  };
  return read().within(fmt::format("cannot read safetensors file '{}'", path));
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace cohort
