#pragma once

#include "machine/fact.h"
#include "machine/sources.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cohort::machine {

/// The libtorch a rank would load, tried out by a program of its own, so that this process stays free of it.
struct Libtorch {
  std::string version;     ///< such as `2.13.0+cpu`
  int threads = 0;         ///< of one operation, by default
  std::string capability;  ///< the kernels chosen: `AVX512`, `AVX2`, `DEFAULT`, …
  double matmul_ms = 0;    ///< a product of two matrices
  double load_ms = 0;      ///< from exec to the first tensor
};

/// The two leading numbers of a version, or nothing: (2, 13) of `2.13.0+cpu`.
std::optional<std::pair<int, int>> release_of(std::string_view version);

/// What the probe prints: one line `key value` for each of version, threads, capability, matmul_ms and
/// load_ms, in any order, each once, and nothing else. The value is the rest of the line.
/// Failure: kCorrupt, with the line that is wrong or the key that is missing.
Result<Libtorch> parse_probe(std::string_view text);

/// Runs the probe. A missing, crashing, hanging or babbling probe is a failure with that reason.
Fact<Libtorch> survey_libtorch(const RunProgram& run, const std::string& probe,
                               std::chrono::nanoseconds limit);

}  // namespace cohort::machine
