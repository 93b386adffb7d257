#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cohort::observe {

/// What one step was like, as rank 0 saw it.
struct StepRecord {
  std::int64_t step = 0;   ///< which of the run it was: 1, 2, …
  std::int64_t epoch = 0;  ///< which epoch it belongs to: 1, 2, …
  double loss = 0;         ///< mean over the samples of all ranks
  double learning_rate = 0;
  std::int64_t samples = 0;          ///< of all ranks
  double seconds = 0;                ///< the whole step
  double communication_seconds = 0;  ///< of these, waiting for other ranks
  double stall_seconds = 0;          ///< of these, waiting for data
  std::optional<double> gradient_norm{};
  bool skipped = false;  ///< the gradients were not finite and nothing was updated
};

/// Names and values of what was measured on the test data, in the order they are shown.
using Metrics = std::vector<std::pair<std::string, double>>;

/// What an epoch ended with.
struct EpochRecord {
  std::int64_t epoch = 0;  ///< 1, 2, …
  double loss = 0;         ///< mean over its steps
  Metrics metrics{};       ///< empty where nothing was evaluated
};

/// The record as one line of JSON, with its line end. A loss that is no number is null.
std::string json_line(const StepRecord& record);

}  // namespace cohort::observe
