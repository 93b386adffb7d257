#include "base/check.h"
#include "state/safetensors.h"
#include "state/safetensors_header.h"
#include "storage/whole_file.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace cohort {
namespace {

constexpr std::size_t kDataAlignment = 64;

Result<std::string> quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    return Error(ErrorCode::kUsage, "a name or a text of the metadata is not UTF-8");
  }
}

Status check_tensors(std::span<const state::TensorHead> tensors) {
  std::set<std::string_view> names;
  for (const state::TensorHead& tensor : tensors) {
    COHORT_CHECK(state::bytes_of(tensor.dtype, tensor.shape).has_value(), "shape of tensor '{}'",
                 tensor.name);
    if (tensor.name == state::kMetadataName) {
      return Error(ErrorCode::kUsage, fmt::format("the format keeps the name '{}' for itself", tensor.name));
    }
    if (!names.insert(tensor.name).second) {
      return Error(ErrorCode::kUsage, fmt::format("there are two tensors '{}'", tensor.name));
    }
  }
  return {};
}

Result<std::string> metadata_text(const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> members;
  for (const auto& entry : metadata) {
    COHORT_ASSIGN_OR_RETURN(const std::string key, quoted(entry.first));
    COHORT_ASSIGN_OR_RETURN(const std::string value, quoted(entry.second));
    members.push_back(fmt::format("{}:{}", key, value));
  }
  return fmt::format("\"{}\":{{{}}}", state::kMetadataName, fmt::join(members, ","));
}

Result<std::string> header_text(std::span<const state::TensorHead> tensors,
                                const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) {
    COHORT_ASSIGN_OR_RETURN(std::string text, metadata_text(metadata));
    members.push_back(std::move(text));
  }
  std::uint64_t offset = 0;
  for (const state::TensorHead& tensor : tensors) {
    COHORT_ASSIGN_OR_RETURN(const std::string name, quoted(tensor.name));
    const std::uint64_t end = offset + *state::bytes_of(tensor.dtype, tensor.shape);
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name,
                                  state::safetensors_name(tensor.dtype), fmt::join(tensor.shape, ","), offset,
                                  end));
    offset = end;
  }
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

// The length and the header, padded so that the data begin at a multiple of the alignment.
Result<std::string> framed(std::string header) {
  const std::size_t length = header.size() + state::kLengthBytes;
  header.append((kDataAlignment - length % kDataAlignment) % kDataAlignment, ' ');
  if (header.size() > state::kMaxHeaderBytes) {
    return Error(ErrorCode::kUsage,
                 fmt::format("names and metadata need a header of {} bytes; {} are allowed", header.size(),
                             state::kMaxHeaderBytes));
  }
  std::string frame;
  for (std::size_t i = 0; i < state::kLengthBytes; ++i) {
    frame += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
  }
  return frame + header;
}

}  // namespace

Result<std::string> state::make_header(std::span<const TensorView> tensors,
                                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorHead> heads;
  for (const TensorView& tensor : tensors) {
    const auto needed = bytes_of(tensor.dtype, tensor.shape);
    COHORT_CHECK(needed == tensor.bytes.size(), "tensor '{}' has {} bytes", tensor.name, tensor.bytes.size());
    heads.push_back({.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape});
  }
  return make_header(std::span<const TensorHead>(heads), metadata);
}

Result<std::string> state::make_header(std::span<const TensorHead> tensors,
                                       const std::map<std::string, std::string>& metadata) {
  COHORT_RETURN_IF_ERROR(check_tensors(tensors));
  COHORT_ASSIGN_OR_RETURN(std::string header, header_text(tensors, metadata));
  return framed(std::move(header));
}

Status write_safetensors(FileSystem& fs, const std::string& path, std::span<const TensorView> tensors,
                         const std::map<std::string, std::string>& metadata) {
  const auto write = [&]() -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::string header, state::make_header(tensors, metadata));
    return write_file_atomically(fs, path, [&](WritableFile& file) -> Status {
      COHORT_RETURN_IF_ERROR(file.append(std::as_bytes(std::span(header))));
      for (const TensorView& tensor : tensors) {
        if (!tensor.bytes.empty()) COHORT_RETURN_IF_ERROR(file.append(tensor.bytes));
      }
      return {};
    });
  };
  return write().within(fmt::format("cannot write safetensors file '{}'", path));
}

}  // namespace cohort
