#pragma once

#include "layout/program.h"
#include "observe/screen.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cohort::observe {

/// The memory of one rank for one purpose.
struct MemoryPart {
  std::string what{};
  std::uint64_t bytes = 0;
};

std::uint64_t total_bytes(const std::vector<MemoryPart>& parts);
/// As JSON: `[{"what": …, "bytes": …}, …]`.
nlohmann::ordered_json memory_json(const std::vector<MemoryPart>& parts);

/// Gradients that are reduced together.
struct PlanBucket {
  int tensors = 0;
  std::uint64_t bytes = 0;
  std::string first{};  ///< the name of its first parameter
  std::string last{};
};

/// The output of `cohort train --dry-run`: everything that is decided before the first step.
struct PlanReport {
  std::string data{};   ///< a description
  std::string model{};  ///< a description
  std::uint64_t parameters = 0;
  std::string update{};  ///< a description
  std::uint64_t batch = 0;
  std::uint64_t epochs = 0;
  std::uint64_t steps_per_epoch = 0;
  std::uint64_t steps = 0;
  std::vector<std::vector<int>> slots_of_rank{};  ///< micro-batches, indexed by rank
  std::vector<PlanBucket> buckets{};
  std::vector<Program> programs{};   ///< of the first step, indexed by rank
  std::uint64_t bytes_per_step = 0;  ///< sent by each rank
  std::vector<MemoryPart> memory{};  ///< of each rank
  std::string run_directory{};
};

/// The plan as tables.
std::string plan_text(const PlanReport& plan, const Screen& screen);
/// The plan as one object, for `--json`.
std::string plan_json(const PlanReport& plan);

}  // namespace cohort::observe
