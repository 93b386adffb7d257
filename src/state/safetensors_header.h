#pragma once

#include "base/result.h"

#include <cohort/dtype.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::state {

/// No header may be longer, so that a file cannot ask for all memory.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr std::string_view kMetadataName = "__metadata__";

/// `F32`, `BOOL`, … as the format spells them.
std::string_view safetensors_name(DType dtype);

/// What a header says of one tensor.
struct HeaderEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> data_offsets;
};

struct Header {
  std::vector<HeaderEntry> entries;  ///< as they stand there
  std::map<std::string, std::string> metadata;
};

/// Checks the form alone: JSON, the three members of each tensor and their types, double names.
///
/// Failure: kCorrupt with the reason.
Result<Header> parse_header(std::string_view text);

}  // namespace cohort::state
