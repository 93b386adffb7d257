#pragma once

#include "machine/sources.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cohort::machine {

/// The libtorch that a rank would load, tried by a separate program, so that this process does not load it.
struct Libtorch {
  std::string version;     ///< such as `2.13.0+cpu`
  int threads = 0;         ///< the default number of threads of one operation
  std::string capability;  ///< the chosen kernels: `AVX512`, `AVX2`, `DEFAULT`, …
  std::string folder;      ///< of the loaded library
  double matmul_ms = 0;    ///< time of a product of two matrices
  double load_ms = 0;      ///< time from exec to the first tensor
};

/// The two leading numbers of a version: (2, 13) for `2.13.0+cpu`; empty for a text that is no version.
std::optional<std::pair<int, int>> release_of(std::string_view version);

/// Parses the output of the probe: one line `key value` for each of version, threads, capability, folder,
/// matmul_ms and load_ms, in any order, each once, and no other line. The value is the rest of the line.
/// Failure: kCorrupt, with the wrong line or the missing key.
Result<Libtorch> parse_probe(std::string_view text);

/// Runs the probe.
/// Failure: a probe that is missing, crashes, hangs or prints something else, with that reason.
Fact<Libtorch> survey_libtorch(const RunProgram& run, const std::string& probe,
                               std::chrono::nanoseconds limit);

}  // namespace cohort::machine
