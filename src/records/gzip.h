#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace cohort::records {

/// Whether these bytes begin as a gzip file does.
bool is_gzip(std::string_view bytes);

/// What a gzip file of one or more members holds.
///
/// Failure: kCorrupt, naming `path` and the byte, if it is damaged, ends early or has something after its
/// end; kUsage if there is more than `max_bytes` in it. Cost: memory grows with what was really unpacked,
/// whatever the file claims.
Result<std::string> gunzip(std::string_view bytes, const std::string& path, std::uint64_t max_bytes);

}  // namespace cohort::records
