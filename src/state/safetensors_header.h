#pragma once

#include "base/result.h"

#include <cohort/dtype.h>

#include <cstdint>
#include <map>
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

}  // namespace cohort::state
