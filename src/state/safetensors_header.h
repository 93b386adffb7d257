#pragma once

#include "base/result.h"
#include "state/tensor_view.h"

#include <cohort/dtype.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::state {

/// The width of the length of the header, with which a file begins.
inline constexpr std::size_t kLengthBytes = 8;
/// The longest header that is read: a corrupt length must not exhaust the memory.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr std::string_view kMetadataName = "__metadata__";

/// The name of a type in the format: `F32`, `BOOL`, …
std::string_view safetensors_name(DType dtype);

/// The entry of one tensor in a header.
struct HeaderEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> data_offsets;
};

struct Header {
  std::vector<HeaderEntry> entries;  ///< in the order of the file
  std::map<std::string, std::string> metadata;
};

/// Checks the form of a header: JSON, the three members of each tensor and their types, duplicate names.
///
/// Failure: kCorrupt with the reason.
Result<Header> parse_header(std::string_view text);

/// A tensor as a header describes it.
struct TensorHead {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
};

/// The bytes of a file before those of its tensors, which follow in this order without gaps: the length of
/// the header and the header, padded to a multiple of 64 bytes.
///
/// Failure: kUsage for a name that occurs twice or is not UTF-8, and for a header that is too long; an
/// impossible shape is a bug.
Result<std::string> make_header(std::span<const TensorHead> tensors,
                                const std::map<std::string, std::string>& metadata);
/// The same; a view whose bytes do not fit its shape is a bug.
Result<std::string> make_header(std::span<const TensorView> tensors,
                                const std::map<std::string, std::string>& metadata);

}  // namespace cohort::state
