#pragma once

#include "base/result.h"
#include <cohort/post_steps.h>

#include <cstddef>
#include <cstdint>

namespace cohort::update {

/// Failure: kUsage; the message names `TrainerOptions::average.decay`.
Status check_average(const AverageOptions& options);

/// Whether the parameters after this update, counted from 1, join the average.
bool is_average_due(const AverageOptions& options, std::int64_t update);

/// The share of the parameters in the next average, after `num_averages` averages: 1 for the first.
double average_share(const AverageOptions& options, std::int64_t num_averages);

/// Moves the averages towards the parameters: a += share (p-a). An average equal to its parameter keeps its
/// bits, and a share of 1 gives the parameters. All machines give the same bits.
void add_to_average(const float* parameters, float* averages, std::size_t count, double share);

}  // namespace cohort::update
