#pragma once

#include "observe/memory_part.h"
#include "observe/screen.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cohort::observe {

/// Gradients that are reduced together.
struct PlanBucket {
  int tensors = 0;
  std::uint64_t bytes = 0;
  std::string first{};  ///< the name of its first parameter
  std::string last{};
};

/// What `cohort train --dry-run` tells: everything that is decided before the first step.
struct PlanReport {
  std::string data{};   ///< in words
  std::string model{};  ///< in words
  std::uint64_t parameters = 0;
  std::string update{};  ///< in words
  std::uint64_t batch = 0;
  std::uint64_t epochs = 0;
  std::uint64_t steps_per_epoch = 0;
  std::uint64_t steps = 0;
  std::vector<std::vector<int>> slots_of_rank{};  ///< by rank
  std::vector<PlanBucket> buckets{};
  std::vector<std::string> program{};  ///< the actions of a step, in order
  std::uint64_t bytes_per_step = 0;    ///< that each rank exchanges
  std::vector<MemoryPart> memory{};    ///< of each rank
  std::string run_directory{};
};

/// Tables, for people.
std::string plan_text(const PlanReport& plan, const Screen& screen);
/// One object, for `--json`.
std::string plan_json(const PlanReport& plan);

}  // namespace cohort::observe
